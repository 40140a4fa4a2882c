// SPDX-License-Identifier: GPL-2.0-or-later
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Directories are proposed for +j until they have so much of what was overwritten, each with
 * at least a part of it: past that, the whole volume is what is meant. */
#define FLAGGED_ENOUGH 0.8
#define FLAGGED_LEAST  0.1
#define FLAGGED_MOST   5

const char *bytes_text(double x, char out[VALUE_TEXT])
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
	unsigned i = 0;

	if (isnan(x))
		return "unknown";
	for (; x >= 999.5 && i < 4; i++)
		x /= 1000;
	snprintf(out, VALUE_TEXT, i && x < 9.95 ? "%.1f %s" : "%.0f %s", x, units[i]);
	return out;
}

const char *number_text(double x, char out[VALUE_TEXT])
{
	if (isnan(x))
		return "unknown";
	snprintf(out, VALUE_TEXT, "%.*f",
		x == floor(x) || x >= 99.95 ? 0
		: x < 9.995		    ? 2
					    : 1,
		x);
	return out;
}

const char *us_text(double x, char out[VALUE_TEXT])
{
	if (isnan(x))
		return "unknown";
	if (x < 999.5)
		snprintf(out, VALUE_TEXT, "%.0f us", x);
	else
		snprintf(out, VALUE_TEXT, "%.*f ms", x < 99950 ? 1 : 0, x / 1000);
	return out;
}

static int by_overwrites(const void *a, const void *b)
{
	const struct table_dir *x = a, *y = b;

	if (x->in_place != y->in_place)
		return x->in_place < y->in_place ? 1 : -1;
	return (x->new_bytes < y->new_bytes) - (x->new_bytes > y->new_bytes);
}

static void take_dir(struct report *r, const struct watch *w, const struct table_dir *d,
	uint64_t in_place)
{
	struct dir_row *row = &r->dirs[r->dir_count++];

	watch_path(w, d->key, row->path, sizeof(row->path));
	row->files = d->files;
	row->writes = d->writes;
	row->new_bytes = (uint64_t)((double)d->new_bytes / r->watched_share);
	row->in_place_share = in_place ? (double)d->in_place / (double)in_place : 0;
	row->overwritten_bytes =
		r->load.overwritten_bytes_s * r->load.seconds * row->in_place_share;
	row->flagged = row->overwritten_bytes > 0 && row->in_place_share >= FLAGGED_LEAST &&
		       r->dir_count <= FLAGGED_MOST && r->load.flagged_share < FLAGGED_ENOUGH;
	if (!row->flagged)
		return;
	r->load.flagged_share += row->in_place_share;
	r->load.flagged_data_share += ((double)row->new_bytes + row->overwritten_bytes) /
				      (r->load.seconds *
					      (r->load.new_bytes_s + r->load.overwritten_bytes_s));
}

void report_files(struct report *r, const struct watch *w, int top)
{
	const struct table *t = &w->table;
	struct load *l = &r->load;
	struct table_dir *dirs;
	uint64_t in_place = 0;
	uint32_t n = 0, i;

	r->events = w->events;
	r->overflows = w->overflows;
	r->untracked = t->untracked;
	r->gone = t->gone;
	r->older = t->older;
	r->files = t->file_count;
	r->watched_share = fmin(1, (double)w->watched_ns / 1e9 / l->seconds);
	if ((w->on && !w->table.window) || !(r->watched_share > 0))
		r->watched_share = 1; /* never closed */
	l->new_bytes_s = (double)t->new_bytes / l->seconds / r->watched_share;
	l->cached_bytes_s /= r->watched_share;
	l->overwritten_bytes_s = fmax(0, l->data_bytes_s - l->new_bytes_s);
	if (isnan(l->data_bytes_s))
		l->overwritten_bytes_s = NAN;
	else
		l->flagged_data_share = 0;
	dirs = calloc(t->dir_count ? t->dir_count : 1, sizeof(*dirs));
	if (!dirs)
		return;
	for (i = 0; i < TABLE_DIRS; i++)
		if (t->dirs[i].key.inode) {
			dirs[n++] = t->dirs[i];
			in_place += t->dirs[i].in_place;
		}
	qsort(dirs, n, sizeof(*dirs), by_overwrites);
	for (i = 0; i < n && (int)i < top; i++)
		take_dir(r, w, &dirs[i], in_place);
	free(dirs);
}

void report_conclude(struct report *r)
{
	const struct volume *v = r->volume;
	struct hint_facts f = {.noatime = v->noatime,
		.relatime = v->relatime,
		.rotates = v->rotates,
		.readahead_blocks = (double)v->mount.readahead_blocks,
		.transaction_blocks = r->series->last.has_jbd2
					      ? (double)r->series->last.jbd2.max_blocks
					      : NAN};
	struct choice choices[CHOICES_MAX];
	int i;

	r->choices = model_choices(choices);
	for (i = 0; i < r->choices; i++)
		r->predictions[i] = model_predict(&r->load, &r->machine, choices[i]);
	model_rank(r->predictions, r->choices);
	r->hint_count = hints_make(&r->load, &f, r->hints);
}
