// SPDX-License-Identifier: GPL-2.0-or-later
/* Judge each volume for a monitoring system. */
#include "check.h"

#include <blkid/blkid.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dead-daemon.h"
#include "os/mountinfo.h"
#include "os/rundir.h"
#include "text/when.h"
#include "tools/ask-daemon.h"
#include "tools/drill-state.h"
#include "volume.h"

#define ASK_MS	  5000
#define UUIDS_MAX 1024

enum level { OK, WARNING, CRITICAL, UNKNOWN };

static const char *const level_names[] = {
	"OK", "WARNING", "CRITICAL", "UNKNOWN"};

struct report {
	enum level level;
	unsigned seen; /* volumes */
	struct rj_buf said, data;
	/* what was looked at: a volume is named in fstab and served, too */
	uint8_t uuids[UUIDS_MAX][RJ_UUID_BYTES];
	bool no_memory;
};

/* The worst first: critical, unknown, warning. */
static enum level worse(enum level a, enum level b)
{
	static const int rank[] = {
		[OK] = 0, [WARNING] = 1, [UNKNOWN] = 2, [CRITICAL] = 3};

	return rank[a] > rank[b] ? a : b;
}

/* TEXT without the characters that end a plugin's text. */
static int put_plain(struct rj_buf *out, const char *text)
{
	int rc = 0;

	for (; !rc && *text; text++)
		rc = rj_buf_append(out,
			*text == '|' || *text == '\n' ? "/" : text, 1);
	return rc;
}

/* NAME NULL: WHAT names the volume. */
static void say(struct report *r, enum level level, const char *name,
	const char *what, const char *why)
{
	struct rj_buf *b = &r->said;

	r->level = worse(r->level, level);
	if (rj_buf_printf(b, "%s", b->len ? "; " : "") ||
		(name && (put_plain(b, name) || rj_buf_printf(b, ": "))) ||
		put_plain(b, what) ||
		(why && (rj_buf_printf(b, ": ") || put_plain(b, why))))
		r->no_memory = true;
}

static const char *text_of(struct json_object *o, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(o, key, &value)
		       ? json_object_get_string(value)
		       : NULL;
}

static void add_data(struct report *r, const char *name,
	struct json_object *o, const char *key, const char *unit)
{
	struct json_object *value;
	struct rj_buf *b = &r->data;
	int rc;

	if (!json_object_object_get_ex(o, key, &value))
		return;
	rc = rj_buf_append(b, " '", 2);
	for (; !rc && *name; name++)
		rc = *name == '\''  ? rj_buf_append(b, "''", 2)
		     : *name == '=' ? rj_buf_append(b, "_", 1)
				    : put_plain(b, (char[]){*name, '\0'});
	if (rc || rj_buf_printf(b, " %s'=%" PRId64 "%s", key,
			  json_object_get_int64(value), unit))
		r->no_memory = true;
}

static enum level level_of(const char *mode)
{
	static const struct {
		const char *mode;
		enum level level;
	} modes[] = {
		{"online", OK},
		{"local", OK},
		{"degraded", WARNING},
		{"resyncing", WARNING},
	};
	size_t i;

	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(mode, modes[i].mode))
			return modes[i].level;
	return CRITICAL;
}

enum mood mode_mood(const char *mode)
{
	static const enum mood moods[] = {
		[OK] = MOOD_WELL, [WARNING] = MOOD_WARNING, [CRITICAL] = MOOD_BAD};

	return moods[level_of(mode)];
}

static void judge_part(struct report *r, const char *name, const char *what,
	struct json_object *o)
{
	if (o && !json_object_get_boolean(json_object_object_get(o, "well")))
		say(r, strcmp(text_of(o, "state"), "unknown") ? WARNING : UNKNOWN,
			name, what, text_of(o, "text"));
	json_object_put(o);
}

/* Only of a volume of which a base was made, or a drill run, on this host. ANSWER: rjournald's;
 * NULL: there is none. */
static void judge_base(struct report *r, const char *name, const uint8_t uuid[RJ_UUID_BYTES],
	struct json_object *answer)
{
	judge_part(r, name, "base", base_state(uuid, answer ? text_of(answer, "store") : NULL));
	judge_part(r, name, "drill", drill_state(uuid));
}

/* After its end no new connection is made. */
static void judge_certificate(struct report *r, const char *name, struct json_object *o)
{
	int64_t end = json_object_get_int64(json_object_object_get(o, "store_certificate_end"));
	enum rj_end when = rj_when_ends(end);
	char text[RJ_WHEN_TEXT];

	if (when != RJ_END_LATER)
		say(r, when == RJ_END_OVER ? CRITICAL : WARNING, name,
			when == RJ_END_OVER ? "the certificate of the store has ended"
					    : "the certificate of the store ends",
			rj_when_seconds(end, text));
}

/* Nothing waits now: would the next write, and does the upkeep work? */
static void judge_rest(struct report *r, const char *name, struct json_object *o)
{
	bool away = json_object_get_int64(json_object_object_get(o, "store_lost")) == 1;

	/* the write would go to the fallback file; or wait, or fail */
	if (text_of(o, "store_why"))
		say(r, away && json_object_object_get_ex(o, "fallback", NULL) ? WARNING : CRITICAL,
			name, "store", text_of(o, "store_why"));
	if (text_of(o, "upkeep"))
		say(r, WARNING, name, "upkeep", text_of(o, "upkeep"));
}

