// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/bases.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/claim-text.h"
#include "history/base/stored.h"
#include "log/hold.h"
#include "log/sealing.h"

static void show(const struct rj_stored_seen *s)
{
	char time[RJ_CLAIM_VALUE];

	printf("  base %" PRIu64 ": %" PRIu64 " bytes", s->number, s->bytes);
	if (!s->known) {
		printf(", %s\n", s->finished || s->begun ? "cannot be read (encrypted, or damaged)"
							 : "not finished");
		return;
	}
	printf(" of a volume of %" PRIu64 ", ", s->volume_bytes);
	if (s->finished)
		printf("made %s, whole at segment %" PRIu64,
			rj_claim_time_text((int64_t)s->time, time), s->record.whole);
	else
		printf("begun %s, not finished",
			rj_claim_time_text((int64_t)s->time, time));
	if (s->hold)
		printf(", hold %" PRIu64, s->hold);
	printf("\n");
}

static void add_u64(struct json_object *o, const char *key, uint64_t v)
{
	json_object_object_add(o, key, json_object_new_uint64(v));
}

static void add(const struct rj_stored_seen *s, struct json_object *all)
{
	struct json_object *o = json_object_new_object();

	json_object_array_add(all, o);
	add_u64(o, "base", s->number);
	add_u64(o, "bytes", s->bytes);
	json_object_object_add(o, "finished", json_object_new_boolean(s->finished));
	if (!s->known)
		return;
	add_u64(o, "volume_bytes", s->volume_bytes);
	add_u64(o, "time", s->time);
	add_u64(o, "from", s->record.from);
	if (s->finished)
		add_u64(o, "whole", s->record.whole);
	if (s->hold)
		add_u64(o, "hold", s->hold);
}

/* As ID's log, with the key that rj.conf names; without one encrypted bases are not known. */
static int list(struct rj_store *store, const struct rj_log_id *id, struct rj_buf *all,
	struct rj_error *err)
{
	struct rj_log_sealing sealing = {0};
	struct rj_log_id with_key = *id;
	int rc;

	if (!rj_log_sealing_load(store->url, NULL, NULL, &sealing, NULL))
		with_key.key = sealing.key;
	rc = rj_stored_list(store, &with_key, all, err);
	rj_log_sealing_free(&sealing);
	return rc;
}

int bases_show(struct rj_store *store, const struct rj_log_id *id, struct json_object *log,
	struct rj_error *err)
{
	struct json_object *array = log ? json_object_new_array() : NULL;
	struct rj_buf all = {0};
	struct rj_stored_seen s;
	size_t i;
	int rc = list(store, id, &all, err);

	if (log)
		json_object_object_add(log, "bases", array);
	for (i = 0; !rc && i < all.len; i += sizeof(s)) {
		memcpy(&s, all.data + i, sizeof(s));
		if (log)
			add(&s, array);
		else
			show(&s);
	}
	rj_buf_free(&all);
	return rc;
}

int bases_remove(struct rj_store *store, const struct rj_log_id *id, uint64_t number,
	bool dry_run, bool *found, struct rj_error *err)
{
	const struct rj_stored_base b = {.store = store, .id = *id, .number = number};
	struct rj_stored_seen s = {.number = 0};
	struct rj_buf all = {0};
	size_t i;
	int rc = list(store, id, &all, err);

	for (i = 0; !rc && s.number != number && i < all.len; i += sizeof(s))
		memcpy(&s, all.data + i, sizeof(s));
	rj_buf_free(&all);
	*found = !rc && s.number == number;
	if (rc || !*found || dry_run)
		return rc;
	rc = rj_stored_remove(&b, err);
	if (!rc && s.hold)
		rc = rj_hold_remove(store, id, s.hold, err);
	return rc == -RJ_E_NOTFOUND ? 0 : rc;
}
