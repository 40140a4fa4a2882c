// SPDX-License-Identifier: LGPL-2.1-or-later
#include "format/seghdr.h"

#include <stddef.h>
#include <string.h>

#include "util/bytes.h"

/* Disk forms. Byte arrays only: no padding, and no alignment is asked for. */
struct raw_header {
	uint8_t magic[8];
	uint8_t version[4];
	uint8_t kind[4];
	uint8_t flags[4];
	uint8_t reserved0[4];
	uint8_t sequence[8];
	uint8_t epoch[8];
	uint8_t oldest[8];
	uint8_t time_ns[8];
	uint8_t stored_bytes[8];
	uint8_t raw_bytes[8];
	uint8_t volume_uuid[16];
	uint8_t journal_uuid[16];
	uint8_t nonce[16];
	uint8_t key_fingerprint[16];
	uint8_t prev_chain[32];
	uint8_t seal[32];
	uint8_t reserved1[56];
};

struct raw_body {
	uint8_t block_size[4];
	uint8_t journal_blocks[4];
	uint8_t run_count[4];
	uint8_t tid_count[4];
	uint8_t first_tid[4];
	uint8_t last_tid[4];
	uint8_t reserved[8];
};

#define AT(type, field, off)                                                   \
	_Static_assert(offsetof(struct type, field) == (off), #field)

AT(raw_header, magic, 0);
AT(raw_header, version, RJ_SEG_VERSION_OFFSET);
AT(raw_header, kind, RJ_SEG_KIND_OFFSET);
AT(raw_header, flags, 16);
AT(raw_header, reserved0, 20);
AT(raw_header, sequence, 24);
AT(raw_header, epoch, 32);
AT(raw_header, oldest, 40);
AT(raw_header, time_ns, 48);
AT(raw_header, stored_bytes, 56);
AT(raw_header, raw_bytes, 64);
AT(raw_header, volume_uuid, 72);
AT(raw_header, journal_uuid, 88);
AT(raw_header, nonce, 104);
AT(raw_header, key_fingerprint, 120);
AT(raw_header, prev_chain, 136);
AT(raw_header, seal, RJ_SEG_SEAL_OFFSET);
AT(raw_header, reserved1, 200);
_Static_assert(sizeof(struct raw_header) == RJ_SEG_HEADER_BYTES, "header");

AT(raw_body, block_size, 0);
AT(raw_body, journal_blocks, 4);
AT(raw_body, run_count, 8);
AT(raw_body, tid_count, 12);
AT(raw_body, first_tid, 16);
AT(raw_body, last_tid, 20);
AT(raw_body, reserved, 24);
_Static_assert(sizeof(struct raw_body) == RJ_SEG_BODY_HEAD, "body head");

#define MAX_BODY (RJ_SEG_MAX_BYTES - RJ_SEG_HEADER_BYTES)

static bool all_zero(const uint8_t *p, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (p[i])
			return false;
	return true;
}

static int bad(struct rj_error *err, const char *what)
{
	return rj_fail(err, RJ_E_CORRUPT, "its header is not valid: %s", what);
}

/* Can this build understand the segment at all? */
static int check_known(const struct raw_header *r, struct rj_error *err)
{
	uint32_t version = rj_get_le32(r->version);
	uint32_t kind = rj_get_le32(r->kind);
	uint32_t flags = rj_get_le32(r->flags);

	if (version == 0)
		return bad(err, "version 0");
	if (version > RJ_SEG_VERSION)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"it has format version %u, this program knows 1 to %u",
			version, RJ_SEG_VERSION);
	if (kind == RJ_SEG_BRIDGE || flags & RJ_SEG_F_ALONE)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"it is of two stores for one log, which this version "
			"does not serve: read the log with the version that "
			"wrote it");
	if (kind != RJ_SEG_DATA && kind != RJ_SEG_FENCE)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"it is of kind %u, which this program does not know",
			kind);
	if (flags & ~RJ_SEG_F_KNOWN)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"it has flags 0x%x, which this program does not know",
			flags & ~RJ_SEG_F_KNOWN);
	return 0;
}

