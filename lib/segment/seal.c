// SPDX-License-Identifier: LGPL-2.1-or-later
/* Encode a segment, compress and encrypt it, and compute its checksum or tag. */
#include "segment/segment.h"

#include <string.h>

#include "segment/aead.h"
#include "segment/checksum.h"
#include "segment/digest.h"
#include "segment/pack.h"
#include "util/bytes.h"

#define BODY_AT RJ_SEG_HEADER_BYTES
#define RUNS_AT (RJ_SEG_HEADER_BYTES + RJ_SEG_BODY_HEAD)

static uint32_t block_of(const uint8_t *table, size_t i)
{
	return rj_get_le32(table + i * RJ_SEG_RUN_BYTES);
}

static void swap_runs(uint8_t *table, size_t i, size_t j)
{
	uint64_t a = rj_get_le64(table + i * RJ_SEG_RUN_BYTES);
	uint64_t b = rj_get_le64(table + j * RJ_SEG_RUN_BYTES);

	rj_put_le64(table + i * RJ_SEG_RUN_BYTES, b);
	rj_put_le64(table + j * RJ_SEG_RUN_BYTES, a);
}

static void sift_down(uint8_t *table, size_t root, size_t count)
{
	size_t child;

	for (; (child = 2 * root + 1) < count; root = child) {
		if (child + 1 < count &&
			block_of(table, child + 1) > block_of(table, child))
			child++;
		if (block_of(table, root) >= block_of(table, child))
			return;
		swap_runs(table, root, child);
	}
}

/*
 * Runs are stored in ascending order, so that a reader checks for overlaps in
 * one pass. A heap sort in the table itself, because qsort() may allocate;
 * nearly always there is nothing to do.
 */
static void sort_runs(uint8_t *table, size_t count)
{
	size_t i;

	for (i = 1; i < count; i++)
		if (block_of(table, i) < block_of(table, i - 1))
			break;
	if (i >= count)
		return;
	for (i = count / 2; i-- > 0;)
		sift_down(table, i, count);
	for (i = count - 1; i > 0; i--) {
		swap_runs(table, 0, i);
		sift_down(table, 0, i);
	}
}

/* Sum of the runs' blocks, each run inside the ring. */
static int count_blocks(
	const struct rj_seg_draft *d, uint64_t *blocks, struct rj_error *err)
{
	const struct rj_seg_run *r;
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < d->run_count; i++) {
		r = &d->runs[i];
		if (!r->count || r->block >= d->body.journal_blocks ||
			r->count > d->body.journal_blocks - r->block)
			return rj_fail(err, RJ_E_INVAL,
				"cannot seal a run of %u blocks at %u: the "
				"journal has %u",
				r->count, r->block, d->body.journal_blocks);
		sum += r->count;
	}
	*blocks = sum;
	return 0;
}

static int check_draft(
	const struct rj_seg_draft *d, uint64_t *raw_bytes, struct rj_error *err)
{
	const struct rj_seghdr *h = &d->header;
	uint64_t blocks = 0;
	int rc;

	if (h->flags & (RJ_SEG_F_ZSTD | RJ_SEG_F_AESGCM))
		return rj_fail(err, RJ_E_INVAL,
			"cannot seal: ZSTD and AESGCM are not the caller's");
	if (h->kind == RJ_SEG_FENCE &&
		(d->run_count || d->body.block_size || d->body.journal_blocks))
		return rj_fail(err, RJ_E_INVAL,
			"cannot seal a fence that carries blocks");
	if (h->kind == RJ_SEG_DATA && !d->body.block_size)
		return rj_fail(err, RJ_E_INVAL,
			"cannot seal blocks without a block size");
	rc = count_blocks(d, &blocks, err);
	if (rc)
		return rc;
	/* neither product can overflow: 2^32 runs, each of 2^32 blocks at most,
	 * are refused by the first two comparisons */
	if (d->run_count > RJ_SEG_MAX_BYTES / RJ_SEG_RUN_BYTES ||
		blocks > RJ_SEG_MAX_BYTES / 1024)
		goto too_large;
	*raw_bytes = RJ_SEG_BODY_HEAD +
		     (uint64_t)d->run_count * RJ_SEG_RUN_BYTES +
		     blocks * d->body.block_size;
	if (*raw_bytes > RJ_SEG_MAX_BYTES - RJ_SEG_HEADER_BYTES)
		goto too_large;
	return 0;
too_large:
	return rj_fail(err, RJ_E_INVAL,
		"cannot seal %llu blocks in %u runs: a segment holds %u bytes",
		(unsigned long long)blocks, d->run_count, RJ_SEG_MAX_BYTES);
}

