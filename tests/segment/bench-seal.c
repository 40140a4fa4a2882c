// SPDX-License-Identifier: GPL-2.0-or-later
/* How fast segments are sealed and opened: not a test, run it by hand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "segment/segment.h"
#include "util/environ.h"

#define BLOCK 4096

static void measure(size_t bytes, const struct rj_sealkey *key)
{
	struct rj_seg_run run = {1, (uint32_t)(bytes / BLOCK)};
	struct rj_seg_draft d = {
		.header = {.kind = RJ_SEG_DATA,
			.sequence = 2,
			.epoch = 1,
			.oldest = 1},
		.body = {.block_size = BLOCK,
			.journal_blocks = run.count + 1,
			.tid_count = 1},
		.runs = &run,
		.run_count = 1,
		.key = key,
	};
	unsigned rounds = (unsigned)((512u << 20) / bytes), i;
	uint8_t chain[RJ_SEG_HASH_BYTES];
	struct rj_segment seg;
	struct rj_buf out = {0};
	int64_t start, sealed, opened;
	uint8_t *ring = malloc(bytes + BLOCK);
	int rc = 0;

	if (!ring)
		exit(1);
	memset(ring, 0xA5, bytes + BLOCK);
	d.ring = ring;
	rc = rj_segment_seal(&d, &out, chain, NULL);
	start = rj_monotonic_ns();
	for (i = 0; i < rounds; i++)
		rc |= rj_segment_seal(&d, &out, chain, NULL);
	sealed = rj_monotonic_ns() - start;
	start = rj_monotonic_ns();
	for (i = 0; i < rounds; i++) {
		rc |= rj_segment_open_with(
			out.data, out.len, key, &seg, NULL);
		rj_segment_release(&seg);
	}
	opened = rj_monotonic_ns() - start;
	if (rc)
		exit(1);
	printf("%8zu KiB: seal %7.1f us %6.0f MiB/s   open %7.1f us %6.0f "
	       "MiB/s\n",
		bytes >> 10, (double)sealed / rounds / 1e3,
		(double)bytes / (1 << 20) * rounds / ((double)sealed / 1e9),
		(double)opened / rounds / 1e3,
		(double)bytes / (1 << 20) * rounds / ((double)opened / 1e9));
	rj_buf_free(&out);
	free(ring);
}

int main(void)
{
	static const uint8_t bytes[RJ_SEALKEY_BYTES] = {1};
	struct rj_sealkey *key = NULL;
	int i;

	if (rj_sealkey_from_bytes(bytes, &key, NULL))
		return 1;
	for (i = 0; i < 2; i++) {
		puts(i ? "AES-256-GCM" : "XXH3-128");
		measure(4 << 10, i ? key : NULL);
		measure(32 << 10, i ? key : NULL);
		measure(4 << 20, i ? key : NULL);
	}
	rj_sealkey_free(key);
	return 0;
}
