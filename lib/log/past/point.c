// SPDX-License-Identifier: LGPL-2.1-or-later
#include "log/past/point.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/own.h"
#include "os/hostname.h"
#include "segment/digest.h"
#include "text/when.h"
#include "util/bytes.h"
#include "util/environ.h"
#include "util/error-class.h"

/* The name gives the number, so that the store itself keeps names unique. */
static int key_of(const struct rj_log_id *id, const char *name,
	struct rj_key *key, struct rj_error *err)
{
	uint8_t hash[RJ_SEG_HASH_BYTES];
	int rc;

	if (!rj_key_name_valid(name, strlen(name)))
		return rj_fail(err, RJ_E_INVAL,
			"\"%s\" is no name of a mark: 1 to 63 letters, digits, \".\", \"_\" and \"-\", the first a letter or digit",
			name);
	rc = rj_digest(name, strlen(name), NULL, 0, hash, err);
	if (rc)
		return rc;
	*key = rj_log_key(id, RJ_KEY_POINT, rj_get_le64(hash));
	if (!key->number)
		key->number = 1;
	return 0;
}

/* The mark at KEY. */
static int get(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_key *key, int retry_ms, struct rj_point *out,
	struct rj_error *err)
{
	struct rj_buf text = {0};
	struct rj_key own;
	struct rj_point p;
	int rc = rj_log_get_own(store, key, retry_ms, &text, err);

	if (!rc)
		rc = rj_point_decode(text.data, text.len, &p, err);
	if (!rc)
		rc = key_of(id, p.name, &own, err);
	if (!rc && (own.number != key->number ||
			   !rj_uuid_equal(p.journal_uuid, id->journal_uuid)))
		rc = rj_fail(err, RJ_E_CORRUPT, "the mark %s of another place", p.name);
	if (!rc)
		*out = p;
	rj_buf_free(&text);
	return rc;
}

int rj_point_find(struct rj_store *store, const struct rj_log_id *id,
	const char *name, int retry_ms, struct rj_point *out,
	struct rj_error *err)
{
	struct rj_key key;
	int rc = key_of(id, name, &key, err);

	if (rc)
		return rc;
	rc = get(store, id, &key, retry_ms, out, err);
	if (!rc && strcmp(out->name, name))
		rc = -RJ_E_NOTFOUND; /* of the same hash */
	if (rc == -RJ_E_NOTFOUND)
		return rj_fail(err, RJ_E_NOTFOUND,
			"%s: the log has no mark %s (rjbackup ls %s shows those that it has)",
			store->url, name, store->url);
	return rc ? rj_fail_prefix(err, "%s: mark %s", store->url, name) : 0;
}

static int exists(const struct rj_store *store, const struct rj_point *p,
	struct rj_error *err)
{
	char time[RJ_WHEN_TEXT];

	return rj_fail(err, RJ_E_EXISTS,
		"%s: the log has a mark %s already, at segment %llu, of %s: take another name",
		store->url, p->name, (unsigned long long)p->segment,
		rj_when_seconds(p->time, time));
}

int rj_point_check(struct rj_store *store, const struct rj_log_id *id,
	const char *name, struct rj_error *err)
{
	struct rj_point there;
	struct rj_key key;
	int rc = key_of(id, name, &key, err);

	if (rc)
		return rc;
	rc = get(store, id, &key, 0, &there, err);
	if (!rc)
		return exists(store, &there, err);
	return rc == -RJ_E_NOTFOUND ? 0
				    : rj_fail_prefix(err, "%s: mark %s", store->url, name);
}

int rj_point_put(struct rj_store *store, const struct rj_log_id *id,
	const char *name, uint64_t segment, const char *program,
	struct rj_point *out, struct rj_error *err)
{
	struct rj_point p = {.segment = segment, .host = "-"}, there;
	struct rj_buf text = {0};
	struct rj_key key;
	/* where a put replaces what is there, only this look finds it */
	int rc = rj_point_check(store, id, name, err);

	if (!rc)
		rc = key_of(id, name, &key, err);
	if (rc)
		return rc;
	memcpy(p.journal_uuid, id->journal_uuid, RJ_UUID_BYTES);
	snprintf(p.name, sizeof(p.name), "%s", name);
	if (!id->key) /* as in a claim */
		rj_host_name(p.host, sizeof(p.host));
	snprintf(p.program, sizeof(p.program), "%s", program);
	p.time = rj_realtime_ns() / 1000000000;
	rc = rj_point_encode(&p, &text)
		     ? rj_fail(err, RJ_E_NOMEM, "out of memory")
		     : rj_log_put_own(store, &key, &text, 0, err);
	rj_buf_free(&text);
	if (rc == -RJ_E_EXISTS && !get(store, id, &key, 0, &there, NULL))
		return exists(store, &there, err);
	if (rc)
		return rj_fail_prefix(err, "cannot put the mark %s", name);
	*out = p;
	return 0;
}

int rj_point_remove(struct rj_store *store, const struct rj_log_id *id,
	const char *name, struct rj_error *err)
{
	struct rj_key key;
	int rc = key_of(id, name, &key, err);

	return rc ? rc : rj_log_remove_own(store, &key, err);
}

static int by_segment(const void *a, const void *b)
{
	const struct rj_point *x = a, *y = b;

	if (x->segment == y->segment)
		return strcmp(x->name, y->name);
	return x->segment > y->segment ? 1 : -1;
}

int rj_point_list(struct rj_store *store, const struct rj_log_id *id,
	int retry_ms, struct rj_buf *out, unsigned *bad, struct rj_error *err)
{
	struct rj_key key = rj_log_key(id, RJ_KEY_POINT, 0);
	struct rj_buf found = {0};
	struct rj_point p;
	size_t i, before = out->len;
	int rc = rj_log_list_own(store, id, RJ_KEY_POINT, retry_ms, &found, err);

	*bad = 0;
	for (i = 0; !rc && i < found.len; i += sizeof(key.number)) {
		memcpy(&key.number, found.data + i, sizeof(key.number));
		rc = get(store, id, &key, retry_ms, &p, err);
		if (!rc && rj_buf_append(out, &p, sizeof(p)))
			rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
		else if (rc && !rj_code_transient(rc) && rc != -RJ_E_NOMEM) {
			*bad += rc != -RJ_E_NOTFOUND;
			rc = 0;
		}
	}
	rj_buf_free(&found);
	if (out->len > before)
		qsort(out->data + before, (out->len - before) / sizeof(p), sizeof(p),
			by_segment);
	return rc;
}

bool rj_point_gone(const struct rj_point *p, const struct rj_listing *l)
{
	return p->segment < l->last && !rj_listing_bytes(l, p->segment);
}
