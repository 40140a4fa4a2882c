// SPDX-License-Identifier: GPL-2.0-or-later
/* The report as text. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "report.h"

#define BYTES(x)  bytes_text((x), (char[VALUE_TEXT]){0})
#define NUMBER(x) number_text((x), (char[VALUE_TEXT]){0})
#define RATE(x)	  rate_text((x), (char[VALUE_TEXT]){0})
#define US(x)	  us_text((x), (char[VALUE_TEXT]){0})

static const char *rate_text(double x, char out[VALUE_TEXT])
{
	char text[VALUE_TEXT];

	if (isnan(x))
		return "unknown";
	snprintf(out, VALUE_TEXT, "%s/s", bytes_text(x, text));
	return out;
}

static void print_head(const struct report *r)
{
	const struct volume *v = r->volume;
	const struct load *l = &r->load;

	printf("%s on %s, watched for %.0f s\n", v->device, v->dir, l->seconds);
	printf("  journal:          %s, %s; data=%s, %s, commit=%.0f\n", place_name(l->place),
		l->journal_bytes > 0 ? BYTES(l->journal_bytes) : "length unknown",
		v->mount.has_mode ? mode_name(l->mode) : "unknown",
		l->delalloc ? "delalloc" : "nodelalloc", l->commit_s);
}

static void print_load(const struct report *r)
{
	const struct load *l = &r->load;

	if (isnan(l->fsyncs_s))
		printf(
			"  fsyncs:           unknown: %s; per second at least %s, by what the journal and the disk were asked for\n",
			r->trace_why, NUMBER(model_syncs_s(l, &r->machine)));
	else
		printf("  fsyncs:           %s/s; threads that call it: %s\n",
			NUMBER(l->fsyncs_s), NUMBER(l->sync_threads));
	printf("  commits:          %s/s, %s/s of them asked for; %s each\n", NUMBER(l->commits_s),
		NUMBER(l->requested_s), US(l->commit_us));
	printf("  size of a commit: %s blocks in the mean; 99 of 100 at most %s\n",
		NUMBER(l->commit_blocks), NUMBER(l->commit_p99_blocks));
	printf("  to the log:       %s\n", RATE(l->log_bytes_s));
	printf("  to the volume:    %s%s\n", RATE(l->written_bytes_s),
		l->place == PLACE_INTERNAL ? ", the log with it" : "");
	if (isnan(l->metadata_share))
		printf("  metadata share:   unknown\n");
	else
		printf("  metadata share:   at least %.0f %% of what was written (the log)\n",
			l->metadata_share * 100);
	printf("  file data:        %s at most; new: %s, overwritten: %s at most\n",
		RATE(l->data_bytes_s), RATE(l->new_bytes_s), RATE(l->overwritten_bytes_s));
	printf(
		"  written to cache: %s by programs, by a sample of their writes\n",
		RATE(l->cached_bytes_s));
	printf("  flushes of disk:  %s/s, %s each%s\n", NUMBER(l->flushes_s), US(l->flush_us),
		r->volume->whole_disk ? " (of the whole disk, other volumes with it)" : "");
	printf("  atime:            %s; how many writes it causes is unknown\n",
		r->volume->noatime ? "noatime" : r->volume->relatime ? "relatime" : "strictatime");
}

static void print_device(const char *name, const struct device_cost *d, const char *from)
{
	if (isnan(d->write_us)) {
		printf("  %-17s unknown (%s)\n", name, from);
		return;
	}
	printf("  %-17s 4 KiB in %s, flush %s, in sequence %s/s%s\n", name, US(d->write_us),
		US(d->flush_us), d->byte_us > 0 ? BYTES(1e6 / d->byte_us) : "unknown", from);
}

static void print_machine(const struct report *r)
{
	const struct machine *m = &r->machine;

	if (r->load.place == PLACE_REMOTE)
		printf("  rjournald's puts: %s each, by its own count\n", US(r->load.put_us));
	print_device("volume's disk:", &m->disk,
		isnan(m->disk.write_us) ? "--probe measures it" : r->disk_from);
	print_device("second disk:", &m->second,
		isnan(m->second.write_us) ? "--second=DIR measures one" : "");
	if (isnan(m->store.write_us))
		printf("  store:            unknown (--store=URL measures one)\n");
	else
		printf("  store:            a put of 4 KiB in %s, long ones %s/s (%s)\n",
			US(m->store.write_us),
			m->store.byte_us > 0 ? BYTES(1e6 / m->store.byte_us) : "unknown", r->store);
}

static void print_dirs(const struct report *r)
{
	int i;

	if (r->files_why[0]) {
		printf("\nFiles written to: unknown: %s\n", r->files_why);
		return;
	}
	printf("\nDirectories whose files were written to: %" PRIu64 " files, %" PRIu64 " events\n",
		r->files, r->events);
	if (r->watched_share < 1)
		printf(
			"  (watched for %.0f %% of the time, so that it costs the programs little: new bytes are scaled up)\n",
			r->watched_share * 100);
	if (r->overflows)
		printf(
			"  (the kernel's queue was full %" PRIu64 " times: files are missing)\n", r->overflows);
	if (r->untracked)
		printf(
			"  (%" PRIu64 " events were of more files than are remembered)\n", r->untracked);
	if (r->gone)
		printf("  (%" PRIu64 " files were removed before they were looked at)\n", r->gone);
	if (r->older)
		printf(
			"  (%" PRIu64 " files were there before: what the first write to each added is not in \"new\")\n",
			r->older);
	if (r->dir_count)
		printf(
			"  %8s %10s %12s %8s  %s\n",
			"files", "new", "overwritten", "share", "directory");
	for (i = 0; i < r->dir_count; i++) {
		const struct dir_row *d = &r->dirs[i];

		printf("  %8" PRIu64 " %10s %12s %6.0f %%  %s%s\n", d->files,
			BYTES((double)d->new_bytes), BYTES(d->overwritten_bytes),
			d->in_place_share * 100, d->path, d->flagged ? "  (+j)" : "");
	}
	if (r->dir_count)
		printf(
			"  (overwritten: at most; shared out by how often a file was written to and did not grow)\n");
}

static void print_choices(const struct report *r)
{
	int i;

	printf(
		"\nChoices, best first; of those within %.0f %% of each other the one that loses least\n",
		MODEL_SAME * 100);
	printf("  %-12s %-24s %10s %10s %12s\n", "journal", "data",
		isnan(r->load.fsyncs_s) ? "syncs/s" : "fsyncs/s", "a commit", "log a day");
	for (i = 0; i < r->choices; i++) {
		const struct prediction *p = &r->predictions[i];

		printf("%c %-12s %-24s ", p->in_use ? '*' : ' ', place_name(p->choice.place),
			mode_name(p->choice.mode));
		if (p->lacks)
			printf("not predicted without %s\n", p->lacks);
		else
			printf("%10s %10s %12s\n", NUMBER(p->syncs_s), US(p->commit_us),
				BYTES(p->log_bytes_day));
	}
	printf("  (* in use: what was observed. How the others are computed: doc/advise.md)\n");
	if (r->volume->rotates)
		printf(
			"  (the kernel says that the disk rotates: what a journal elsewhere saves of its seeks is not in the model)\n");
	printf("\nWhat a crash loses\n");
	for (i = MODE_ORDERED; i <= MODE_FLAGGED; i++)
		printf("  %s: %s\n", mode_name((enum data_mode)i),
			model_loses((struct choice){PLACE_INTERNAL, (enum data_mode)i}));
	printf(
		"  (new data for which delayed allocation waits reach a commit after half a minute at most, unless fsync asks for them)\n");
	printf(
		"  With a remote journal these hold also when this host is lost, and its disk is not.\n");
}

static void print_hints(const struct report *r)
{
	int i;

	printf("\nSettings\n");
	for (i = 0; i < r->hint_count; i++)
		printf("  %-21s %-12s %s\n      %s\n", r->hints[i].setting, r->hints[i].now,
			r->hints[i].advice, r->hints[i].because);
}

void report_print_text(const struct report *r)
{
	print_head(r);
	print_load(r);
	print_machine(r);
	print_dirs(r);
	print_choices(r);
	print_hints(r);
	printf(
		"\nThis observation took %.2f s of a processor (%.2f %%) and %s of memory; what the kernel's events cost the\n"
	       "programs that write is not in that (bench/advise measures it)\n",
		r->cpu_s, r->cpu_share * 100, BYTES(r->memory_bytes));
}