static void judge(struct report *r, const char *name, struct json_object *o)
{
	const char *mode = text_of(o, "mode"), *why;
	struct json_object *fallback, *floor;
	char label[4096];
	dev_t dev;

	if (!mode) {
		say(r, UNKNOWN, name, "rjournald's answer has no mode", NULL);
		return;
	}
	if (!name)
		name = text_of(o, "device");
	why = text_of(o, "error");
	if (!why)
		why = text_of(o, "why");
	/* a store that is away is said once */
	if (level_of(mode) != OK)
		say(r, level_of(mode), name, mode, why);
	else
		judge_rest(r, name, o);
	judge_certificate(r, name, o);
	if (json_object_object_get_ex(o, "floor", &floor) && text_of(floor, "why"))
		say(r, WARNING, name, "floor", text_of(floor, "why"));
	/* the label is the same, however the volume was named */
	if (!rj_mountinfo_of_volume(text_of(o, "device"), label, sizeof(label), &dev))
		snprintf(label, sizeof(label), "%s", text_of(o, "device"));
	add_data(r, label, o, "lag_bytes", "B");
	add_data(r, label, o, "lag_seconds", "s");
	add_data(r, label, o, "put_p99_us", "us");
	if (json_object_object_get_ex(o, "fallback", &fallback))
		add_data(r, label, fallback, "backlog_bytes", "B");
}

static bool is_seen(struct report *r, const uint8_t uuid[RJ_UUID_BYTES])
{
	unsigned i;

	for (i = 0; i < r->seen && i < UUIDS_MAX; i++)
		if (!memcmp(r->uuids[i], uuid, RJ_UUID_BYTES))
			return true;
	return false;
}

/* NAME NULL: the volume is called by its device, and need not be served. */
static void ask(struct report *r, const char *name,
	const uint8_t uuid[RJ_UUID_BYTES])
{
	struct json_object *json;
	struct rj_error err;
	char text[RJ_UUID_TEXT];
	int rc;

	if (is_seen(r, uuid))
		return;
	json = dead_status(uuid);
	if (!json && !name && !rj_rundir_served(uuid))
		return;
	if (r->seen < UUIDS_MAX)
		memcpy(r->uuids[r->seen], uuid, RJ_UUID_BYTES);
	r->seen++;
	rc = json ? 0 : daemon_status(uuid, ASK_MS, &json, &err);
	if (rc) /* one that may not ask cannot tell */
		say(r, rc == -RJ_E_DENIED ? UNKNOWN : CRITICAL,
			name ? name : rj_uuid_text(uuid, text), err.msg, NULL);
	else if (json)
		judge(r, name, json);
	else
		say(r, UNKNOWN, name ? name : rj_uuid_text(uuid, text),
			"rjournald's answer is not JSON", NULL);
	if (!name && json)
		name = text_of(json, "device");
	judge_base(r, name ? name : rj_uuid_text(uuid, text), uuid, json);
	json_object_put(json);
}

static void look_at(struct report *r, const char *name, const char *volume)
{
	uint8_t uuid[RJ_UUID_BYTES];
	struct rj_error err;

	if (volume_uuid(volume, uuid, &err)) {
		r->seen++;
		say(r, UNKNOWN, name == volume ? NULL : name, err.msg, NULL);
	} else {
		ask(r, name, uuid);
	}
}

/* Each line of fstab that mounts an rj volume by itself at boot. */
static void look_at_fstab(struct report *r)
{
	FILE *f = setmntent("/etc/fstab", "r");
	struct mntent *m;
	char *device;

	while (f && (m = getmntent(f))) {
		if (strcmp(m->mnt_type, "rj") || hasmntopt(m, "noauto"))
			continue;
		device = blkid_evaluate_spec(m->mnt_fsname, NULL);
		look_at(r, m->mnt_dir, device ? device : m->mnt_fsname);
		free(device);
	}
	if (f)
		endmntent(f);
}

static void look_at_served(void *arg, const uint8_t uuid[RJ_UUID_BYTES])
{
	ask(arg, NULL, uuid);
}

int check_volumes(char *const *names, int count)
{
	struct report *r = calloc(1, sizeof(*r));
	int i, level = UNKNOWN;

	if (!r)
		goto out;
	for (i = 0; i < count; i++)
		look_at(r, names[i], names[i]);
	if (!count) {
		look_at_fstab(r);
		volumes_here(look_at_served, r);
	}
	if (!r->seen)
		say(r, UNKNOWN, "rjctl check",
			"no volume is served, and fstab has none of type rj",
			NULL);
	if (r->no_memory)
		goto out;
	level = r->level;
	printf("RJPROGS %s: ", level_names[level]);
	if (r->said.len)
		printf("%.*s", (int)r->said.len, (char *)r->said.data);
	else
		printf("%u volume%s", r->seen, r->seen == 1 ? "" : "s");
	if (r->data.len)
		printf(" |%.*s", (int)r->data.len, (char *)r->data.data);
	putchar('\n');
out:
	if (level == UNKNOWN && (!r || r->no_memory))
		puts("RJPROGS UNKNOWN: out of memory");
	if (r) {
		rj_buf_free(&r->said);
		rj_buf_free(&r->data);
	}
	free(r);
	return level;
}
