// SPDX-License-Identifier: LGPL-2.1-or-later
/* Name a raw log by its URL, and apply its segments to a ring. */
#include "log/raw-log.h"

#include <string.h>

/* Twice FNV-1a, from two starts. No secret, and no collision that matters: the
 * URL's own path is in front of it. */
static uint64_t hash(const char *text, uint64_t h)
{
	for (; *text; text++)
		h = (h ^ (uint8_t)*text) * 0x100000001b3ULL;
	return h;
}

void rj_raw_uuid(const char *url, uint8_t uuid[RJ_UUID_BYTES])
{
	uint64_t a = hash(url, 0xcbf29ce484222325ULL), b = hash(url, a ^ 0x726a);

	memcpy(uuid, &a, sizeof(a));
	memcpy(uuid + sizeof(a), &b, sizeof(b));
	uuid[6] = (uuid[6] & 0x0f) | 0x80; /* version 8: made by our own rule */
	uuid[8] = (uuid[8] & 0x3f) | 0x80;
}

int rj_raw_take(void *arg, const struct rj_segment *seg, struct rj_error *err)
{
	struct rj_raw_reading *r = arg;
	uint64_t mib = (uint64_t)seg->body.journal_blocks * RJ_RAW_BLOCK >> 20;
	int rc = 0;

	if (!r->ring && seg->body.run_count &&
		(seg->body.block_size != RJ_RAW_BLOCK || mib > RJ_RAW_MIB))
		return rj_fail(err, RJ_E_CORRUPT,
			"segment %llu is of a device of %u blocks of %u bytes; a raw log's has blocks of %u bytes, and at most %u MiB",
			(unsigned long long)seg->header.sequence,
			seg->body.journal_blocks, seg->body.block_size,
			RJ_RAW_BLOCK, RJ_RAW_MIB);
	if (!r->ring && seg->body.run_count)
		rc = r->make ? r->make(r->arg, seg->body.block_size,
				       seg->body.journal_blocks, &r->ring, err)
			     : rj_ring_new(seg->body.block_size,
				       seg->body.journal_blocks, &r->ring, err);
	return rc || !r->ring ? rc : rj_ring_apply(r->ring, seg, err);
}
