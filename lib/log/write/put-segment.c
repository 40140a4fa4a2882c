// SPDX-License-Identifier: LGPL-2.1-or-later
/* Put a sealed segment. If its number is taken (the answer to an earlier put was lost, or
 * another writer took over), compare the stored bytes with our own. */
#include <string.h>

#include "log/listing.h"
#include "log/verify.h"
#include "log/write/writer.h"

static bool same(const struct rj_buf *b, const struct iovec *parts, int count)
{
	size_t at = 0, len;
	int i;

	for (i = 0; i < count; i++, at += len) {
		len = parts[i].iov_len;
		if (b->len - at < len ||
			memcmp(b->data + at, parts[i].iov_base, len))
			return false;
	}
	return at == b->len;
}

/* The number is taken: by our own bytes (an answer was lost), or by others'? */
static int read_back(struct rj_store *store, const struct rj_key *key,
	const struct iovec *parts, int count, struct rj_buf *back,
	struct rj_error *err)
{
	int rc;

	back->len = 0;
	rc = rj_store_get(store, key, RJ_SEG_MAX_BYTES, back, err);
	if (rc == -RJ_E_NOTFOUND)
		return rj_fail(err, RJ_E_PROTOCOL,
			"%s: segment %llu: the store says that it exists, and "
			"then that it does not",
			store->url, (unsigned long long)key->number);
	if (rc)
		return rc;
	if (same(back, parts, count))
		return 0;
	return rj_fail(err, RJ_E_EXISTS, "another segment has that number");
}

int rj_log_put_parts(struct rj_store *store, const struct rj_log_id *id,
	uint64_t sequence, const struct iovec *parts, int count,
	struct rj_buf *back, struct rj_error *err)
{
	struct rj_key key = rj_log_key(id, RJ_KEY_LOG, sequence);
	int rc;

	rc = rj_store_put_parts(store, &key, parts, count, err);
	if (rc == -RJ_E_EXISTS)
		rc = read_back(store, &key, parts, count, back, err);
	if (rc && rc != -RJ_E_EXISTS)
		rj_log_fail_store(store, "cannot append segment", sequence, err);
	return rc;
}

/* Another's bytes, in BACK, stand where ours should: whose? */
static int taken_over(struct rj_store *store, const struct rj_log_id *id,
	uint64_t sequence, uint64_t epoch, const struct rj_buf *back,
	struct rj_error *err)
{
	struct rj_segment seg = {0};
	struct rj_verify v;
	int rc;

	rj_verify_start(&v, store->url, id, sequence);
	rc = rj_verify_next(&v, back->data, back->len, &seg, err);
	if (!rc && seg.header.epoch > epoch)
		rc = rj_fail(err, RJ_E_FENCED,
			"%s: segment %llu: another writer took over with epoch "
			"%llu (ours was %llu)",
			store->url, (unsigned long long)sequence,
			(unsigned long long)seg.header.epoch,
			(unsigned long long)epoch);
	else if (!rc)
		rc = rj_fail(err, RJ_E_FENCED,
			"%s: segment %llu: epoch %llu wrote it where epoch %llu "
			"was to write: this log has two writers",
			store->url, (unsigned long long)sequence,
			(unsigned long long)seg.header.epoch,
			(unsigned long long)epoch);
	rj_segment_release(&seg);
	return rc;
}

int rj_log_put_sealed(struct rj_store *store, const struct rj_log_id *id,
	uint64_t sequence, uint64_t epoch, const struct iovec *parts, int count,
	struct rj_buf *back, bool *taken, struct rj_error *err)
{
	struct rj_error unseen = {0};
	bool over;
	int rc;

	if (!err)
		err = &unseen;
	rc = rj_log_put_parts(store, id, sequence, parts, count, back, err);
	/* in mode B it is the store that says so */
	over = rc == -RJ_E_EXISTS || rc == -RJ_E_FENCED;
	if (rc == -RJ_E_EXISTS)
		rc = taken_over(store, id, sequence, epoch, back, err);
	if (taken)
		*taken = over;
	return rc;
}
