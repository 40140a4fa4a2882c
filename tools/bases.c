// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/bases.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/base/stored.h"
#include "log/hold.h"
#include "log/sealing.h"
#include "text/when.h"
#include "tools/json.h"

static void show(const struct rj_stored_seen *s)
{
	char time[RJ_WHEN_TEXT];

	printf("  base %" PRIu64 ": %" PRIu64 " bytes", s->number, s->bytes);
	if (!s->known) {
		printf(", %s\n", s->finished || s->begun ? "cannot be read (encrypted, or damaged)"
							 : "not finished");
		return;
	}
	printf(" of a volume of %" PRIu64 ", ", s->volume_bytes);
	if (s->finished)
		printf("made %s, whole at segment %" PRIu64,
			rj_when_seconds((int64_t)s->time, time), s->record.whole);
	else
		printf("begun %s, not finished",
			rj_when_seconds((int64_t)s->time, time));
	if (s->hold)
		printf(", hold %" PRIu64, s->hold);
	printf("\n");
}

static void add(const struct rj_stored_seen *s, struct json_object *all)
{
	struct json_object *o = json_object_new_object();

	json_object_array_add(all, o);
	add_u64(o, "base", s->number);
	add_u64(o, "bytes", s->bytes);
	add_bool(o, "finished", s->finished);
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

uint64_t bases_with_hold(struct rj_store *store, const struct rj_log_id *id, uint64_t number)
{
	struct rj_stored_seen s;
	struct rj_buf all = {0};
	uint64_t found = 0;
	size_t i;

	if (!list(store, id, &all, NULL))
		for (i = 0; i < all.len && !found; i += sizeof(s)) {
			memcpy(&s, all.data + i, sizeof(s));
			if (s.hold == number)
				found = s.number;
		}
	rj_buf_free(&all);
	return found;
}

/* The hold, too, if it is at this store. With DRY_RUN only look. */
static int remove_one(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_stored_seen *s, bool dry_run, bool *with_hold, struct rj_error *err)
{
	const struct rj_stored_base b = {.store = store, .id = *id, .number = s->number};
	struct rj_hold_seen hold = {.hold.number = s->hold};
	int rc = dry_run ? 0 : rj_stored_remove(&b, true, err);

	*with_hold = false;
	if (!rc && s->hold) {
		rc = dry_run ? rj_hold_look(store, id, 0, &hold, err)
			     : rj_hold_remove(store, id, s->hold, err);
		*with_hold = !rc;
	}
	return rc == -RJ_E_NOTFOUND ? 0 : rc;
}

int bases_remove(struct rj_store *store, const struct rj_log_id *id, uint64_t number,
	bool dry_run, struct base_removed *out, struct rj_error *err)
{
	struct rj_stored_seen s = {.number = 0};
	struct rj_buf all = {0};
	size_t i;
	int rc = list(store, id, &all, err);

	for (i = 0; !rc && s.number != number && i < all.len; i += sizeof(s))
		memcpy(&s, all.data + i, sizeof(s));
	rj_buf_free(&all);
	*out = (struct base_removed){.found = !rc && s.number == number};
	if (!out->found)
		return rc;
	out->hold = s.hold;
	return remove_one(store, id, &s, dry_run, &out->with_hold, err);
}

struct candidate {
	struct keep_item keep;
	struct rj_stored_seen seen;
};

/* The newest first. */
static int in_order(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->keep.time != y->keep.time)
		return x->keep.time < y->keep.time ? 1 : -1;
	return x->seen.number < y->seen.number ? 1 : -1;
}

static void show_kept(const struct candidate *c, bool dry_run, struct json_object *array)
{
	char time[RJ_WHEN_TEXT], text[KEEP_WHY_BYTES + 20];
	struct json_object *o;

	if (!array) {
		printf("  base %" PRIu64 ", %s: %s\n", c->seen.number,
			c->keep.time ? rj_when_seconds(c->keep.time, time) : "of no known time",
			keep_text(&c->keep, dry_run, text));
		return;
	}
	o = json_object_new_object();
	add_u64(o, "base", c->seen.number);
	keep_json(&c->keep, o);
	json_object_array_add(array, o);
}

static void judge(struct candidate *c, struct keep_item **items, size_t n,
	const struct keep_rules *rules)
{
	size_t i, complete = 0;

	qsort(c, n, sizeof(*c), in_order);
	for (i = 0; i < n; i++)
		if (c[i].keep.time)
			items[complete++] = &c[i].keep;
		else
			snprintf(c[i].keep.why, KEEP_WHY_BYTES, "%s",
				c[i].seen.finished ? "cannot be read" : "not finished");
	keep_choose(rules, items, complete);
}

int bases_keep(struct rj_store *store, const struct rj_log_id *id, const struct keep_rules *rules,
	bool dry_run, struct json_object *array, struct rj_error *err)
{
	struct keep_item **items = NULL;
	struct candidate *c = NULL;
	struct rj_buf all = {0};
	int rc = list(store, id, &all, err);
	size_t n = all.len / sizeof(c->seen), i;
	bool with_hold;

	if (!rc && n) {
		c = calloc(n, sizeof(*c));
		items = calloc(n, sizeof(struct keep_item *));
		if (!c || !items)
			rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	}
	for (i = 0; !rc && i < n; i++) {
		memcpy(&c[i].seen, all.data + i * sizeof(c->seen), sizeof(c->seen));
		if (c[i].seen.known && c[i].seen.finished)
			c[i].keep.time = (int64_t)c[i].seen.time;
	}
	if (!rc && n)
		judge(c, items, n, rules);
	for (i = 0; !rc && i < n; i++) {
		if (!c[i].keep.why[0] && !dry_run)
			rc = remove_one(store, id, &c[i].seen, false, &with_hold, err);
		if (rc == -RJ_E_REFUSED) { /* the next one is older */
			snprintf(c[i].keep.why, KEEP_WHY_BYTES, "too young for its store");
			rc = 0;
		}
		if (!rc)
			show_kept(&c[i], dry_run, array);
	}
	rj_buf_free(&all);
	free(items);
	free(c);
	return rc;
}