/* Head, and run table in order. */
static int fill_table(
	const struct rj_seg_draft *d, uint8_t *out, struct rj_error *err)
{
	struct rj_segbody body = d->body;
	uint8_t *table = out + RUNS_AT;
	uint32_t i, block, end = 0;

	body.run_count = d->run_count;
	rj_segbody_encode(&body, out + BODY_AT);
	for (i = 0; i < d->run_count; i++) {
		rj_put_le32(
			table + (size_t)i * RJ_SEG_RUN_BYTES, d->runs[i].block);
		rj_put_le32(table + (size_t)i * RJ_SEG_RUN_BYTES + 4,
			d->runs[i].count);
	}
	sort_runs(table, d->run_count);
	for (i = 0; i < d->run_count; i++) {
		block = block_of(table, i);
		if (block < end)
			return rj_fail(err, RJ_E_INVAL,
				"block %u is named twice", block);
		end = block + rj_get_le32(
				      table + (size_t)i * RJ_SEG_RUN_BYTES + 4);
	}
	return rj_segbody_decode(out + BODY_AT, &body, err);
}

/* The bytes of run I of the table in OUT: in the ring. */
static struct iovec run_in_ring(
	const struct rj_seg_draft *d, const uint8_t *out, uint32_t i)
{
	const uint8_t *run = out + RUNS_AT + (size_t)i * RJ_SEG_RUN_BYTES;
	size_t size = d->body.block_size;

	return (struct iovec){(void *)(d->ring + rj_get_le32(run) * size),
		rj_get_le32(run + 4) * size};
}

/* The blocks after the run table. */
static void copy_blocks(const struct rj_seg_draft *d, uint8_t *out)
{
	uint8_t *p = out + RUNS_AT + (size_t)d->run_count * RJ_SEG_RUN_BYTES;
	struct iovec run;
	uint32_t i;

	for (i = 0; i < d->run_count; i++, p += run.iov_len) {
		run = run_in_ring(d, out, i);
		memcpy(p, run.iov_base, run.iov_len);
	}
}

/* ERR says why; whatever its code was, here it is a bad argument. */
static int refuse(struct rj_error *err)
{
	rj_fail_prefix(err, "cannot seal");
	if (err)
		err->code = RJ_E_INVAL;
	return -RJ_E_INVAL;
}

/* Compress the body in OUT, which holds RAW_BYTES of it, where that pays. */
static int pack_body(const struct rj_seg_draft *d, struct rj_seghdr *h,
	uint8_t *out, struct rj_error *err)
{
	size_t packed = h->raw_bytes;
	int rc;

	h->stored_bytes = h->raw_bytes;
	if (!d->compress || h->kind != RJ_SEG_DATA)
		return 0;
	rc = rj_pack(out + BODY_AT, h->raw_bytes, &packed, err);
	if (rc || packed == h->raw_bytes)
		return rc;
	h->stored_bytes = packed;
	h->flags |= RJ_SEG_F_ZSTD;
	return 0;
}

/* The parts of a segment whose body is in OUT, with the blocks if they were COPIED. */
static int list_parts(const struct rj_seg_draft *d, const struct rj_seghdr *h,
	bool copied, const struct rj_buf *out, struct iovec *parts)
{
	uint32_t i, in_ring = copied ? 0 : d->run_count;
	size_t len = RJ_SEG_HEADER_BYTES + h->stored_bytes;

	for (i = 0; i < in_ring; i++) {
		parts[i + 1] = run_in_ring(d, out->data, i);
		len -= parts[i + 1].iov_len;
	}
	parts[0] = (struct iovec){out->data, len};
	return (int)in_ring + 1;
}

