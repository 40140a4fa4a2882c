// SPDX-License-Identifier: LGPL-2.1-or-later
/* Verify a segment's checksum or AES-GCM tag, then decrypt, decompress and decode it. */
#include "segment/segment.h"

#include <stdlib.h>
#include <string.h>

#include "segment/aead.h"
#include "segment/checksum.h"
#include "segment/digest.h"
#include "segment/pack.h"
#include "util/bytes.h"

/* The seal of a segment in plain of format VERSION, over LEN bytes DATA. */
static int compute_seal(const uint8_t *data, size_t len, uint32_t version,
	uint8_t out[RJ_SEG_HASH_BYTES], struct rj_error *err)
{
	uint8_t header[RJ_SEG_HEADER_BYTES];

	memcpy(header, data, sizeof(header));
	memset(header + RJ_SEG_SEAL_OFFSET, 0, RJ_SEG_HASH_BYTES);
	rj_put_le32(header + RJ_SEG_VERSION_OFFSET, version);
	return (version == 1 ? rj_digest : rj_checksum)(header, sizeof(header),
		data + sizeof(header), len - sizeof(header), out, err);
}

static bool seal_is(const uint8_t *data, const uint8_t *seal)
{
	return !memcmp(data + RJ_SEG_SEAL_OFFSET, seal, RJ_SEG_HASH_BYTES);
}

/* RJ_E_CORRUPT: DATA's seal is not that of format VERSION. */
static int check_plain_seal(const uint8_t *data, size_t len, uint32_t version,
	struct rj_error *err)
{
	uint8_t seal[RJ_SEG_HASH_BYTES];
	int rc = compute_seal(data, len, version, seal, err);

	if (!rc && !seal_is(data, seal))
		rc = rj_fail(err, RJ_E_CORRUPT, "its checksum does not match");
	return rc;
}

/*
 * The header asks for something that this build does not know. Damage must
 * not pass for "written by a newer version": the seal that a known version would have
 * tells the two apart, where the segment is not encrypted. ERR holds the UNSUPPORTED.
 */
static int judge_unknown(const uint8_t *data, size_t len, struct rj_error *err)
{
	uint32_t version = rj_get_le32(data + RJ_SEG_VERSION_OFFSET), v;
	static const uint8_t none[RJ_SEG_HASH_BYTES];
	int rc;

	/* the one kind of object that has no seal */
	if (rj_get_le32(data + RJ_SEG_KIND_OFFSET) == RJ_SEG_BRIDGE &&
		seal_is(data, none))
		return -RJ_E_UNSUPPORTED;
	if (version <= RJ_SEG_VERSION) {
		rc = check_plain_seal(data, len, version, err);
		return rc ? rc : -RJ_E_UNSUPPORTED;
	}
	for (v = 1; v <= RJ_SEG_VERSION; v++) {
		rc = check_plain_seal(data, len, v, NULL);
		if (!rc)
			return rj_fail(err, RJ_E_CORRUPT,
				"its version field was overwritten");
	}
	return -RJ_E_UNSUPPORTED;
}

static int check_header(const uint8_t *data, size_t len, struct rj_seghdr *h,
	struct rj_error *err)
{
	struct rj_error unknown;
	int rc;

	if (len < RJ_SEG_HEADER_BYTES)
		return rj_fail(err, RJ_E_CORRUPT,
			"it is only %zu bytes long, shorter than a header",
			len);
	rc = rj_seghdr_decode(data, h, &unknown);
	if (rc == -RJ_E_UNSUPPORTED)
		rc = judge_unknown(data, len, &unknown);
	if (rc) {
		if (err)
			*err = unknown;
		return rc;
	}
	if (len - RJ_SEG_HEADER_BYTES != h->stored_bytes)
		return rj_fail(err, RJ_E_CORRUPT,
			"it is %zu bytes long, its header says %llu", len,
			(unsigned long long)h->stored_bytes +
				RJ_SEG_HEADER_BYTES);
	return 0;
}

/* An encrypted segment that KEY does not open by its fingerprint: another key,
 * or the fingerprint itself was damaged? */
