// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * As with other programs that rotate backups: "7d" keeps the newest base of each of the last 7
 * days that have any. The time of a base is that of its file.
 */
#include "expire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "format/claim-text.h"
#include "history/base.h"
#include "os/fileio.h"

#define WHY_BYTES 64

static const struct {
	char unit;
	const char *name;
} periods[] = {
	{'h', "hourly"}, {'d', "daily"}, {'w', "weekly"}, {'m', "monthly"}, {'y', "yearly"},
};

#define PERIODS (sizeof(periods) / sizeof(periods[0]))

struct base {
	const char *path;
	uint8_t uuid[RJ_UUID_BYTES]; /* the volume's */
	int64_t time;
	dev_t dev;
	ino_t ino;
	char why[WHY_BYTES]; /* it is kept; "": it is not */
};

/* "7d,4w" into how many of each period. */
static bool parse_keep(const char *text, unsigned long counts[PERIODS])
{
	unsigned long n;
	char *end;
	size_t i;

	memset(counts, 0, PERIODS * sizeof(counts[0]));
	for (;; text = end + 1) {
		if (*text < '1' || *text > '9')
			return false;
		errno = 0;
		n = strtoul(text, &end, 10);
		for (i = 0; i < PERIODS && periods[i].unit != *end; i++)
			;
		if (errno || i == PERIODS || counts[i])
			return false;
		counts[i] = n;
		end++;
		if (!*end)
			return true;
		if (*end != ',')
			return false;
	}
}

bool keep_valid(const char *text)
{
	unsigned long counts[PERIODS];

	return parse_keep(text, counts);
}

/* By volume, and the newest first. */
static int in_order(const void *a, const void *b)
{
	const struct base *x = a, *y = b;
	int c = memcmp(x->uuid, y->uuid, RJ_UUID_BYTES);

	if (c || x->time == y->time)
		return c ? c : strcmp(x->path, y->path);
	return x->time < y->time ? 1 : -1;
}

static void add_why(struct base *b, const char *why)
{
	size_t len = strlen(b->why);

	snprintf(b->why + len, sizeof(b->why) - len, "%s%s", len ? " " : "", why);
}

/* Two times of one period have the same text. */
static size_t period_text(char unit, const struct tm *tm, char out[32])
{
	switch (unit) {
	case 'h':
		return strftime(out, 32, "%Y-%j-%H", tm);
	case 'd':
		return strftime(out, 32, "%Y-%j", tm);
	case 'w':
		return strftime(out, 32, "%G-%V", tm);
	case 'm':
		return strftime(out, 32, "%Y-%m", tm);
	default:
		return strftime(out, 32, "%Y", tm);
	}
}

/* The newest base of each of the last COUNT periods I of one volume's N bases. */
static void keep_period(struct base *b, size_t n, size_t i, unsigned long count)
{
	char last[32] = "", now[32];
	struct tm tm;
	time_t t;
	size_t k;

	for (k = 0; k < n && count; k++) {
		t = (time_t)b[k].time;
		if (!localtime_r(&t, &tm) || !period_text(periods[i].unit, &tm, now))
			now[0] = 0;
		if (now[0] && !strcmp(last, now))
			continue;
		memcpy(last, now, sizeof(last));
		add_why(&b[k], periods[i].name);
		count--;
	}
}

static void choose(struct base *all, size_t n, const unsigned long counts[PERIODS])
{
	size_t from, to, i;

	for (from = 0; from < n; from = to) {
		for (to = from + 1; to < n && rj_uuid_equal(all[to].uuid, all[from].uuid); to++)
			;
		add_why(&all[from], "newest");
		for (i = 0; i < PERIODS; i++)
			keep_period(all + from, to - from, i, counts[i]);
	}
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
	b->time = st.st_mtime;
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
	char time[RJ_CLAIM_VALUE], uuid[RJ_UUID_TEXT];
	struct json_object *o;

	if (!json) {
		printf("%s: volume %s, %s: %s%s\n", b->path, rj_uuid_text(b->uuid, uuid),
			rj_claim_time_text(b->time, time),
			b->why[0] ? "kept: " : dry_run ? "would be removed" : "removed", b->why);
		return;
	}
	o = json_object_new_object();
	json_object_object_add(o, "base", json_object_new_string(b->path));
	json_object_object_add(o, "volume", json_object_new_string(rj_uuid_text(b->uuid, uuid)));
	json_object_object_add(o, "made", json_object_new_int64(b->time));
	json_object_object_add(o, "kept", json_object_new_boolean(b->why[0]));
	json_object_object_add(o, "why", json_object_new_string(b->why));
	json_object_array_add(json, o);
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
	unsigned long counts[PERIODS];
	int rc = all ? 0 : rj_fail(err, RJ_E_NOMEM, "out of memory");

	if (json)
		json_object_object_add(json, "bases", bases);
	for (i = 0; !rc && i < n; i++) {
		all[i].path = o->files[i];
		rc = look(&all[i], all, i, err);
	}
	if (!rc && parse_keep(o->keep, counts)) {
		qsort(all, n, sizeof(*all), in_order);
		choose(all, n, counts);
		for (i = 0; !rc && i < n; i++) {
			if (!all[i].why[0] && !o->dry_run)
				rc = remove_base(&all[i], err);
			if (!rc)
				show(&all[i], o->dry_run, bases);
		}
	}
	free(all);
	return rc;
}
