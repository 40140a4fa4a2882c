// SPDX-License-Identifier: GPL-2.0-or-later
#include "rjbackup/changes/log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "rjbackup/changes/show.h"
#include "rjbackup/sides.h"
#include "rjbackup/print.h"
#include "text/when.h"
#include "tools/json.h"
#include "tools/stop-signal.h"

struct logging {
	const struct options *o;
	char *path;	    /* from the root; NULL: all */
	char *pattern;	    /* that matches PATH alone */
	struct rj_buf read; /* what the path rests on */
	bool begun, there;
	bool told; /* a line of this commit is of PATH itself */
	struct rj_file_facts facts; /* of what is at the path */
	struct rj_history_place at; /* the commit that is looked at */
	struct change_sums sums;    /* of it */
	uint64_t lines, commits;    /* of it; of all that have lines */
};

static void print_commit(const struct logging *l)
{
	char when[RJ_WHEN_TEXT];

	printf("%s, segment %" PRIu64 ", transaction %" PRIu32 "\n", rj_place_text(&l->at, when),
		l->at.segment, l->at.tid);
}

static void print_change(const struct logging *l, const struct rj_file_change *c)
{
	const struct rj_file_facts *f = c->after.inode ? &c->after : &c->before;
	struct json_object *top;

	if (l->o->json) {
		top = change_json(c);
		json_object_object_add(top, "at", place_json(&l->at));
		json_show(top, JSON_C_TO_STRING_PLAIN);
		return;
	}
	printf("  ");
	if (l->path) /* its versions */
		printf("inode %" PRIu32 ", %" PRIu64 " bytes: ", f->inode, f->size);
	change_print(c);
}

static int one_change(void *arg, const struct rj_file_change *c)
{
	struct logging *l = arg;

	if (!path_is_below(c->path, l->path) && !(c->from && path_is_below(c->from, l->path)))
		return 0;
	l->told |= l->path && (!strcmp(c->path, l->path) || (c->from && !strcmp(c->from, l->path)));
	change_add(&l->sums, c);
	if (!l->lines++ && !l->o->json && !l->o->stat)
		print_commit(l);
	if (!l->o->stat)
		print_change(l, c);
	return 0;
}

static int one_match(void *arg, const char *path, const struct rj_file_facts *facts,
	struct rj_error *err)
{
	struct logging *l = arg;

	(void)path, (void)err;
	l->there = true;
	l->facts = *facts;
	return 0;
}

static int look(struct logging *l, const struct rj_compare_side *s, struct rj_error *err)
{
	struct rj_files *f;
	int rc = rj_files_open(s->fs, s->super, &f, err);

	l->there = false;
	if (!rc)
		rc = rj_files_match(f, l->pattern, true, one_match, l, &l->read, err);
	rj_files_close(f);
	return rc;
}

/* PATH as a pattern: nothing in it stands for another word. NULL: out of memory. */
static char *literally(const char *path)
{
	char *out = malloc(strlen(path) * 2 + 1), *end = out;

	for (; out && *path; path++) {
		if (strchr("*?[\\", *path))
			*end++ = '\\';
		*end++ = *path;
	}
	if (out)
		*end = 0;
	return out;
}

/* One name of two files: a line as if one had replaced the other one. */
static int replaced(struct logging *l, struct rj_file_change *c,
	const struct rj_compare_side *before, const struct rj_compare_side *after,
	const uint64_t *blocks, size_t count, struct rj_error *err)
{
	struct rj_files *a = NULL, *b = NULL;
	int rc = rj_files_open(before->fs, before->super, &a, err);

	if (!rc)
		rc = rj_files_open(after->fs, after->super, &b, err);
	if (!rc)
		rc = rj_files_differ(a, c->before.inode, b, c->after.inode, blocks, count, &c->what,
			&c->bytes, err);
	rj_files_close(a);
	rj_files_close(b);
	c->kind = RJ_FILE_CHANGED;
	c->what |= RJ_DIFF_REPLACED;
	return rc ? rc : one_change(l, c);
}

