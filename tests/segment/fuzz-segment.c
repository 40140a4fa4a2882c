// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target for rj_segment_open(); built and run by
 * scripts/fuzz. The first byte of an input says how the rest is
 * dressed up, because no mutation would ever find a SHA-256:
 *   bit 0: put a right seal    bit 1: right sizes in the header
 * What opens is applied to a ring, sealed again and must come out the same.
 *
 * With $RJ_SEEDS set the program writes a few inputs to that directory instead.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draft.h"
#include "log/ring.h"
#include "segment/segment.h"
#include "util/bytes.h"

#define SEAL      1
#define SIZES     2
#define STORED_AT 56
#define RAW_AT    64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static void dress_up(uint8_t mode, uint8_t *p, size_t len)
{
	if (len < RJ_SEG_HEADER_BYTES)
		return;
	if (mode & SIZES) {
		rj_put_le64(p + STORED_AT, len - RJ_SEG_HEADER_BYTES);
		rj_put_le64(p + RAW_AT, len - RJ_SEG_HEADER_BYTES);
	}
	if (mode & SEAL)
		seg_reseal(p, len, rj_get_le32(p + RJ_SEG_VERSION_OFFSET));
}

/* SEG opened: the same bytes must come of sealing it again. */
static void seal_again(
	const struct rj_segment *seg, const uint8_t *data, size_t len)
{
	struct rj_seg_draft d = {
		.header = seg->header,
		.body = seg->body,
		.runs = seg->runs,
		.run_count = seg->body.run_count,
	};
	uint8_t chain[RJ_SEG_HASH_BYTES];
	struct rj_ring *ring = NULL;
	struct rj_buf out = {0};

	if (seg->header.kind == RJ_SEG_DATA) {
		if (rj_ring_new(seg->body.block_size, seg->body.journal_blocks,
			    &ring, NULL))
			return; /* 2^32 blocks do not fit everywhere */
		if (rj_ring_apply(ring, seg, NULL))
			abort();
		d.ring = ring->data;
	}
	if (rj_segment_seal(&d, &out, chain, NULL) || out.len != len)
		abort();
	if (seg->header.version == RJ_SEG_VERSION &&
		(memcmp(out.data, data, len) ||
			memcmp(chain, seg->chain, sizeof(chain))))
		abort();
	rj_buf_free(&out);
	rj_ring_free(ring);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rj_segment seg;
	struct rj_error err;
	uint8_t *copy;

	if (!size)
		return 0;
	/* exactly as long as it says, for AddressSanitizer */
	copy = malloc(size - 1 ? size - 1 : 1);
	if (!copy)
		return 0;
	memcpy(copy, data + 1, size - 1);
	dress_up(data[0], copy, size - 1);
	if (!rj_segment_open(copy, size - 1, &seg, &err))
		seal_again(&seg, copy, size - 1);
	else if (!err.msg[0])
		abort();
	rj_segment_release(&seg);
	free(copy);
	return 0;
}

static void write_seed(
	const char *dir, const char *name, uint8_t mode, const struct rj_buf *b)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s-%u", dir, name, mode);
	f = fopen(path, "w");
	if (!f || putc(mode, f) == EOF || fwrite(b->data, b->len, 1, f) != 1 ||
		fclose(f))
		exit(1);
}

static void write_seeds(const char *dir)
{
	static uint8_t image[8 * 1024];
	struct rj_seg_run runs[] = {{1, 1}, {3, 2}, {7, 1}};
	struct rj_seg_draft d = {
		.header = {.kind = RJ_SEG_DATA,
			.sequence = 5,
			.epoch = 2,
			.oldest = 3},
		.body = {.block_size = 1024,
			.journal_blocks = 8,
			.tid_count = 1,
			.first_tid = 9,
			.last_tid = 9},
		.runs = runs,
		.run_count = 3,
		.ring = image,
	};
	struct rj_seg_draft fence = {.header = {.kind = RJ_SEG_FENCE,
					     .flags = RJ_SEG_F_BREAK,
					     .sequence = 5,
					     .epoch = 2,
					     .oldest = 5}};
	uint8_t chain[RJ_SEG_HASH_BYTES], mode;
	struct rj_buf b = {0};

	for (mode = 0; mode < 4; mode++) {
		if (rj_segment_seal(&d, &b, chain, NULL))
			exit(1);
		write_seed(dir, "data", mode, &b);
		if (rj_segment_seal(&fence, &b, chain, NULL))
			exit(1);
		write_seed(dir, "fence", mode, &b);
	}
	rj_buf_free(&b);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *dir = getenv("RJ_SEEDS");

	if (dir) {
		write_seeds(dir);
		exit(0);
	}
	return 0;
}