static int judge_fingerprint(const uint8_t *data, const struct rj_seghdr *h,
	const struct rj_sealkey *key, uint8_t *scratch, struct rj_error *err)
{
	char theirs[RJ_SEALKEY_FINGERPRINT_TEXT], ours[RJ_SEALKEY_FINGERPRINT_TEXT];
	uint8_t header[RJ_SEG_HEADER_BYTES];
	struct rj_seghdr mended = *h;

	memcpy(mended.key_fingerprint, rj_sealkey_fingerprint(key),
		sizeof(mended.key_fingerprint));
	rj_seghdr_encode(&mended, header);
	if (!rj_aead_open(key, &mended, header, data + RJ_SEG_HEADER_BYTES,
		    h->stored_bytes, scratch, h->seal, NULL))
		return rj_fail(err, RJ_E_CORRUPT,
			"its key fingerprint was overwritten");
	rj_sealkey_fingerprint_text(h->key_fingerprint, theirs);
	rj_sealkey_fingerprint_text(rj_sealkey_fingerprint(key), ours);
	return rj_fail(err, RJ_E_KEY,
		"it is encrypted with the key %s, the key given is %s", theirs,
		ours);
}

/* Decrypt the body of DATA into SEG->own. */
static int decrypt(const uint8_t *data, const struct rj_sealkey *key,
	struct rj_segment *seg, struct rj_error *err)
{
	static const uint8_t zeros[RJ_SEG_HASH_BYTES - RJ_AEAD_TAG_BYTES];
	const struct rj_seghdr *h = &seg->header;
	char theirs[RJ_SEALKEY_FINGERPRINT_TEXT];

	if (!key) {
		rj_sealkey_fingerprint_text(h->key_fingerprint, theirs);
		return rj_fail(err, RJ_E_KEY,
			"it is encrypted with the key %s; name its file "
			"(keyfile in rj.conf)",
			theirs);
	}
	seg->own = malloc(h->stored_bytes ? h->stored_bytes : 1);
	if (!seg->own)
		return rj_fail(err, RJ_E_NOMEM, "out of memory to decrypt");
	if (memcmp(h->seal + RJ_AEAD_TAG_BYTES, zeros, sizeof(zeros)) != 0)
		return rj_fail(err, RJ_E_CORRUPT,
			"its AES-GCM tag is longer than one");
	if (memcmp(h->key_fingerprint, rj_sealkey_fingerprint(key),
		    sizeof(h->key_fingerprint)) != 0)
		return judge_fingerprint(data, h, key, seg->own, err);
	return rj_aead_open(key, h, data, data + RJ_SEG_HEADER_BYTES,
		h->stored_bytes, seg->own, h->seal, err);
}

/* Check the seal; BODY gets the stored body in plain. */
static int check_seal(const uint8_t *data, size_t len, const struct rj_sealkey *key,
	struct rj_segment *seg, const uint8_t **body, struct rj_error *err)
{
	int rc;

	*body = data + RJ_SEG_HEADER_BYTES;
	if (seg->header.flags & RJ_SEG_F_AESGCM) {
		rc = decrypt(data, key, seg, err);
		*body = seg->own;
		return rc;
	}
	rc = check_plain_seal(data, len, seg->header.version, err);
	if (rc)
		return rc;
	if (key)
		return rj_fail(err, RJ_E_CORRUPT,
			"it is not encrypted, and this volume's log is");
	return 0;
}

/* Expand BODY, if it is compressed, into SEG->own. */
static int expand(
	struct rj_segment *seg, const uint8_t **body, struct rj_error *err)
{
	const struct rj_seghdr *h = &seg->header;
	uint8_t *plain;
	int rc;

	if (!(h->flags & RJ_SEG_F_ZSTD))
		return 0;
	/* the header's ranges bound it: RJ_SEG_MAX_BYTES */
	plain = malloc(h->raw_bytes);
	if (!plain)
		return rj_fail(err, RJ_E_NOMEM, "out of memory to expand");
	rc = rj_unpack(*body, h->stored_bytes, plain, h->raw_bytes, err);
	free(seg->own);
	*body = seg->own = plain;
	return rc;
}

