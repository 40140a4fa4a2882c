// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A walk from commit to commit. What a path leads to is looked at again only when one of the blocks
 * changed that it rests on.
 */
#include "rjbackup/changes/lost.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "rjbackup/sides.h"
#include "rjbackup/changes/show.h"

#define PAUSE_NS  60000000000LL	  /* between two commits of one removal, at most */
#define WINDOW_NS 3600000000000LL /* a removal takes no longer */

struct finding {
	const char *pattern;
	struct lost_list *list;
	void *positions;    /* a tree of struct position: which paths LIST has */
	struct rj_buf read; /* what the paths rest on */
	bool begun;
};

/* Where in a list a path is: 100,000 of them can match a pattern. */
struct position {
	const char *path; /* of the list */
	size_t at;
};

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct position *)a)->path, ((const struct position *)b)->path);
}

/* PATH, which is new. NULL: out of memory. */
static struct lost *add(struct finding *f, const char *path)
{
	struct lost_list *l = f->list;
	struct lost *more = realloc(l->all, (l->count + 1) * sizeof(*more));
	struct position *p = malloc(sizeof(*p));

	if (more)
		l->all = more;
	if (!more || !p || !(more[l->count] = (struct lost){.path = strdup(path)}).path) {
		free(p);
		return NULL;
	}
	*p = (struct position){.path = more[l->count].path, .at = l->count};
	l->count++;
	if (!tsearch(p, &f->positions, by_path)) {
		free(p);
		return NULL;
	}
	return &l->all[l->count - 1];
}

static struct lost *lost_at(struct finding *f, const char *path)
{
	const struct position key = {.path = path};
	struct position *const *p = tfind(&key, &f->positions, by_path);

	return p ? &f->list->all[(*p)->at] : add(f, path);
}

static int one_match(void *arg, const char *path, const struct rj_file_facts *facts,
	struct rj_error *err)
{
	struct finding *f = arg;
	struct lost *l = lost_at(f, path);

	if (!l)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	l->seen = true;
	l->facts = *facts;
	return 0;
}

static int look(void *arg, const struct rj_compare_side *before,
	const struct rj_compare_side *after, const uint64_t *blocks, size_t count,
	struct rj_error *err)
{
	struct finding *f = arg;
	struct rj_files *files;
	struct lost *l;
	size_t i;
	int rc;

	if (f->begun && !rj_files_touched(&f->read, blocks, count))
		return 0;
	f->begun = true;
	for (i = 0; i < f->list->count; i++)
		f->list->all[i].seen = false;
	rc = rj_files_open(after->fs, after->super, &files, err);
	if (!rc)
		rc = rj_files_match(files, f->pattern, false, one_match, f, &f->read, err);
	rj_files_close(files);
	for (i = 0; !rc && i < f->list->count; i++) {
		l = &f->list->all[i];
		if (l->there && !l->seen) {
			l->last = before->place;
			l->gone_ns = after->place.time_ns;
		}
		l->there = l->seen;
	}
	return rc;
}

/* How a directory was removed, over several commits. */
struct removal {
	const struct lost *dir;
	struct rj_history_place start; /* before its first commit; segment 0: none is known */
	int64_t end_ns;		       /* of its last commit up to now */
	bool removed, other;	       /* in this commit, below the directory */
};

static int one_change(void *arg, const struct rj_file_change *c)
{
	struct removal *r = arg;
	bool here = path_is_below(c->path, r->dir->path);

	if (c->kind == RJ_FILE_REMOVED)
		r->removed |= here;
	else if (c->kind == RJ_FILE_RENAMED && !here)
		r->removed |= path_is_below(c->from, r->dir->path);
	else
		r->other |= here;
	return 0;
}

static int see_removal(void *arg, const struct rj_compare_side *before,
	const struct rj_compare_side *after, const uint64_t *blocks, size_t count,
	struct rj_error *err)
{
	struct removal *r = arg;
	struct rj_files_cost cost;
	int rc;

	if (!count || after->place.time_ns < r->dir->gone_ns - WINDOW_NS)
		return 0;
	r->removed = r->other = false;
	rc = compare_files(before, after, blocks, count, one_change, r, &cost, err);
	if (r->other) {
		r->start.segment = 0;
	} else if (r->removed) {
		if (!r->start.segment || after->place.time_ns - r->end_ns > PAUSE_NS)
			r->start = before->place;
		r->end_ns = after->place.time_ns;
	}
	return rc;
}

static int before_removal(const struct options *o, struct lost *dir, struct rj_error *err)
{
	struct removal r = {.dir = dir};
	struct rj_compare_opts opts = {
		.to = {.kind = RJ_AT_SEGMENT, .segment = dir->last.segment},
		.from_base = true,
		.each_commit = true,
		.step = see_removal,
		.arg = &r,
	};
	struct rj_history_report report;
	struct rj_base_facts facts;
	int rc = compare_run(o, &opts, &facts, &report, err);

	if (!rc && r.start.segment && dir->gone_ns - r.end_ns <= PAUSE_NS)
		dir->last = r.start;
	return rc;
}

int lost_find(const struct options *o, const char *pattern, const struct rj_moment *at,
	struct lost_list *out, struct rj_error *err)
{
	struct finding f = {.pattern = pattern, .list = out};
	struct rj_compare_opts opts = {
		.to = at ? *at : o->until,
		.from_base = true,
		.each_commit = !at,
		.until_break = !at && o->until.kind == RJ_AT_LATEST,
		.step = look,
		.arg = &f,
	};
	struct rj_history_report report;
	struct rj_base_facts facts;
	struct lost *l;
	size_t i;
	int rc = compare_run(o, &opts, &facts, &report, err);

	rj_buf_free(&f.read);
	tdestroy(f.positions, free);
	for (i = 0; !rc && i < out->count; i++) {
		l = &out->all[i];
		if (l->there)
			l->last = report.reached;
		else if (S_ISDIR(l->facts.mode))
			rc = before_removal(o, l, err);
	}
	return rc;
}

void lost_free(struct lost_list *l)
{
	size_t i;

	for (i = 0; i < l->count; i++)
		free(l->all[i].path);
	free(l->all);
}