/* The path leads to another file than BEFORE, or came or went, and no line is of it: a directory
 * above it was renamed. */
static int moved(struct logging *l, bool was, const struct rj_file_facts *facts,
	const struct rj_compare_side *before, const struct rj_compare_side *after,
	const uint64_t *blocks, size_t count, struct rj_error *err)
{
	struct rj_file_change c = {.kind = RJ_FILE_REMOVED, .path = l->path, .what = RJ_DIFF_LINK};

	if (was && l->there && facts->inode == l->facts.inode &&
		facts->generation == l->facts.generation)
		return 0;
	if (was)
		c.before = *facts;
	if (was && l->there && S_ISREG(facts->mode) && S_ISREG(l->facts.mode)) {
		c.after = l->facts;
		return replaced(l, &c, before, after, blocks, count, err);
	}
	if (was)
		one_change(l, &c);
	c.kind = RJ_FILE_MADE;
	c.before = (struct rj_file_facts){0};
	c.after = l->facts;
	return l->there ? one_change(l, &c) : 0;
}

static void end_commit(struct logging *l)
{
	struct json_object *top;

	l->commits += l->lines > 0;
	if (!l->lines || !l->o->stat)
		return;
	if (l->o->json) {
		top = json_object_new_object();
		json_object_object_add(top, "at", place_json(&l->at));
		sums_add_json(&l->sums, top);
		json_show(top, JSON_C_TO_STRING_PLAIN);
		return;
	}
	print_commit(l);
	printf("  ");
	sums_print(&l->sums);
}

static int one_commit(void *arg, const struct rj_compare_side *before,
	const struct rj_compare_side *after, const uint64_t *blocks, size_t count,
	struct rj_error *err)
{
	struct logging *l = arg;
	const struct rj_file_facts facts = l->facts;
	bool was = l->there, changed = !l->begun || rj_files_touched(&l->read, blocks, count);
	struct rj_files_cost cost;
	int rc = 0;

	l->at = after->place;
	l->lines = 0;
	l->told = false;
	l->sums = (struct change_sums){0};
	/* of a directory what is below it, too */
	if (l->path && !changed && !(was && S_ISDIR(facts.mode)))
		return 0;
	if (l->path && changed)
		rc = look(l, after, err);
	if (!l->begun) {
		l->begun = true;
		return rc;
	}
	if (!rc)
		rc = compare_files(before, after, blocks, count, one_change, l, &cost, err);
	if (!rc && l->path && !l->told)
		rc = moved(l, was, &facts, before, after, blocks, count, err);
	if (!rc)
		end_commit(l);
	return rc;
}

int log_changes(const struct options *o)
{
	struct logging l = {.o = o, .path = o->path ? path_of_user(o->path) : NULL};
	struct rj_compare_opts opts = {
		.from = o->from,
		.from_base = !o->from_given,
		.to = o->until,
		.until_break = o->until.kind == RJ_AT_LATEST,
		.each_commit = true,
		.step = one_commit,
		.arg = &l,
	};
	struct rj_history_report report = {0};
	struct rj_base_facts facts;
	struct rj_error err = {0};
	int rc = o->path && !l.path ? rj_fail(&err, RJ_E_NOMEM, "out of memory") : 0;

	if (l.path && !*l.path) { /* the root: all */
		free(l.path);
		l.path = NULL;
	}
	l.pattern = l.path ? literally(l.path) : NULL;
	if (l.path && !l.pattern)
		rc = rj_fail(&err, RJ_E_NOMEM, "out of memory");
	stop_signal_catch();
	if (!rc)
		rc = compare_run(o, &opts, &facts, &report, &err);
	if (rc)
		complain(err.msg);
	if (rc && o->json)
		json_show_error(NULL, NULL, err.msg);
	rj_buf_free(&l.read);
	free(l.path);
	free(l.pattern);
	return rc;
}
