/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What to seal, in the tests that are not about the bytes of its header. */
#ifndef RJ_TEST_SEGMENT_DRAFT_H
#define RJ_TEST_SEGMENT_DRAFT_H

#include <stdlib.h>
#include <string.h>

#include "segment/checksum.h"
#include "segment/digest.h"
#include "segment/segment.h"

/* RUNS of a RING of BLOCKS blocks of 1 KiB. */
static inline struct rj_seg_draft seg_draft(const struct rj_seg_run *runs,
	uint32_t run_count, const uint8_t *ring, uint32_t blocks)
{
	struct rj_seg_draft d = {
		.header = {.kind = RJ_SEG_DATA,
			.sequence = 9,
			.epoch = 3,
			.oldest = 4,
			.time_ns = 1700000000123456789},
		.body = {.block_size = 1024,
			.journal_blocks = blocks,
			.tid_count = 1,
			.first_tid = 99,
			.last_tid = 99},
		.runs = runs,
		.run_count = run_count,
		.ring = ring,
	};

	memset(d.header.volume_uuid, 0x10, sizeof(d.header.volume_uuid));
	memset(d.header.journal_uuid, 0x20, sizeof(d.header.journal_uuid));
	memset(d.header.nonce, 0x30, sizeof(d.header.nonce));
	memset(d.header.prev_chain, 0x40, sizeof(d.header.prev_chain));
	return d;
}

/* Put the right seal of format VERSION on what was changed on purpose. */
static inline void seg_reseal(uint8_t *data, size_t len, uint32_t version)
{
	uint8_t seal[RJ_SEG_HASH_BYTES];

	memset(data + RJ_SEG_SEAL_OFFSET, 0, RJ_SEG_HASH_BYTES);
	if ((version == 1 ? rj_digest : rj_checksum)(data, len, NULL, 0, seal, NULL))
		abort();
	memcpy(data + RJ_SEG_SEAL_OFFSET, seal, sizeof(seal));
}

#endif
