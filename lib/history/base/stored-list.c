// SPDX-License-Identifier: LGPL-2.1-or-later
/* List and remove bases at a store. */
#include <string.h>

#include "history/base/stored.h"
#include "log/listing.h"
#include "log/own.h"
#include "log/retry.h"

struct entry {
	uint64_t number, bytes;
};

static int note(void *arg, uint64_t number, uint64_t bytes)
{
	struct entry e = {number, bytes};

	return rj_buf_append(arg, &e, sizeof(e));
}

/* All objects of the bases of ID, ascending, as struct entry. */
static int list_objects(struct rj_store *store, const struct rj_log_id *id, struct rj_buf *out,
	struct rj_error *err)
{
	struct rj_key dir = rj_log_key(id, RJ_KEY_BASE, 0);
	struct rj_retry retry;
	int rc;

	rj_retry_start(&retry, 0);
	do {
		out->len = 0;
		rc = rj_store_list(store, &dir, 0, note, out, err);
		if (rc == -RJ_E_NOMEM)
			rj_fail(err, RJ_E_NOMEM, "out of memory for a listing");
	} while (rj_retry_again(&retry, rc));
	return rc;
}

static void add(struct rj_stored_seen *s, const struct entry *e)
{
	uint64_t place = e->number % RJ_BASE_PLACES;

	s->objects++;
	s->bytes += e->bytes;
	s->finished |= !place;
	s->begun |= place == RJ_BASE_PLACES - 1;
}

/* What cannot be read now, or at all, is not known. */
static void look(struct rj_store *store, const struct rj_log_id *id, struct rj_stored_seen *s)
{
	struct rj_stored_base b = {.store = store, .id = *id, .number = s->number};
	struct rj_base_manifest m;

	if (!s->finished && !s->begun)
		return;
	if (rj_stored_get_manifest(&b, !s->finished, &m, NULL))
		return;
	s->known = true;
	s->record = m.record;
	s->hold = m.hold;
	s->time = m.time;
	s->volume_bytes = m.blocks * m.block_size;
	rj_base_manifest_free(&m);
}

int rj_stored_list(struct rj_store *store, const struct rj_log_id *id, struct rj_buf *out,
	struct rj_error *err)
{
	struct rj_buf objects = {0};
	const struct entry *e;
	struct rj_stored_seen s = {0};
	size_t i, count;
	int rc = list_objects(store, id, &objects, err);

	count = objects.len / sizeof(*e);
	e = (const void *)objects.data;
	for (i = 0; !rc && i < count; i++) {
		s.number = e[i].number / RJ_BASE_PLACES;
		add(&s, e + i);
		if (i + 1 < count && e[i + 1].number / RJ_BASE_PLACES == s.number)
			continue;
		look(store, id, &s);
		if (rj_buf_append(out, &s, sizeof(s)))
			rc = rj_fail(err, RJ_E_NOMEM, "out of memory for a listing");
		memset(&s, 0, sizeof(s));
	}
	rj_buf_free(&objects);
	return rc;
}

int rj_stored_remove(const struct rj_stored_base *b, bool finished, struct rj_error *err)
{
	struct rj_buf objects = {0};
	const struct entry *e;
	bool found = false;
	struct rj_key key;
	size_t i;
	int rc = list_objects(b->store, &b->id, &objects, err);

	/* ascending: the manifest is the first, the note that it was begun the last */
	e = (const void *)objects.data;
	for (i = 0; !rc && i < objects.len / sizeof(*e); i++) {
		if (e[i].number / RJ_BASE_PLACES != b->number)
			continue;
		found = true;
		if (!finished && !(e[i].number % RJ_BASE_PLACES)) {
			rc = rj_fail(err, RJ_E_EXISTS, "%s: base %llu is finished", b->store->url,
				(unsigned long long)b->number);
			break;
		}
		key = rj_log_key(&b->id, RJ_KEY_BASE, e[i].number);
		rc = rj_log_remove_own(b->store, &key, err);
		if (rc == -RJ_E_NOTFOUND) /* another process removed it */
			rc = 0;
	}
	rj_buf_free(&objects);
	if (!rc && !found)
		rc = rj_fail(err, RJ_E_NOTFOUND, "%s: there is no base %llu", b->store->url,
			(unsigned long long)b->number);
	return rc;
}