static int bad_body(struct rj_error *err, const char *what)
{
	return rj_fail(err, RJ_E_CORRUPT, "its body is not valid: %s", what);
}

/* The run table at TABLE: ascending, inside the ring; adds up the blocks. */
static int read_runs(
	const uint8_t *table, struct rj_segment *seg, struct rj_error *err)
{
	const struct rj_segbody *b = &seg->body;
	uint64_t end = 0, total = 0;
	struct rj_seg_run *r;
	uint32_t i;

	seg->runs = calloc(b->run_count ? b->run_count : 1, sizeof(*seg->runs));
	if (!seg->runs)
		return rj_fail(err, RJ_E_NOMEM, "out of memory for %u runs",
			b->run_count);
	for (i = 0; i < b->run_count; i++) {
		r = &seg->runs[i];
		r->block = rj_get_le32(table + (size_t)i * RJ_SEG_RUN_BYTES);
		r->count =
			rj_get_le32(table + (size_t)i * RJ_SEG_RUN_BYTES + 4);
		if (!r->count)
			return bad_body(err, "an empty run");
		if (r->block < end)
			return bad_body(
				err, "runs overlap or are not in order");
		end = (uint64_t)r->block + r->count;
		if (end > b->journal_blocks)
			return bad_body(err, "a run beyond the journal's end");
		total += r->count;
	}
	seg->block_count = total;
	return 0;
}

static int check_body(const uint8_t *body, size_t len, struct rj_segment *seg,
	struct rj_error *err)
{
	const struct rj_segbody *b = &seg->body;
	size_t runs_bytes;
	int rc;

	/* the header's ranges make LEN at least RJ_SEG_BODY_HEAD */
	rc = rj_segbody_decode(body, &seg->body, err);
	if (rc)
		return rc;
	if ((seg->header.kind == RJ_SEG_FENCE) != !b->block_size)
		return bad_body(err, b->block_size ? "a fence with blocks"
						   : "no block size");
	runs_bytes = (size_t)b->run_count * RJ_SEG_RUN_BYTES;
	if (runs_bytes > len - RJ_SEG_BODY_HEAD)
		return bad_body(err, "the list of runs is cut off");
	rc = read_runs(body + RJ_SEG_BODY_HEAD, seg, err);
	if (rc)
		return rc;
	/* at most 2^32 blocks of 2^16 bytes: no overflow */
	if (seg->block_count * b->block_size !=
		len - RJ_SEG_BODY_HEAD - runs_bytes)
		return bad_body(err, "its length is not that of its runs");
	seg->blocks = body + RJ_SEG_BODY_HEAD + runs_bytes;
	return 0;
}

int rj_segment_open_with(const uint8_t *data, size_t len,
	const struct rj_sealkey *key, struct rj_segment *out, struct rj_error *err)
{
	struct rj_segment seg = {0};
	const uint8_t *body = NULL;
	int rc;

	*out = seg;
	rc = check_header(data, len, &seg.header, err);
	if (!rc)
		rc = check_seal(data, len, key, &seg, &body, err);
	if (!rc)
		rc = expand(&seg, &body, err);
	if (!rc)
		rc = check_body(body, seg.header.raw_bytes, &seg, err);
	if (!rc)
		rc = rj_digest(
			data, RJ_SEG_HEADER_BYTES, NULL, 0, seg.chain, err);
	if (rc)
		rj_segment_release(&seg);
	if (rc == -RJ_E_GAP)
		out->header = seg.header;
	if (!rc)
		*out = seg;
	return rc;
}

int rj_segment_open(const uint8_t *data, size_t len, struct rj_segment *out,
	struct rj_error *err)
{
	return rj_segment_open_with(data, len, NULL, out, err);
}

void rj_segment_release(struct rj_segment *seg)
{
	if (!seg)
		return;
	free(seg->runs);
	seg->runs = NULL;
	free(seg->own);
	seg->own = NULL;
}
