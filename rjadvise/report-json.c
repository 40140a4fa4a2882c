// SPDX-License-Identifier: GPL-2.0-or-later
/* The report as JSON: what is not known is null. */
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>

#include "report.h"

static void add_text(struct json_object *o, const char *key, const char *text)
{
	json_object_object_add(o, key, text ? json_object_new_string(text) : NULL);
}

static void add_bool(struct json_object *o, const char *key, bool value)
{
	json_object_object_add(o, key, json_object_new_boolean(value));
}

static void add_number(struct json_object *o, const char *key, double x)
{
	char text[VALUE_TEXT];

	if (isnan(x) || isinf(x)) {
		json_object_object_add(o, key, NULL);
		return;
	}
	snprintf(text, sizeof(text), "%.6g", x);
	json_object_object_add(o, key, json_object_new_double_s(x, text));
}

static struct json_object *load_json(const struct load *l, const struct machine *m)
{
	struct json_object *o = json_object_new_object();

	add_number(o, "seconds", l->seconds);
	add_text(o, "journal", place_name(l->place));
	add_number(o, "journal_bytes", l->journal_bytes);
	add_text(o, "data", mode_name(l->mode));
	add_bool(o, "delalloc", l->delalloc);
	add_number(o, "commit_interval_s", l->commit_s);
	add_number(o, "fsyncs_per_s", l->fsyncs_s);
	add_number(o, "fsyncing_threads", l->sync_threads);
	add_number(o, "syncs_per_s_at_least", model_syncs_s(l, m));
	add_number(o, "commits_per_s", l->commits_s);
	add_number(o, "requested_commits_per_s", l->requested_s);
	add_number(o, "commit_us", l->commit_us);
	add_number(o, "put_us", l->put_us);
	add_number(o, "commit_blocks", l->commit_blocks);
	add_number(o, "commit_blocks_p99_at_most", l->commit_p99_blocks);
	add_number(o, "log_bytes_per_s", l->log_bytes_s);
	add_number(o, "written_bytes_per_s", l->written_bytes_s);
	add_number(o, "metadata_share_at_least", l->metadata_share);
	add_number(o, "data_bytes_per_s_at_most", l->data_bytes_s);
	add_number(o, "new_bytes_per_s", l->new_bytes_s);
	add_number(o, "overwritten_bytes_per_s_at_most", l->overwritten_bytes_s);
	add_number(o, "cached_bytes_per_s", l->cached_bytes_s);
	add_number(o, "flushes_per_s", l->flushes_s);
	add_number(o, "flush_us", l->flush_us);
	return o;
}

static struct json_object *device_json(const struct device_cost *d)
{
	struct json_object *o;

	if (isnan(d->write_us))
		return NULL;
	o = json_object_new_object();
	add_number(o, "write_us", d->write_us);
	add_number(o, "flush_us", d->flush_us);
	add_number(o, "bytes_per_s", d->byte_us > 0 ? 1e6 / d->byte_us : NAN);
	add_bool(o, "fua", d->fua);
	return o;
}

static struct json_object *dirs_json(const struct report *r)
{
	struct json_object *all = json_object_new_array(), *o;
	int i;

	for (i = 0; i < r->dir_count; i++) {
		o = json_object_new_object();
		add_text(o, "path", r->dirs[i].path);
		add_number(o, "files", (double)r->dirs[i].files);
		add_number(o, "events", (double)r->dirs[i].writes);
		add_number(o, "new_bytes", (double)r->dirs[i].new_bytes);
		add_number(o, "overwritten_bytes_at_most", r->dirs[i].overwritten_bytes);
		add_number(o, "overwritten_share", r->dirs[i].in_place_share);
		add_bool(o, "propose_journal_data", r->dirs[i].flagged);
		json_object_array_add(all, o);
	}
	return all;
}

static struct json_object *files_json(const struct report *r)
{
	struct json_object *o;

	if (r->files_why[0])
		return NULL;
	o = json_object_new_object();
	add_number(o, "files", (double)r->files);
	add_number(o, "events", (double)r->events);
	add_number(o, "watched_share", r->watched_share);
	add_number(o, "queue_overflows", (double)r->overflows);
	add_number(o, "untracked_events", (double)r->untracked);
	add_number(o, "gone_before_look", (double)r->gone);
	add_number(o, "there_before", (double)r->older);
	json_object_object_add(o, "directories", dirs_json(r));
	return o;
}

static struct json_object *choices_json(const struct report *r)
{
	struct json_object *all = json_object_new_array(), *o;
	int i;

	for (i = 0; i < r->choices; i++) {
		const struct prediction *p = &r->predictions[i];

		o = json_object_new_object();
		add_text(o, "journal", place_name(p->choice.place));
		add_text(o, "data", mode_name(p->choice.mode));
		add_bool(o, "in_use", p->in_use);
		add_number(o, "syncs_per_s", p->syncs_s);
		add_number(o, "time_to_now", p->wall);
		add_number(o, "commit_us", p->commit_us);
		add_number(o, "log_bytes_per_day", p->log_bytes_day);
		add_text(o, "lacks", p->lacks);
		add_text(o, "a_crash_loses", p->loses);
		json_object_array_add(all, o);
	}
	return all;
}

static struct json_object *hints_json(const struct report *r)
{
	struct json_object *all = json_object_new_array(), *o;
	int i;

	for (i = 0; i < r->hint_count; i++) {
		o = json_object_new_object();
		add_text(o, "setting", r->hints[i].setting);
		add_text(o, "now", r->hints[i].now);
		add_text(o, "advice", r->hints[i].advice);
		add_text(o, "because", r->hints[i].because);
		json_object_array_add(all, o);
	}
	return all;
}

void report_print_json(const struct report *r, const char *applied)
{
	struct json_object *top = json_object_new_object(), *cost = json_object_new_object();

	add_text(top, "device", r->volume->device);
	add_text(top, "directory", r->volume->dir);
	json_object_object_add(top, "load", load_json(&r->load, &r->machine));
	if (r->trace_why[0])
		add_text(top, "fsyncs_unknown", r->trace_why);
	json_object_object_add(top, "disk", device_json(&r->machine.disk));
	add_bool(top, "disk_rotates", r->volume->rotates);
	json_object_object_add(top, "second_disk", device_json(&r->machine.second));
	json_object_object_add(top, "store", device_json(&r->machine.store));
	json_object_object_add(top, "files", files_json(r));
	if (r->files_why[0])
		add_text(top, "files_unknown", r->files_why);
	json_object_object_add(top, "choices", choices_json(r));
	json_object_object_add(top, "settings", hints_json(r));
	add_number(cost, "cpu_s", r->cpu_s);
	add_number(cost, "cpu_share", r->cpu_share);
	add_number(cost, "memory_bytes", r->memory_bytes);
	json_object_object_add(top, "observation_cost", cost);
	if (applied)
		add_text(top, "applied", applied);
	puts(json_object_to_json_string_ext(
		top, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(top);
}
