// SPDX-License-Identifier: GPL-2.0-or-later
#include "rjbackup/changes/find.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "rjbackup/changes/show.h"
#include "rjbackup/changes/sides.h"
#include "rjbackup/print.h"
#include "text/when.h"
#include "tools/json.h"
#include "tools/stop-signal.h"

/* From when until when a path was there. */
struct span {
	char *path;
	uint32_t inode;
	struct rj_history_place from, until; /* segment 0: before the base; to the end */
};

struct finding {
	const struct options *o;
	struct rj_buf spans;
	struct rj_history_place at; /* the commit that is looked at */
	bool begun;
	struct rj_error *err;
};

static struct span *spans(const struct finding *f, size_t *count)
{
	*count = f->spans.len / sizeof(struct span);
	return (void *)f->spans.data;
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool wanted(const struct finding *f, const char *path)
{
	return !fnmatch(f->o->path, name_of(path), FNM_PERIOD);
}

static int begin(struct finding *f, const char *path, uint32_t inode,
	const struct rj_history_place *from)
{
	struct span s = {.path = strdup(path), .inode = inode};

	if (from)
		s.from = *from;
	if (s.path && !rj_buf_append(&f->spans, &s, sizeof(s)))
		return 0;
	free(s.path);
	return rj_fail(f->err, RJ_E_NOMEM, "out of memory");
}

/* A directory above PATH, which is of before the commit, may have been renamed in it. */
static void end(struct finding *f, const char *path, uint32_t inode)
{
	struct span *s, *found = NULL;
	size_t n, i;

	for (s = spans(f, &n), i = 0; i < n; i++) {
		if (s[i].until.segment || s[i].inode != inode ||
			strcmp(name_of(s[i].path), name_of(path)))
			continue;
		if (!found || !strcmp(s[i].path, path))
			found = &s[i];
	}
	if (found)
		found->until = f->at;
}

/* The name goes on, and is of another file now. */
static void replace(struct finding *f, const char *path, uint32_t from, uint32_t to)
{
	struct span *s;
	size_t n, i;

	for (s = spans(f, &n), i = 0; i < n; i++)
		if (!s[i].until.segment && s[i].inode == from && !strcmp(s[i].path, path))
			s[i].inode = to;
}

/* Directory FROM is TO now: so are paths below it. */
static int move(struct finding *f, const char *from, const char *to)
{
	size_t len = strlen(from), n, i, room;
	struct span *s = spans(f, &n);
	char *path;

	for (i = 0; i < n; i++) {
		if (s[i].until.segment || !path_is_below(s[i].path, from) || !s[i].path[len])
			continue;
		room = strlen(to) + strlen(s[i].path + len) + 1;
		path = malloc(room);
		if (!path)
			return rj_fail(f->err, RJ_E_NOMEM, "out of memory");
		snprintf(path, room, "%s%s", to, s[i].path + len);
		free(s[i].path);
		s[i].path = path;
	}
	return 0;
}

static int one_change(void *arg, const struct rj_file_change *c)
{
	struct finding *f = arg;
	int rc = 0;

	if (c->kind == RJ_FILE_REMOVED)
		end(f, c->path, c->before.inode);
	if (c->kind == RJ_FILE_RENAMED)
		end(f, c->from, c->before.inode);
	if (c->kind == RJ_FILE_RENAMED && S_ISDIR(c->after.mode))
		rc = move(f, c->from, c->path);
	if (c->kind == RJ_FILE_CHANGED && c->what & RJ_DIFF_REPLACED)
		replace(f, c->path, c->before.inode, c->after.inode);
	if (!rc && (c->kind == RJ_FILE_MADE || c->kind == RJ_FILE_RENAMED) && wanted(f, c->path))
		rc = begin(f, c->path, c->after.inode, &f->at);
	return rc;
}

static int one_at_first(void *arg, const char *path, uint32_t inode, struct rj_error *err)
{
	(void)err;
	return begin(arg, path, inode, NULL);
}

static int one_commit(void *arg, const struct rj_compare_side *before,
	const struct rj_compare_side *after, const uint64_t *blocks, size_t count,
	struct rj_error *err)
{
	struct finding *f = arg;
	struct rj_files_cost cost;
	struct rj_files *files;
	int rc;

	f->at = after->place;
	if (f->begun)
		return compare_files(before, after, blocks, count, one_change, f, &cost, err);
	f->begun = true;
	rc = rj_files_open(after->fs, after->super, &files, err);
	if (!rc)
		rc = rj_files_search(files, f->o->path, one_at_first, f, err);
	rj_files_close(files);
	return rc;
}

static void show(const struct finding *f, const struct span *s)
{
	char from[RJ_WHEN_TEXT], until[RJ_WHEN_TEXT];
	struct json_object *top;

	if (f->o->json) {
		top = json_object_new_object();
		path_add_json(top, "path", s->path);
		add_u64(top, "inode", s->inode);
		if (s->from.segment)
			json_object_object_add(top, "from", place_json(&s->from));
		if (s->until.segment)
			json_object_object_add(top, "until", place_json(&s->until));
		json_show(top, JSON_C_TO_STRING_PLAIN);
		return;
	}
	path_print(s->path);
	if (s->from.segment)
		printf(": from %s, segment %" PRIu64, rj_place_text(&s->from, from),
			s->from.segment);
	else
		printf(": from before the base");
	if (s->until.segment)
		printf(", until %s, segment %" PRIu64 "\n", rj_place_text(&s->until, until),
			s->until.segment);
	else
		printf(", there at the end\n");
}

int find_names(const struct options *o)
{
	struct rj_error err = {0};
	struct finding f = {.o = o, .err = &err};
	struct rj_compare_opts opts = {
		.from_base = true,
		.until_break = true,
		.each_commit = true,
		.step = one_commit,
		.arg = &f,
	};
	struct rj_history_report report;
	struct span *s;
	size_t n, i;
	int rc;

	stop_signal_catch();
	rc = compare_run(o, &opts, &report, &err);
	s = spans(&f, &n);
	if (!rc && !n)
		rc = rj_fail(&err, RJ_E_NOTFOUND, "%s: no such name was there in this history", o->path);
	for (i = 0; i < n; i++) {
		if (!rc)
			show(&f, &s[i]);
		free(s[i].path);
	}
	if (rc)
		complain(err.msg);
	if (rc && o->json)
		json_show_error(NULL, NULL, err.msg);
	rj_buf_free(&f.spans);
	return rc;
}