/* Fields that contradict each other or the limits. */
static int check_ranges(const struct rj_seghdr *h, struct rj_error *err)
{
	if (h->sequence == 0)
		return bad(err, "its number is 0");
	if (h->epoch == 0)
		return bad(err, "its epoch is 0");
	if (h->oldest == 0 || h->oldest > h->sequence)
		return bad(err, "\"oldest\" is out of range");
	if (h->stored_bytes > MAX_BODY || h->raw_bytes > MAX_BODY)
		return bad(err, "its body is too large");
	if (h->raw_bytes < RJ_SEG_BODY_HEAD)
		return bad(err, "its body is too small");
	if (!(h->flags & RJ_SEG_F_ZSTD) && h->stored_bytes != h->raw_bytes)
		return bad(err, "the two sizes of an uncompressed body differ");
	if ((h->flags & RJ_SEG_F_BASE) &&
		(h->kind != RJ_SEG_DATA || h->oldest != h->sequence))
		return bad(err, "a base that is not one");
	if ((h->flags & RJ_SEG_F_RECOVERED) && !(h->flags & RJ_SEG_F_BASE))
		return bad(err, "marked as a recovery's, but no base");
	if ((h->flags & RJ_SEG_F_BREAK) && h->kind != RJ_SEG_FENCE)
		return bad(err, "a break that is no fence");
	if ((h->flags & RJ_SEG_F_MARKED) && h->kind != RJ_SEG_DATA)
		return bad(err, "marked, but no data segment");
	if ((h->flags & RJ_SEG_F_CLEAN) && h->kind != RJ_SEG_FENCE)
		return bad(err, "marked as left clean, but no fence");
	if ((h->sequence == 1 || (h->flags & RJ_SEG_F_BREAK)) &&
		!all_zero(h->prev_chain, sizeof(h->prev_chain)))
		return bad(err, "a chain where none can be");
	if (!(h->flags & RJ_SEG_F_AESGCM) !=
		all_zero(h->key_fingerprint, sizeof(h->key_fingerprint)))
		return bad(err, "key fingerprint and encryption flag disagree");
	return 0;
}

int rj_seghdr_decode(const uint8_t raw[RJ_SEG_HEADER_BYTES],
	struct rj_seghdr *out, struct rj_error *err)
{
	const struct raw_header *r = (const struct raw_header *)raw;
	struct rj_seghdr h;
	int rc;

	if (memcmp(r->magic, RJ_SEG_MAGIC, sizeof(r->magic)))
		return rj_fail(err, RJ_E_CORRUPT,
			"it does not begin with " RJ_SEG_MAGIC);
	rc = check_known(r, err);
	if (rc)
		return rc;
	if (!all_zero(r->reserved0, sizeof(r->reserved0)) ||
		!all_zero(r->reserved1, sizeof(r->reserved1)))
		return bad(err, "reserved bytes are not zero");

	h.version = rj_get_le32(r->version);
	h.kind = (enum rj_seg_kind)rj_get_le32(r->kind);
	h.flags = rj_get_le32(r->flags);
	h.sequence = rj_get_le64(r->sequence);
	h.epoch = rj_get_le64(r->epoch);
	h.oldest = rj_get_le64(r->oldest);
	h.time_ns = rj_get_le64(r->time_ns);
	h.stored_bytes = rj_get_le64(r->stored_bytes);
	h.raw_bytes = rj_get_le64(r->raw_bytes);
	memcpy(h.volume_uuid, r->volume_uuid, sizeof(h.volume_uuid));
	memcpy(h.journal_uuid, r->journal_uuid, sizeof(h.journal_uuid));
	memcpy(h.nonce, r->nonce, sizeof(h.nonce));
	memcpy(h.key_fingerprint, r->key_fingerprint,
		sizeof(h.key_fingerprint));
	memcpy(h.prev_chain, r->prev_chain, sizeof(h.prev_chain));
	memcpy(h.seal, r->seal, sizeof(h.seal));
	rc = check_ranges(&h, err);
	if (!rc)
		*out = h;
	return rc;
}

