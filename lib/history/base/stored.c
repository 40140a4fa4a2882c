// SPDX-License-Identifier: LGPL-2.1-or-later
/* Seal, put, get and open the objects of a base. */
#include "history/base/stored.h"

#include <stdlib.h>
#include <string.h>

#include "log/listing.h"
#include "log/own.h"
#include "log/retry.h"
#include "os/fileio.h"
#include "segment/digest.h"
#include "util/bytes.h"
#include "util/environ.h"

#define PLACE_MANIFEST 0u
#define PLACE_BEGUN    (RJ_BASE_PLACES - 1)
#define TRY_MS	       60000 /* how long a store that does not answer is tried */

static struct rj_key key_of(const struct rj_stored_base *b, uint64_t place)
{
	return rj_log_key(&b->id, RJ_KEY_BASE, b->number * RJ_BASE_PLACES + place);
}

/*
 * What stands for the journal's UUID in the headers: of this base and no other, and no
 * journal's, so that its objects are no segments of the log, and their keys are others.
 */
static int domain(const struct rj_stored_base *b, uint8_t out[RJ_UUID_BYTES],
	struct rj_error *err)
{
	static const char label[] = "rjprogs base v1";
	uint8_t hash[RJ_SEG_HASH_BYTES], in[RJ_UUID_BYTES + 8];
	int rc;

	memcpy(in, b->id.journal_uuid, RJ_UUID_BYTES);
	rj_put_le64(in + RJ_UUID_BYTES, b->number);
	rc = rj_digest(label, sizeof(label) - 1, in, sizeof(in), hash, err);
	memcpy(out, hash, RJ_UUID_BYTES);
	return rc;
}

/* A nonce for each object: whatever is sealed again, no key sees a number twice. */
static int seal(const struct rj_stored_base *b, uint64_t place, struct rj_seg_draft *d,
	struct rj_buf *out, struct rj_error *err)
{
	uint8_t chain[RJ_SEG_HASH_BYTES];
	int rc;

	d->header.kind = RJ_SEG_DATA;
	d->header.sequence = d->header.oldest = b->number * RJ_BASE_PLACES + place;
	d->header.epoch = 1;
	d->header.time_ns = (uint64_t)rj_realtime_ns();
	memcpy(d->header.volume_uuid, b->id.volume_uuid, RJ_UUID_BYTES);
	rc = domain(b, d->header.journal_uuid, err);
	if (!rc && rj_random_bytes(d->header.nonce, sizeof(d->header.nonce)))
		rc = rj_fail(err, RJ_E_IO, "cannot get random bytes");
	d->key = b->id.key;
	d->compress = true;
	return rc ? rc : rj_segment_seal(d, out, chain, err);
}

static int get_bytes(const struct rj_stored_base *b, const struct rj_key *key, size_t max,
	struct rj_buf *out, struct rj_error *err)
{
	struct rj_retry retry;
	int rc;

	rj_retry_start(&retry, TRY_MS);
	do {
		out->len = 0;
		rc = rj_store_get(b->store, key, max, out, err);
	} while (rj_retry_again(&retry, rc));
	return rc;
}

/* RJ_E_EXISTS: there is an object of that name. */
static int look_for(
	const struct rj_stored_base *b, const struct rj_key *key, struct rj_error *err)
{
	struct rj_buf begin = {0};
	char text[RJ_KEY_TEXT];
	int rc = get_bytes(b, key, 1, &begin, err);

	rj_buf_free(&begin);
	if (rc == -RJ_E_NOTFOUND)
		return 0;
	if (rc && rc != -RJ_E_CORRUPT) /* it is longer */
		return rc;
	return rj_fail(err, RJ_E_EXISTS, "%s: %s is there already", b->store->url,
		rj_key_text(key, text));
}

/*
 * In mode B a put replaces what is there, so look first. What comes there in between is another
 * process's, which goes on with the same base: ours was read before it, so before that base is
 * whole, and is as good.
 */
static int put(const struct rj_stored_base *b, uint64_t place, const struct rj_buf *object,
	struct rj_error *err)
{
	struct rj_key key = key_of(b, place);
	int rc = b->store->caps.put_new ? 0 : look_for(b, &key, err);

	if (!rc)
		rc = rj_log_put_own(b->store, &key, object, TRY_MS, err);
	if (rc == -RJ_E_INVAL)
		rj_fail_suffix(err, "; an rjserver that knows no bases has to be updated");
	return rc;
}

int rj_stored_put_chunk(const struct rj_stored_base *b, uint64_t i, const uint8_t *data,
	uint32_t block_size, const struct rj_seg_run *runs, uint32_t count,
	struct rj_error *err)
{
	struct rj_seg_draft d = {
		.body = {.block_size = block_size,
			.journal_blocks = RJ_BASE_CHUNK_BYTES / block_size},
		.runs = runs,
		.run_count = count,
		.ring = data,
	};
	struct rj_buf object = {0};
	int rc = seal(b, 1 + i, &d, &object, err);

	if (!rc)
		rc = put(b, 1 + i, &object, err);
	rj_buf_free(&object);
	return rc == -RJ_E_EXISTS ? 0 : rc;
}

