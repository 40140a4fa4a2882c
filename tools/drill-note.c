// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/drill-note.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/fileio.h"
#include "store/conf.h"
#include "tools/json.h"
#include "util/environ.h"

#define NOTE_BYTES 65536
#define SUFFIX	   ".json"

#define AT(field) offsetof(struct drill_note, field)
static const struct {
	const char *key;
	size_t at;
} numbers[] = {
	{"base_made", AT(base_s)},
	{"last_attempt", AT(attempt_s)},
	{"last_success", AT(success_s)},
	{"segment", AT(segment)},
	{"commit_ns", AT(commit_ns)},
	{"earliest_ns", AT(earliest_ns)},
	{"latest_ns", AT(latest_ns)},
	{"rpo_ns", AT(rpo_ns)},
	{"rto_ns", AT(rto_ns)},
	{"bytes", AT(bytes)},
	{"needs_since", AT(place_s)},
	{"hold", AT(hold)},
	{"hold_made", AT(hold_s)},
	{"hold_until", AT(until_s)},
	{"ended", AT(ended_s)},
};
static const struct {
	const char *key;
	size_t at, size;
} texts[] = {
	{"base", AT(base), sizeof(((struct drill_note *)0)->base)},
	{"url", AT(url), sizeof(((struct drill_note *)0)->url)},
	{"error", AT(error), sizeof(((struct drill_note *)0)->error)},
	{"own_base", AT(own), sizeof(((struct drill_note *)0)->own)},
	{"ended_why", AT(ended_why), sizeof(((struct drill_note *)0)->ended_why)},
};
#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))
#define TEXTS	(sizeof(texts) / sizeof(texts[0]))

/* The folder of notes into DIR. */
static int folder(char dir[PATH_MAX], struct rj_error *err)
{
	struct rj_conf_local local;
	int rc = rj_conf_local_load(&local, err);

	if (!rc)
		snprintf(dir, PATH_MAX, "%s", local.drill_dir);
	rj_conf_local_free(&local);
	return rc;
}

static int parse(const char *text, const char *path, struct drill_note *out,
	struct rj_error *err)
{
	struct json_object *o = json_tokener_parse(text), *value;
	struct drill_note n = {.base = ""};
	bool good = json_object_is_type(o, json_type_object);
	size_t i;

	for (i = 0; good && i < NUMBERS; i++) {
		if (!json_object_object_get_ex(o, numbers[i].key, &value))
			continue;
		good = json_object_is_type(value, json_type_int) &&
		       json_object_get_int64(value) >= 0;
		*(int64_t *)((char *)&n + numbers[i].at) = json_object_get_int64(value);
	}
	for (i = 0; good && i < TEXTS; i++) {
		if (!json_object_object_get_ex(o, texts[i].key, &value))
			continue;
		good = json_object_is_type(value, json_type_string);
		snprintf((char *)&n + texts[i].at, texts[i].size, "%s",
			json_object_get_string(value));
	}
	json_object_put(o);
	if (!good)
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: no note of a drill: remove it, the next drill makes a new one", path);
	*out = n;
	return 0;
}

static int load(const char *path, struct drill_note *out, struct rj_error *err)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), rc = 0;
	char text[NOTE_BYTES] = "";
	struct stat st;

	if (fd < 0)
		return rj_fail_errno(err, errno, "%s", path);
	if (fstat(fd, &st))
		rc = rj_fail_errno(err, errno, "%s", path);
	else if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
		 st.st_size >= (off_t)sizeof(text))
		rc = rj_fail(err, RJ_E_CORRUPT, "%s: no file of ours", path);
	else
		rc = rj_pread_all(fd, text, (size_t)st.st_size, 0, path, err);
	close(fd);
	return rc ? rc : parse(text, path, out, err);
}

static int path_of(const uint8_t volume[RJ_UUID_BYTES], char path[PATH_MAX],
	struct rj_error *err)
{
	char dir[PATH_MAX], uuid[RJ_UUID_TEXT];
	int rc = folder(dir, err);

	if (!rc && snprintf(path, PATH_MAX, "%s/%s" SUFFIX, dir, rj_uuid_text(volume, uuid)) >=
			   PATH_MAX)
		rc = rj_fail(err, RJ_E_INVAL, "%s: too long", dir);
	return rc;
}

int drill_note_load(const uint8_t volume[RJ_UUID_BYTES], struct drill_note *out,
	struct rj_error *err)
{
	char path[PATH_MAX];
	int rc = path_of(volume, path, err);

	return rc ? rc : load(path, out, err);
}

