// SPDX-License-Identifier: LGPL-2.1-or-later
#include "format/sbx-base.h"

#include <string.h>

#include "format/sbx-raw.h"
#include "util/bytes.h"
#include "util/crc32c.h"

/* Tells a chain from the floor, a segment's number, that older versions left in its place. */
#define CHAIN_NOTED (1ull << 63)

uint64_t rj_base_chain(const uint8_t chain[RJ_SEG_HASH_BYTES])
{
	return rj_get_le64(chain) | CHAIN_NOTED;
}

/* In a base no move is under way: the numbers stand in the place of its UUID, of where its redo
 * record is, and of its blocks and placement; the chain in that of the floor, which a promotion
 * makes new. NULL: as in a volume. */
static void put(struct rj_sbx_raw *r, const struct rj_base_record *base)
{
	const struct rj_base_record none = {0}, *n = base ? base : &none;
	uint32_t bits = rj_get_le32(r->incompat);

	bits &= ~(uint32_t)RJ_SBX_INCOMPAT_BASE;
	rj_put_le32(r->incompat, bits | (base ? RJ_SBX_INCOMPAT_BASE : 0));
	rj_put_le64(r->intent_uuid, n->from);
	rj_put_le64(r->intent_uuid + 8, n->whole);
	rj_put_le64(r->redo_block, n->id);
	rj_put_le32(r->intent_blocks, (uint32_t)n->hold);
	r->intent_placement[0] = (uint8_t)(n->hold >> 32);
	rj_put_le64(r->floor, n->chain);
	rj_put_le32(r->crc,
		rj_crc32c(~0u, r, offsetof(struct rj_sbx_raw, crc)));
}

void rj_sbx_base_put(
	uint8_t raw[RJ_SBX_BYTES], const struct rj_base_record *base)
{
	put((struct rj_sbx_raw *)raw, base);
}

int rj_sbx_base_get(const uint8_t raw[RJ_SBX_BYTES],
	struct rj_base_record *base, struct rj_sbx *sbx, struct rj_error *err)
{
	struct rj_sbx_raw r;
	struct rj_error why;
	int rc = rj_sbx_decode(raw, sbx, &why);

	memcpy(&r, raw, sizeof(r));
	if (!rc)
		return rj_fail(err, RJ_E_INVAL,
			"this is a volume, not a base: rjbackup base makes one");
	/* a wrong checksum, another version: not known to be a base */
	if (rc != -RJ_E_UNSUPPORTED ||
		rj_get_le16(r.version) != RJ_SBX_VERSION ||
		!(rj_get_le32(r.incompat) & RJ_SBX_INCOMPAT_BASE))
		return rj_fail(err, why.code, "%s", why.msg);
	base->from = rj_get_le64(r.intent_uuid);
	base->whole = rj_get_le64(r.intent_uuid + 8);
	base->id = rj_get_le64(r.redo_block);
	base->hold = rj_get_le32(r.intent_blocks) | (uint64_t)r.intent_placement[0] << 32;
	base->chain = rj_get_le64(r.floor);
	if (!(base->chain & CHAIN_NOTED))
		base->chain = 0;
	put(&r, NULL);
	rc = rj_sbx_decode((const uint8_t *)&r, sbx, err);
	if (!rc && !base->from && !base->whole)
		return rj_fail(err, RJ_E_INVAL,
			"rjbackup was stopped while it made this file: remove it, and run rjbackup again");
	if (!rc && (!base->from || base->whole < base->from))
		rc = rj_fail(err, RJ_E_CORRUPT,
			"superblock extension: a base from segment %llu that is whole at segment %llu",
			(unsigned long long)base->from,
			(unsigned long long)base->whole);
	return rc;
}