int rj_stored_put_manifest(const struct rj_stored_base *b, bool begun,
	const struct rj_base_manifest *m, struct rj_error *err)
{
	struct rj_buf bytes = {0}, object = {0};
	struct rj_seg_run run = {0};
	struct rj_seg_draft d = {.body.block_size = RJ_BASE_PAGE, .runs = &run, .run_count = 1};
	uint64_t place = begun ? PLACE_BEGUN : PLACE_MANIFEST;
	int rc = rj_base_manifest_encode(m, &bytes, err);

	d.ring = bytes.data;
	d.body.journal_blocks = run.count = (uint32_t)(bytes.len / RJ_BASE_PAGE);
	if (!rc)
		rc = seal(b, place, &d, &object, err);
	if (!rc)
		rc = put(b, place, &object, err);
	rj_buf_free(&bytes);
	rj_buf_free(&object);
	return rc;
}

/* Get the object at PLACE into RAW, and open it: S points into RAW. */
static int get(const struct rj_stored_base *b, uint64_t place, struct rj_buf *raw,
	struct rj_segment *s, struct rj_error *err)
{
	struct rj_key key = key_of(b, place);
	uint8_t uuid[RJ_UUID_BYTES], none[RJ_UUID_BYTES] = {0};
	char text[RJ_KEY_TEXT];
	int rc = get_bytes(b, &key, RJ_SEG_MAX_BYTES, raw, err);

	if (!rc)
		rc = domain(b, uuid, err);
	if (rc)
		return rc;
	rc = rj_segment_open_with(raw->data, raw->len, b->id.key, s, err);
	if (rc)
		return rj_fail_prefix(err, "%s: %s", b->store->url, rj_key_text(&key, text));
	if (s->header.sequence == key.number && rj_uuid_equal(s->header.journal_uuid, uuid) &&
		(!memcmp(b->id.volume_uuid, none, sizeof(none)) ||
			rj_uuid_equal(s->header.volume_uuid, b->id.volume_uuid)))
		return 0;
	rj_segment_release(s);
	return rj_fail(err, RJ_E_CORRUPT, "%s: %s is another object, under this name",
		b->store->url, rj_key_text(&key, text));
}

int rj_stored_get_manifest(struct rj_stored_base *b, bool begun, struct rj_base_manifest *m,
	struct rj_error *err)
{
	struct rj_buf raw = {0};
	struct rj_segment s;
	int rc = get(b, begun ? PLACE_BEGUN : PLACE_MANIFEST, &raw, &s, err);

	if (!rc) {
		rc = rj_base_manifest_decode(
			s.blocks, (size_t)s.block_count * s.body.block_size, m, err);
		if (rc)
			rj_fail_prefix(err, "%s", b->store->url);
		else
			memcpy(b->id.volume_uuid, s.header.volume_uuid, RJ_UUID_BYTES);
		rj_segment_release(&s);
	}
	rj_buf_free(&raw);
	return rc;
}

static int write_chunk(const struct rj_base_manifest *m, uint64_t i,
	const struct rj_segment *s, int fd, const char *to, struct rj_error *err)
{
	uint64_t first = i * (RJ_BASE_CHUNK_BYTES / m->block_size), block;
	const uint8_t *p = s->blocks;
	size_t bytes;
	uint32_t r;
	int rc = 0;

	if (s->body.block_size != m->block_size ||
		s->body.journal_blocks != RJ_BASE_CHUNK_BYTES / m->block_size)
		return rj_fail(err, RJ_E_CORRUPT, "chunk %llu of the base has other blocks",
			(unsigned long long)i);
	for (r = 0; !rc && r < s->body.run_count; r++, p += bytes) {
		block = first + s->runs[r].block;
		bytes = (size_t)s->runs[r].count * m->block_size;
		if (block + s->runs[r].count > m->blocks)
			return rj_fail(err, RJ_E_CORRUPT,
				"chunk %llu of the base reaches past the volume's end",
				(unsigned long long)i);
		rc = rj_pwrite_all(fd, p, bytes, block * m->block_size, to, err);
	}
	return rc;
}

int rj_stored_fetch(const struct rj_stored_base *b, const struct rj_base_manifest *m, int fd,
	const char *to, int (*progress)(void *arg, uint64_t done, uint64_t total), void *arg,
	struct rj_error *err)
{
	uint64_t total = m->blocks * m->block_size, count = rj_base_chunks(total), i;
	struct rj_buf raw = {0};
	struct rj_segment s;
	int rc = 0;

	for (i = 0; !rc && i < count; i++) {
		if (!rj_base_has_chunk(m, i))
			continue;
		rc = get(b, 1 + i, &raw, &s, err);
		if (rc == -RJ_E_NOTFOUND)
			rc = rj_fail(err, RJ_E_CORRUPT,
				"%s: chunk %llu of base %llu is missing", b->store->url,
				(unsigned long long)i, (unsigned long long)b->number);
		if (rc)
			break;
		rc = write_chunk(m, i, &s, fd, to, err);
		rj_segment_release(&s);
		if (!rc && progress && progress(arg, (i + 1) * RJ_BASE_CHUNK_BYTES, total))
			rc = rj_fail(err, RJ_E_CANCELLED, "%s: stopped", to);
	}
	rj_buf_free(&raw);
	return rc;
}
