// SPDX-License-Identifier: GPL-2.0-or-later
#include "at-store.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "kept.h"
#include "log/past/point.h"
#include "tools/bases.h"
#include "tools/drill-note.h"
#include "tools/holds.h"
#include "tools/json.h"

struct logs {
	const struct options *o;
	struct json_object *all; /* NULL: print text */
	struct rj_store *store;
	struct rj_log_id id; /* of one log after the other */
	uint64_t found;      /* expire: holds */
};

static int take_uuid(void *arg, const uint8_t uuid[RJ_UUID_BYTES])
{
	return rj_buf_append(arg, uuid, RJ_UUID_BYTES);
}

/* FN for each log, also after one that fails; ERR tells of the first failure. */
static int each_log(struct logs *l,
	int (*fn)(struct logs *l, struct rj_error *err), struct rj_error *err)
{
	struct rj_buf uuids = {0};
	size_t i;
	int one, rc = rj_store_open(l->o->url, NULL, &l->store, err);

	if (!rc)
		rc = rj_store_list_journals(l->store, take_uuid, &uuids, err);
	if (!rc && !uuids.len && !l->all)
		printf("%s: there is no log\n", l->store->url);
	for (i = 0; i < uuids.len; i += RJ_UUID_BYTES) {
		memcpy(l->id.journal_uuid, uuids.data + i, RJ_UUID_BYTES);
		one = fn(l, rc ? NULL : err);
		rc = rc ? rc : one;
	}
	rj_buf_free(&uuids);
	rj_store_close(l->store);
	return rc;
}

static int ls_log(struct logs *l, struct rj_error *err)
{
	struct rj_listing segments = {0};
	struct kept kept = {0};
	struct json_object *log = l->all ? json_object_new_object() : NULL;
	char uuid[RJ_UUID_TEXT];
	uint64_t bytes;
	int rc = kept_look(l->store, &l->id, 0, &segments, &kept, err);

	rj_uuid_text(l->id.journal_uuid, uuid);
	bytes = rj_hold_bytes(&segments, 0, UINT64_MAX);
	if (log) {
		json_object_array_add(l->all, log);
		add_text(log, "journal", uuid);
		add_u64(log, "first", segments.first);
		add_u64(log, "last", segments.last);
		add_u64(log, "bytes", bytes);
	} else if (!rc || segments.last) {
		printf("%s: log %s, segments %" PRIu64 " to %" PRIu64 ", %" PRIu64 " bytes\n",
			l->store->url, uuid, segments.first, segments.last,
			bytes);
	}
	if (!rc || kept.needed)
		holds_show(&kept.holds, &segments, kept.needed, !log, log);
	if (!rc) {
		kept_show_log(&kept, log);
		kept_show_rate(&kept, log);
	}
	kept_free(&kept);
	if (!rc)
		rc = marks_show(l->store, &l->id, &segments, log, err);
	if (!rc)
		rc = bases_show(l->store, &l->id, log, err);
	rj_listing_free(&segments);
	return rc;
}

static int expire_base(struct logs *l, struct rj_error *err)
{
	uint64_t number = l->o->base_number;
	struct base_removed removed;
	struct json_object *o;
	int rc = bases_remove(l->store, &l->id, number, l->o->dry_run, &removed, err);

	if (rc || !removed.found)
		return rc;
	l->found++;
	if (!l->all) {
		printf("%s: base %" PRIu64 "%s: %s", l->store->url, number,
			removed.with_hold ? ", with its hold" : "",
			l->o->dry_run ? "would be removed" : "removed");
		if (removed.hold && !removed.with_hold)
			printf("; its hold %" PRIu64 " is not at this store", removed.hold);
		printf("\n");
		return 0;
	}
	o = json_object_new_object();
	add_u64(o, "base", number);
	json_object_array_add(l->all, o);
	return 0;
}

/* The base that S was put for, as far as that is known here: "; it was for ...". */
static const char *what_for(const struct logs *l, const struct rj_hold_seen *s,
	char base[PATH_MAX], char *out, size_t size)
{
	bool dry = l->o->dry_run;
	uint64_t number = 0;

	*out = *base = 0;
	if (!drill_note_forget_hold(s->hold.number, dry, base))
		number = bases_with_hold(l->store, &l->id, s->hold.number);
	if (number)
		snprintf(base, PATH_MAX, "%s#%" PRIu64, l->store->url, number);
	if (*base)
		snprintf(out, size,
			"; it %s for the base %s, which only retain or an older hold keeps %s",
			dry ? "is" : "was", base, dry ? "then" : "now");
	return out;
}

static int expire_one(
	struct logs *l, const struct rj_hold_seen *s, struct rj_error *err)
{
	char text[256], base[PATH_MAX], why[PATH_MAX + 128];
	struct json_object *o;
	int rc = 0;

