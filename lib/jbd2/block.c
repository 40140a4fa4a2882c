// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Recognise what a log block is (descriptor, commit or revoke block), and decode its tags
 * or revoke records. The tag's layout follows journal_tag_bytes() and read_tag_block() of
 * e2fsck and the kernel.
 */
#include "jbd2/jbd2-priv.h"
#include "util/crc32c.h"

#define TAG_ESCAPE    0x1
#define TAG_SAME_UUID 0x2
#define TAG_LAST      0x8

bool rj_jbd2_block_header(
	const void *block, enum rj_jbd2_block_type *type, uint32_t *tid)
{
	const uint8_t *p = block;

	if (rj_get_be32(p) != RJ_JBD2_MAGIC)
		return false;
	*type = (enum rj_jbd2_block_type)rj_get_be32(p + 4);
	*tid = rj_get_be32(p + 8);
	return true;
}

int64_t rj_jbd2_commit_ns(const void *block)
{
	const uint8_t *p = block;
	uint64_t sec = rj_get_be64(p + JBD2_COMMIT_SECONDS);
	uint32_t ns = rj_get_be32(p + JBD2_COMMIT_NANOSECONDS);

	if (sec >= INT64_MAX / 1000000000u)
		return INT64_MAX;
	return (int64_t)(sec * 1000000000u + (ns < 1000000000u ? ns : 0));
}

void jbd2_dialect_init(struct jbd2_dialect *d, const struct rj_jbd2_sb *sb)
{
	d->block_size = sb->block_size;
	d->wide = sb->incompat & RJ_JBD2_INCOMPAT_64BIT;
	d->async = sb->incompat & RJ_JBD2_INCOMPAT_ASYNC;
	d->checksum = 0;
	if (sb->compat & RJ_JBD2_COMPAT_CHECKSUM)
		d->checksum = 1;
	if (sb->incompat & RJ_JBD2_INCOMPAT_CSUM_V2)
		d->checksum = 2;
	if (sb->incompat & RJ_JBD2_INCOMPAT_CSUM_V3)
		d->checksum = 3;
	d->tag_bytes = 8 + (d->checksum == 2 ? 2 : 0) + (d->wide ? 4 : 0);
	if (d->checksum == 3)
		d->tag_bytes = 16;
	d->revoke_bytes = d->wide ? 8 : 4;
	d->payload = d->block_size;
	if (d->checksum >= 2) {
		d->payload -= JBD2_TAIL_BYTES;
		d->seed = rj_crc32c(~0u, sb->uuid, RJ_UUID_BYTES);
	}
}

bool jbd2_tag_next(const struct jbd2_dialect *d, const uint8_t *block,
	uint32_t *off, struct jbd2_tag *out)
{
	const uint8_t *p = block + *off;
	uint16_t flags;

	if (*off + d->tag_bytes > d->payload)
		return false;
	flags = rj_get_be16(p + 6);
	out->block = rj_get_be32(p);
	if (d->wide)
		out->block |= (uint64_t)rj_get_be32(p + 8) << 32;
	out->checksum =
		d->checksum == 3 ? rj_get_be32(p + 12) : rj_get_be16(p + 4);
	out->escaped = flags & TAG_ESCAPE;
	out->last = flags & TAG_LAST;
	*off += d->tag_bytes;
	if (!(flags & TAG_SAME_UUID))
		*off += RJ_UUID_BYTES;
	return true;
}

bool jbd2_revoke_count(
	const struct jbd2_dialect *d, const uint8_t *block, uint32_t *count)
{
	uint32_t bytes = rj_get_be32(block + JBD2_HEADER_BYTES);

	if (bytes < JBD2_REVOKE_HEADER_BYTES || bytes > d->payload)
		return false;
	*count = (bytes - JBD2_REVOKE_HEADER_BYTES) / d->revoke_bytes;
	return true;
}

uint64_t jbd2_revoke_record(
	const struct jbd2_dialect *d, const uint8_t *block, uint32_t i)
{
	const uint8_t *p =
		block + JBD2_REVOKE_HEADER_BYTES + i * d->revoke_bytes;

	return d->wide ? rj_get_be64(p) : rj_get_be32(p);
}
