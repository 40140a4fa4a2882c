// SPDX-License-Identifier: GPL-2.0-or-later
#include "rjbackup/changes/find.h"

#include <fnmatch.h>
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

/* From when until when a path was there. */
struct span {
	char *path;
	uint32_t inode;
	struct rj_history_place from, until; /* segment 0: before the base; to the end */
};

/* What one commit made of a path. Until all of it is known no span is changed: each line of it has
 * its paths as of before the whole commit, or of after. */
struct event {
	char *path, *to;       /* TO: of a directory that was renamed; else NULL */
	uint32_t inode, after; /* AFTER: of one that was replaced */
};

struct finding {
	const struct options *o;
	struct rj_buf spans;
	struct rj_buf gone, moved, replaced, made; /* of struct event, of the commit at AT */
	struct rj_history_place at;
	bool begun;
	struct rj_error *err;
};

static struct span *spans(const struct finding *f, size_t *count)
{
	*count = f->spans.len / sizeof(struct span);
	return (void *)f->spans.data;
}

static bool wanted(const struct finding *f, const char *path)
{
	return !fnmatch(f->o->path, strrchr(path, '/') + 1, FNM_PERIOD);
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

static int put(struct finding *f, struct rj_buf *out, const char *path, const char *to,
	uint32_t inode, uint32_t after)
{
	struct event e = {.path = strdup(path), .to = to ? strdup(to) : NULL, .inode = inode,
		.after = after};

	if (e.path && (e.to || !to) && !rj_buf_append(out, &e, sizeof(e)))
		return 0;
	free(e.path);
	free(e.to);
	return rj_fail(f->err, RJ_E_NOMEM, "out of memory");
}

static int one_change(void *arg, const struct rj_file_change *c)
{
	struct finding *f = arg;
	const char *was = c->from ? c->from : c->path;
	int rc = 0;

	if ((c->kind == RJ_FILE_REMOVED || c->kind == RJ_FILE_RENAMED) && wanted(f, was))
		rc = put(f, &f->gone, was, NULL, c->before.inode, 0);
	if (!rc && c->kind == RJ_FILE_RENAMED && S_ISDIR(c->after.mode))
		rc = put(f, &f->moved, c->from, c->path, c->before.inode, 0);
	if (!rc && c->what & RJ_DIFF_REPLACED && wanted(f, c->path))
		rc = put(f, &f->replaced, c->path, NULL, c->before.inode, c->after.inode);
	if (!rc && (c->kind == RJ_FILE_MADE || c->kind == RJ_FILE_RENAMED) && wanted(f, c->path))
		rc = put(f, &f->made, c->path, NULL, c->after.inode, 0);
	return rc;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct event *)a)->path, ((const struct event *)b)->path);
}

static void sort(struct rj_buf *events)
{
	if (events->len)
		qsort(events->data, events->len / sizeof(struct event), sizeof(struct event),
			by_path);
}

/* The one of PATH in EVENTS, which are sorted; NULL. */
static const struct event *event_at(const struct rj_buf *events, char *path)
{
	const struct event key = {.path = path};

	return events->len ? bsearch(&key, events->data, events->len / sizeof(key), sizeof(key),
				     by_path)
			   : NULL;
}

/* The nearest directory above S that was renamed has another path now: so has S. */
static int follow(const struct finding *f, struct span *s)
{
	const struct event *e = NULL;
	char *slash, *path;
	size_t room;

	for (slash = strrchr(s->path, '/'); slash > s->path && !e;) {
		*slash = 0;
		e = event_at(&f->moved, s->path);
		*slash = '/';
		if (!e)
			for (slash--; *slash != '/';)
				slash--;
	}
	if (!e)
		return 0;
	room = strlen(e->to) + strlen(slash) + 1;
	path = malloc(room);
	if (!path)
		return rj_fail(f->err, RJ_E_NOMEM, "out of memory");
	snprintf(path, room, "%s%s", e->to, slash);
	free(s->path);
	s->path = path;
	return 0;
}

/* What the commit made of the spans that had begun before it. */
static int go_on(struct finding *f)
{
	const struct event *e;
	struct span *s;
	size_t n, i;
	int rc = 0;

	if (!f->gone.len && !f->moved.len && !f->replaced.len)
		return 0;
	for (s = spans(f, &n), i = 0; !rc && i < n; i++) {
		if (s[i].until.segment)
			continue;
		e = event_at(&f->gone, s[i].path);
		if (e && e->inode == s[i].inode) {
			s[i].until = f->at;
			continue;
		}
		rc = f->moved.len ? follow(f, &s[i]) : 0;
		e = event_at(&f->replaced, s[i].path);
		if (e && e->inode == s[i].inode)
			s[i].inode = e->after;
	}
	return rc;
}

static void forget(struct rj_buf *events)
{
	struct event *e = (void *)events->data;
	size_t i;

	for (i = 0; i < events->len / sizeof(*e); i++) {
		free(e[i].path);
		free(e[i].to);
	}
	events->len = 0;
}

static int apply(struct finding *f)
{
	const struct event *e;
	size_t i;
	int rc;

	sort(&f->gone);
	sort(&f->moved);
	sort(&f->replaced);
	rc = go_on(f);
	e = (const void *)f->made.data;
	for (i = 0; !rc && i < f->made.len / sizeof(*e); i++)
		rc = begin(f, e[i].path, e[i].inode, &f->at);
	return rc;
}

static void forget_all(struct finding *f)
{
	forget(&f->gone);
	forget(&f->moved);
	forget(&f->replaced);
	forget(&f->made);
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
	if (f->begun) {
		rc = compare_files(before, after, blocks, count, one_change, f, &cost, err);
		if (!rc)
			rc = apply(f);
		forget_all(f);
		return rc;
	}
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
	struct rj_base_facts facts;
	struct span *s;
	size_t n, i;
	int rc;

	stop_signal_catch();
	rc = compare_run(o, &opts, &facts, &report, &err);
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
	rj_buf_free(&f.gone);
	rj_buf_free(&f.moved);
	rj_buf_free(&f.replaced);
	rj_buf_free(&f.made);
	return rc;
}