	if (l->o->hold ? s->hold.number != l->o->hold
		       : s->bad || !rj_hold_expired(&s->hold))
		return 0;
	if (!l->o->dry_run)
		rc = rj_hold_remove(l->store, &l->id, s->hold.number, err);
	if (rc == -RJ_E_NOTFOUND) /* another process removed it */
		rc = 0;
	if (rc)
		return rc;
	l->found++;
	what_for(l, s, base, why, sizeof(why));
	if (!l->all) {
		printf("%s: %s: %s%s\n", l->store->url, hold_text(s, text),
			l->o->dry_run ? "would be removed" : "removed", why);
		return 0;
	}
	o = json_object_new_object();
	add_u64(o, "hold", s->hold.number);
	if (*base)
		add_text(o, "base", base);
	add_text(o, "journal", rj_uuid_text(l->id.journal_uuid, text));
	json_object_array_add(l->all, o);
	return 0;
}

static int expire_mark(
	struct logs *l, const struct rj_point *p, struct rj_error *err)
{
	struct json_object *o;
	char uuid[RJ_UUID_TEXT];
	int rc = 0;

	if (!l->o->dry_run)
		rc = rj_point_remove(l->store, &l->id, p->name, err);
	if (rc && rc != -RJ_E_NOTFOUND) /* else another process removed it */
		return rc;
	l->found++;
	if (!l->all) {
		printf("%s: mark %s at segment %" PRIu64 ", which is gone: %s\n",
			l->store->url, p->name, p->segment,
			l->o->dry_run ? "would be removed" : "removed");
		return 0;
	}
	o = json_object_new_object();
	add_text(o, "mark", p->name);
	add_text(o, "journal", rj_uuid_text(l->id.journal_uuid, uuid));
	json_object_array_add(l->all, o);
	return 0;
}

/* The marks that name what the log no longer has, by two lists: one of a log that is being
 * written may lack a segment that is there. */
static int expire_marks(struct logs *l, struct rj_error *err)
{
	struct rj_listing segments = {0}, again = {0};
	struct rj_buf found = {0};
	struct rj_point p;
	unsigned bad;
	size_t i;
	int rc = rj_point_list(l->store, &l->id, 0, &found, &bad, err);

	if (!rc && found.len)
		rc = rj_listing_log(l->store, &l->id, 0, 0, &segments, err);
	if (!rc && found.len)
		rc = rj_listing_log(l->store, &l->id, 0, 0, &again, err);
	for (i = 0; !rc && i < found.len; i += sizeof(p)) {
		memcpy(&p, found.data + i, sizeof(p));
		if (rj_point_gone(&p, &segments) && rj_point_gone(&p, &again))
			rc = expire_mark(l, &p, err);
	}
	rj_listing_free(&segments);
	rj_listing_free(&again);
	rj_buf_free(&found);
	return rc;
}

static int expire_log(struct logs *l, struct rj_error *err)
{
	struct rj_buf holds = {0};
	struct rj_hold_seen s;
	size_t i;
	int rc;

	struct keep_rules rules;

	if (l->o->keep && keep_parse(l->o->keep, &rules))
		return bases_keep(l->store, &l->id, &rules, l->o->dry_run, l->all, err);
	if (l->o->base_number)
		return expire_base(l, err);
	rc = rj_hold_list(l->store, &l->id, 0, &holds, err);
	for (i = 0; !rc && i < holds.len; i += sizeof(s)) {
		memcpy(&s, holds.data + i, sizeof(s));
		rc = expire_one(l, &s, err);
	}
	rj_buf_free(&holds);
	return rc || l->o->hold ? rc : expire_marks(l, err);
}

static struct json_object *array_in(struct json_object *top, const char *key)
{
	struct json_object *all = top ? json_object_new_array() : NULL;

	if (top)
		json_object_object_add(top, key, all);
	return all;
}

int holds_ls(const struct options *o, struct json_object *top,
	struct rj_error *err)
{
	struct logs l = {.o = o, .all = array_in(top, "logs")};

	return each_log(&l, ls_log, err);
}

int holds_expire(const struct options *o, struct json_object *top,
	struct rj_error *err)
{
	struct logs l = {.o = o, .all = array_in(top, o->keep ? "bases" : "removed")};
	int rc = each_log(&l, expire_log, err);

	if (!rc && o->hold && !l.found)
		rc = rj_fail(err, RJ_E_NOTFOUND, "%s: there is no hold %" PRIu64,
			o->url, o->hold);
	else if (!rc && o->base_number && !l.found)
		rc = rj_fail(err, RJ_E_NOTFOUND, "%s: there is no base %" PRIu64,
			o->url, o->base_number);
	else if (!rc && !l.found && !top && !o->keep)
		printf("%s: no hold has expired, and no mark is gone\n", o->url);
	return rc;
}