/* The first note that IS. */
static bool find(bool (*is)(const struct drill_note *n, const void *arg), const void *arg,
	uint8_t volume[RJ_UUID_BYTES], struct drill_note *n)
{
	char dir[PATH_MAX], name[RJ_UUID_TEXT];
	bool found = false;
	struct dirent *e;
	DIR *d = folder(dir, NULL) ? NULL : opendir(dir);

	while (d && !found && (e = readdir(d))) {
		snprintf(name, sizeof(name), "%.*s", RJ_UUID_TEXT - 1, e->d_name);
		found = !strcmp(e->d_name + strlen(name), SUFFIX) &&
			rj_uuid_parse(name, volume) && !drill_note_load(volume, n, NULL) &&
			is(n, arg);
	}
	if (d)
		closedir(d);
	return found;
}

static bool names(const struct drill_note *n, const void *base)
{
	return !strcmp(n->base, base);
}

bool drill_note_find(const char *base, uint8_t volume[RJ_UUID_BYTES])
{
	struct drill_note n;

	return find(names, base, volume, &n);
}

struct json_object *drill_note_json(const struct drill_note *n)
{
	struct json_object *o = json_object_new_object();
	const char *text;
	int64_t v;
	size_t i;

	for (i = 0; o && i < TEXTS; i++) {
		text = (const char *)n + texts[i].at;
		if (*text)
			add_text(o, texts[i].key, text);
	}
	for (i = 0; o && i < NUMBERS; i++) {
		v = *(const int64_t *)((const char *)n + numbers[i].at);
		if (v)
			add_i64(o, numbers[i].key, v);
	}
	return o;
}

static int keep(const char *path, const struct drill_note *n, struct rj_error *err)
{
	struct json_object *o = drill_note_json(n);
	struct rj_buf text = {0};
	int rc;

	rc = !o || rj_buf_printf(&text, "%s\n",
			   json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY |
				   JSON_C_TO_STRING_NOSLASHESCAPE))
		     ? rj_fail(err, RJ_E_NOMEM, "out of memory")
		     : rj_replace_file(path, 0600, text.data, text.len, err);
	json_object_put(o);
	rj_buf_free(&text);
	return rc;
}

int drill_note_change(const uint8_t volume[RJ_UUID_BYTES],
	void (*change)(void *arg, struct drill_note *n), void *arg, struct drill_note *out,
	struct rj_error *err)
{
	struct drill_note n = {.base = ""};
	char dir[PATH_MAX], path[PATH_MAX];
	int fd = -1, rc = folder(dir, err);

	if (!rc)
		rc = rj_make_dir(dir, err);
	if (!rc)
		rc = path_of(volume, path, err);
	if (rc)
		return rc;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || flock(fd, LOCK_EX)) {
		rc = rj_fail_errno(err, errno, "%s", dir);
	} else {
		if (load(path, &n, NULL))
			memset(&n, 0, sizeof(n));
		change(arg, &n);
		rc = keep(path, &n, err);
	}
	if (fd >= 0)
		close(fd); /* and the lock is gone */
	if (out)
		*out = n;
	return rc;
}

struct end {
	const char *why;
	char *base;
};

static void put_end(void *arg, struct drill_note *n)
{
	const struct end *e = arg;

	if (!n->own[0] || n->ended_s)
		return;
	n->ended_s = rj_realtime_ns() / 1000000000;
	snprintf(n->ended_why, sizeof(n->ended_why), "%s", e->why);
	snprintf(e->base, PATH_MAX, "%s", n->own);
}

int drill_note_end(const uint8_t volume[RJ_UUID_BYTES], const char *why, char base[PATH_MAX],
	struct rj_error *err)
{
	struct end e = {why, base};
	struct drill_note n;
	int rc = drill_note_load(volume, &n, err);

	base[0] = 0;
	if (rc || !n.own[0] || n.ended_s)
		return rc == -RJ_E_NOTFOUND ? 0 : rc;
	return drill_note_change(volume, put_end, &e, NULL, err);
}

static bool has_hold(const struct drill_note *n, const void *number)
{
	return n->own[0] && n->hold == *(const int64_t *)number;
}

static void forget_hold(void *arg, struct drill_note *n)
{
	if (has_hold(n, arg))
		n->hold = n->hold_s = n->until_s = 0;
}

bool drill_note_forget_hold(uint64_t number, bool dry_run, char base[PATH_MAX])
{
	int64_t hold = (int64_t)number;
	uint8_t volume[RJ_UUID_BYTES];
	struct drill_note n;

	if (!number || !find(has_hold, &hold, volume, &n))
		return false;
	memcpy(base, n.own, PATH_MAX);
	if (!dry_run) /* if that fails rjctl learns it when the hold's time is over */
		drill_note_change(volume, forget_hold, &hold, NULL, NULL);
	return true;
}
