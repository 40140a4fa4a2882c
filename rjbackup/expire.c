// SPDX-License-Identifier: GPL-2.0-or-later
/* Bases in files: the time of a base is that of its file. */
#include "expire.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "history/base.h"
#include "os/fileio.h"
#include "text/when.h"
#include "tools/json.h"
#include "tools/keep-rules.h"

struct base {
	const char *path;
	uint8_t uuid[RJ_UUID_BYTES]; /* the volume's */
	uint64_t hold; /* that was put for it; 0: none */
	char url[RJ_SBX_URL_BYTES]; /* of its log */
	bool last; /* no other base that was given and stays has that hold */
	struct keep_item keep; /* by the time of the file */
	dev_t dev;
	ino_t ino;
};

/* By volume, and the newest first. */
static int in_order(const void *a, const void *b)
{
	const struct base *x = a, *y = b;
	int c = memcmp(x->uuid, y->uuid, RJ_UUID_BYTES);

	if (c || x->keep.time == y->keep.time)
		return c ? c : strcmp(x->path, y->path);
	return x->keep.time < y->keep.time ? 1 : -1;
}

static int choose(struct base *all, size_t n, const struct keep_rules *rules, struct rj_error *err)
{
	struct keep_item **items = calloc(n, sizeof(struct keep_item *));
	size_t from, to, i;

	if (!items)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	for (i = 0; i < n; i++)
		items[i] = &all[i].keep;
	for (from = 0; from < n; from = to) {
		for (to = from + 1; to < n && rj_uuid_equal(all[to].uuid, all[from].uuid); to++)
			;
		keep_choose(rules, items + from, to - from);
	}
	free(items);
	return 0;
}

static int look(struct base *b, const struct base *before, size_t count, struct rj_error *err)
{
	struct rj_base_facts facts;
	struct stat st;
	size_t i;
	int rc;

	if (stat(b->path, &st))
		return rj_fail_errno(err, errno, "%s: cannot look at it", b->path);
	if (!S_ISREG(st.st_mode))
		return rj_fail(err, RJ_E_INVAL, "%s: is no file: only files are removed", b->path);
	rc = rj_base_look(b->path, &facts, err);
	if (rc)
		return rc;
	memcpy(b->uuid, facts.uuid, RJ_UUID_BYTES);
	b->hold = facts.record.hold;
	memcpy(b->url, facts.sbx.url, sizeof(b->url));
	b->keep.time = st.st_mtime;
	b->dev = st.st_dev;
	b->ino = st.st_ino;
	for (i = 0; i < count; i++)
		if (before[i].dev == b->dev && before[i].ino == b->ino)
			return rj_fail(err, RJ_E_INVAL, "%s: is the same file as %s", b->path,
				before[i].path);
	return 0;
}

static void show(const struct base *b, bool dry_run, struct json_object *json)
{
	char time[RJ_WHEN_TEXT], uuid[RJ_UUID_TEXT], text[KEEP_WHY_BYTES + 20];
	struct json_object *o;

	if (!json) {
		printf("%s: volume %s, %s: %s\n", b->path, rj_uuid_text(b->uuid, uuid),
			rj_when_seconds(b->keep.time, time),
			keep_text(&b->keep, dry_run, text));
		if (b->last)
			printf(
				"  its hold %" PRIu64 " is of use for copies of it only, if there are any: rjbackup expire --hold=%" PRIu64 " %s\n",
				b->hold, b->hold, b->url);
		return;
	}
	o = json_object_new_object();
	add_text(o, "base", b->path);
	add_text(o, "volume", rj_uuid_text(b->uuid, uuid));
	add_i64(o, "made", b->keep.time);
	keep_json(&b->keep, o);
	if (b->hold)
		add_u64(o, "hold", b->hold);
	if (b->last)
		add_bool(o, "hold_of_use", false);
	json_object_array_add(json, o);
}

/* Does B go, and is it the last one that needs its hold? */
static bool is_last(const struct base *b, const struct base *all, size_t n)
{
	size_t i;

	if (!b->hold || b->keep.why[0])
		return false;
	for (i = 0; i < n; i++)
		if (all[i].keep.why[0] && all[i].hold == b->hold)
			return false;
	return true;
}

static int remove_base(const struct base *b, struct rj_error *err)
{
	int fd = -1, rc;

	/* not one that a mount or follow uses at this time */
	rc = rj_base_open(b->path, true, &fd, err);
	if (!rc && unlink(b->path))
		rc = rj_fail_errno(err, errno, "%s: cannot remove", b->path);
	rj_close(&fd, b->path, NULL); /* it was only locked */
	return rc ? rc : rj_fsync_parent(b->path, err);
}

int expire_bases(const struct options *o, struct json_object *json, struct rj_error *err)
{
	struct json_object *bases = json ? json_object_new_array() : NULL;
	struct base *all = calloc((size_t)o->file_count, sizeof(*all));
	size_t n = (size_t)o->file_count, i;
	struct keep_rules rules;
	int rc = all ? 0 : rj_fail(err, RJ_E_NOMEM, "out of memory");

	if (json)
		json_object_object_add(json, "bases", bases);
	for (i = 0; !rc && i < n; i++) {
		all[i].path = o->files[i];
		rc = look(&all[i], all, i, err);
	}
	if (!rc && keep_parse(o->keep, &rules)) {
		qsort(all, n, sizeof(*all), in_order);
		rc = choose(all, n, &rules, err);
		for (i = 0; !rc && i < n; i++) {
			all[i].last = is_last(&all[i], all, n);
			if (!all[i].keep.why[0] && !o->dry_run)
				rc = remove_base(&all[i], err);
			if (!rc)
				show(&all[i], o->dry_run, bases);
		}
	}
	free(all);
	return rc;
}