void rj_seghdr_encode(
	const struct rj_seghdr *h, uint8_t raw[RJ_SEG_HEADER_BYTES])
{
	struct raw_header *r = (struct raw_header *)raw;

	memset(r, 0, sizeof(*r));
	memcpy(r->magic, RJ_SEG_MAGIC, sizeof(r->magic));
	rj_put_le32(r->version, h->version);
	rj_put_le32(r->kind, h->kind);
	rj_put_le32(r->flags, h->flags);
	rj_put_le64(r->sequence, h->sequence);
	rj_put_le64(r->epoch, h->epoch);
	rj_put_le64(r->oldest, h->oldest);
	rj_put_le64(r->time_ns, h->time_ns);
	rj_put_le64(r->stored_bytes, h->stored_bytes);
	rj_put_le64(r->raw_bytes, h->raw_bytes);
	memcpy(r->volume_uuid, h->volume_uuid, sizeof(r->volume_uuid));
	memcpy(r->journal_uuid, h->journal_uuid, sizeof(r->journal_uuid));
	memcpy(r->nonce, h->nonce, sizeof(r->nonce));
	memcpy(r->key_fingerprint, h->key_fingerprint,
		sizeof(r->key_fingerprint));
	memcpy(r->prev_chain, h->prev_chain, sizeof(r->prev_chain));
	memcpy(r->seal, h->seal, sizeof(r->seal));
}

/* A fence knows no ring: every field zero. */
static bool no_geometry(const struct rj_segbody *b)
{
	return !b->block_size && !b->journal_blocks && !b->run_count &&
	       !b->tid_count;
}

static int bad_body(struct rj_error *err, const char *what)
{
	return rj_fail(err, RJ_E_CORRUPT, "its body is not valid: %s", what);
}

int rj_segbody_decode(const uint8_t raw[RJ_SEG_BODY_HEAD],
	struct rj_segbody *out, struct rj_error *err)
{
	const struct raw_body *r = (const struct raw_body *)raw;
	struct rj_segbody b;

	b.block_size = rj_get_le32(r->block_size);
	b.journal_blocks = rj_get_le32(r->journal_blocks);
	b.run_count = rj_get_le32(r->run_count);
	b.tid_count = rj_get_le32(r->tid_count);
	b.first_tid = rj_get_le32(r->first_tid);
	b.last_tid = rj_get_le32(r->last_tid);
	if (!all_zero(r->reserved, sizeof(r->reserved)))
		return bad_body(err, "reserved bytes are not zero");
	if (!b.tid_count && (b.first_tid || b.last_tid))
		return bad_body(err, "transaction numbers, but none counted");
	if (!no_geometry(&b)) {
		if (b.block_size < 1024 || b.block_size > 65536 ||
			(b.block_size & (b.block_size - 1)))
			return bad_body(err, "impossible block size");
		if (!b.journal_blocks)
			return bad_body(err, "a journal of no blocks");
		if (b.run_count > MAX_BODY / RJ_SEG_RUN_BYTES)
			return bad_body(err, "too many runs");
	}
	*out = b;
	return 0;
}

void rj_segbody_encode(
	const struct rj_segbody *b, uint8_t raw[RJ_SEG_BODY_HEAD])
{
	struct raw_body *r = (struct raw_body *)raw;

	memset(r, 0, sizeof(*r));
	rj_put_le32(r->block_size, b->block_size);
	rj_put_le32(r->journal_blocks, b->journal_blocks);
	rj_put_le32(r->run_count, b->run_count);
	rj_put_le32(r->tid_count, b->tid_count);
	if (b->tid_count) {
		rj_put_le32(r->first_tid, b->first_tid);
		rj_put_le32(r->last_tid, b->last_tid);
	}
}
