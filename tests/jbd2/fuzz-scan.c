// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target: a whole log is scanned and replayed into a small volume.
 * Built by scripts/fuzz with clang. A fuzzer cannot guess checksums, so
 * the first byte chooses what is repaired before the scan: the superblock's
 * checksum, and those of all descriptor, revoke and commit blocks.
 */
#include <stdlib.h>
#include <string.h>

#include "jbd2/jbd2.h"
#include "util/bytes.h"
#include "util/crc32c.h"

#define FS_BLOCKS 64u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void seal(uint8_t *block, uint32_t size, uint32_t at, uint32_t seed)
{
	rj_put_be32(block + at, 0);
	rj_put_be32(block + at, rj_crc32c(seed, block, size));
}

static void repair(uint8_t *log, size_t size, uint8_t how)
{
	uint32_t bs = rj_get_be32(log + 0xC), type, seed;
	size_t off;

	seed = rj_crc32c(~0u, log + 0x30, 16);
	if (bs >= 1024 && bs <= 65536 && (how & 2))
		for (off = bs; off < size && size - off >= bs; off += bs) {
			type = rj_get_be32(log + off + 4);
			if (type == 2)
				seal(log + off, bs, 16, seed);
			else if (type == 1 || type == 5)
				seal(log + off, bs, bs - 4, seed);
		}
	if (how & 1) {
		log[0x50] = 4;
		seal(log, RJ_JBD2_SB_BYTES, 0xFC, ~0u);
	}
}

static void check(const struct rj_jbd2_info *i)
{
	if (i->suppressed + i->duplicates + i->blocks != i->tags)
		abort();
	if (i->blocks > FS_BLOCKS || i->next_tid == i->last_tid)
		abort();
	if (!i->damage != !i->damage_text[0])
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rj_jbd2_scan_opts opts = {.fs_blocks = FS_BLOCKS};
	struct rj_jbd2_plan *plan = NULL;
	struct rj_bio *log, *fs;
	struct rj_error err;
	uint8_t *copy, *volume;
	uint32_t bs;

	if (size < 1 + RJ_JBD2_SB_BYTES)
		return 0;
	copy = malloc(size - 1);
	memcpy(copy, data + 1, size - 1);
	repair(copy, size - 1, data[0]);
	log = rj_bio_new_mem(copy, size - 1, "log");
	log->write = NULL;
	if (rj_jbd2_scan(log, &opts, &plan, &err) == 0) {
		bs = rj_jbd2_plan_info(plan)->sb.block_size;
		check(rj_jbd2_plan_info(plan));
		volume = malloc((size_t)FS_BLOCKS * bs);
		fs = rj_bio_new_mem(volume, (size_t)FS_BLOCKS * bs, "volume");
		if (rj_jbd2_replay(plan, log, fs, NULL, NULL, &err))
			abort();
		rj_bio_free(fs);
		free(volume);
	}
	rj_jbd2_plan_free(plan);
	rj_jbd2_sb_make_empty(copy, 1, &err);
	rj_bio_free(log);
	free(copy);
	return 0;
}