/* The parts are as they will be stored, but in plain: bind header and body together, and
 * put the seal into the header. */
static int bind_all(const struct rj_seg_draft *d, struct rj_seghdr *h,
	const struct iovec *parts, int count, struct rj_error *err)
{
	uint8_t *out = parts->iov_base;

	if (d->key)
		/* the seal's 16 bytes after the tag stay zero */
		return rj_aead_seal(d->key, h, out, out + BODY_AT,
			h->stored_bytes, out + BODY_AT,
			out + RJ_SEG_SEAL_OFFSET, err);
	/* the seal's own bytes are zero now: one pass over all there is */
	return rj_checksum_parts(parts, count, out + RJ_SEG_SEAL_OFFSET, err);
}

/* Header and body into OUT, all but the seal, and the blocks only if they are to be COPIED:
 * HEADER is DRAFT's, completed. */
static int draw_up(const struct rj_seg_draft *draft, bool copied,
	struct rj_seghdr *header, struct rj_buf *out, struct rj_error *err)
{
	struct rj_seghdr check;
	uint64_t raw_bytes = 0;
	size_t len;
	int rc;

	out->len = 0;
	rc = check_draft(draft, &raw_bytes, err);
	if (rc)
		return rc;
	len = copied ? RJ_SEG_HEADER_BYTES + raw_bytes
		     : RUNS_AT + (size_t)draft->run_count * RJ_SEG_RUN_BYTES;
	if (rj_buf_reserve(out, len))
		return rj_fail(err, RJ_E_NOMEM,
			"out of memory for a segment of %zu bytes", len);
	*header = draft->header;
	header->version = RJ_SEG_VERSION;
	header->raw_bytes = raw_bytes;
	memset(header->seal, 0, sizeof(header->seal));
	memset(header->key_fingerprint, 0, sizeof(header->key_fingerprint));
	if (fill_table(draft, out->data, err))
		return refuse(err);
	if (copied)
		copy_blocks(draft, out->data);
	rc = pack_body(draft, header, out->data, err);
	if (rc)
		return rc;
	if (draft->key) {
		header->flags |= RJ_SEG_F_AESGCM;
		memcpy(header->key_fingerprint,
			rj_sealkey_fingerprint(draft->key),
			sizeof(header->key_fingerprint));
	}
	rj_seghdr_encode(header, out->data);
	/* a draft that contradicts itself is the caller's mistake, and what
	 * rj_segment_open() would refuse is never sealed */
	if (rj_seghdr_decode(out->data, &check, err))
		return refuse(err);
	return 0;
}

int rj_segment_seal_in_place(const struct rj_seg_draft *draft,
	struct rj_buf *out, struct iovec *parts, int max, int *count,
	uint8_t chain[RJ_SEG_HASH_BYTES], struct rj_error *err)
{
	bool copied = draft->key || draft->compress ||
		      draft->run_count >= (uint32_t)max;
	struct rj_seghdr header;
	int rc;

	rc = draw_up(draft, copied, &header, out, err);
	if (rc)
		return rc;
	*count = list_parts(draft, &header, copied, out, parts);
	rc = bind_all(draft, &header, parts, *count, err);
	if (!rc)
		rc = rj_digest(
			out->data, RJ_SEG_HEADER_BYTES, NULL, 0, chain, err);
	if (!rc)
		out->len = parts->iov_len;
	return rc;
}

int rj_segment_seal(const struct rj_seg_draft *draft, struct rj_buf *out,
	uint8_t chain[RJ_SEG_HASH_BYTES], struct rj_error *err)
{
	struct iovec whole;
	int count;

	return rj_segment_seal_in_place(
		draft, out, &whole, 1, &count, chain, err);
}
