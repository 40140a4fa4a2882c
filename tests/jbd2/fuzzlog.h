/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the fuzz targets for single blocks share: a log of a few 1 KiB blocks
 * around the block that is fuzzed, in any dialect, all checksums right, so
 * that the fuzzed bytes are really looked at.
 */
#ifndef RJ_TEST_JBD2_FUZZLOG_H
#define RJ_TEST_JBD2_FUZZLOG_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "jbd2/jbd2.h"
#include "util/bytes.h"
#include "util/crc32c.h"

#define FZ_BS     1024u
#define FZ_BLOCKS 140u /* in the log */
#define FZ_FS     32u  /* in the volume */
#define FZ_TID    7u
#define FZ_TIME   1700000000u

struct fuzz_log {
	uint8_t bytes[FZ_BLOCKS * FZ_BS];
	uint32_t seed;
	int csum; /* 0, 1 (not used), 2, 3 */
	bool wide;
};

/* HOW: two bits for the checksum version, one for 64-bit numbers. */
static inline void fuzz_log_init(struct fuzz_log *l, uint8_t how)
{
	uint8_t *s = l->bytes;

	memset(l, 0, sizeof(*l));
	l->csum = how & 3;
	l->wide = how & 4;
	rj_put_be32(s, RJ_JBD2_MAGIC);
	rj_put_be32(s + 4, RJ_JBD2_SB_V2);
	rj_put_be32(s + 0xC, FZ_BS);
	rj_put_be32(s + 0x10, FZ_BLOCKS);
	rj_put_be32(s + 0x14, 1);
	rj_put_be32(s + 0x18, FZ_TID);
	rj_put_be32(s + 0x1C, 1);
	rj_put_be32(s + 0x24, l->csum == 1);
	rj_put_be32(s + 0x28,
		1u | (l->wide ? 2 : 0) | (l->csum == 2 ? 8 : 0) |
			(l->csum == 3 ? 0x10 : 0));
	s[0x30] = how;
	l->seed = rj_crc32c(~0u, s + 0x30, 16);
	if (l->csum < 2)
		return;
	s[0x50] = 4;
	rj_put_be32(s + 0xFC, rj_crc32c(~0u, s, 1024));
}

static inline uint32_t fuzz_log_payload(const struct fuzz_log *l)
{
	return FZ_BS - (l->csum >= 2 ? 4 : 0);
}

static inline uint8_t *fuzz_log_header(
	struct fuzz_log *l, uint32_t block, uint32_t type, uint32_t tid)
{
	uint8_t *b = l->bytes + block * FZ_BS;

	rj_put_be32(b, RJ_JBD2_MAGIC);
	rj_put_be32(b + 4, type);
	rj_put_be32(b + 8, tid);
	return b;
}

/* The checksum at byte AT of a block, where the dialect has one. */
static inline void fuzz_log_seal(
	const struct fuzz_log *l, uint8_t *b, uint32_t at)
{
	if (l->csum < 2)
		return;
	rj_put_be32(b + at, 0);
	rj_put_be32(b + at, rj_crc32c(l->seed, b, FZ_BS));
}

static inline void fuzz_log_commit(
	struct fuzz_log *l, uint32_t block, uint32_t tid)
{
	uint8_t *b = fuzz_log_header(l, block, RJ_JBD2_COMMIT, tid);

	rj_put_be64(b + 48, FZ_TIME);
	fuzz_log_seal(l, b, 16);
}

/* Scan it; what must hold of any log is looked at here. NULL: refused. */
static inline struct rj_jbd2_plan *fuzz_log_scan(
	struct fuzz_log *l, struct rj_bio **bio)
{
	struct rj_jbd2_scan_opts opts = {.fs_blocks = FZ_FS};
	struct rj_jbd2_plan *plan = NULL;
	const struct rj_jbd2_info *i;
	struct rj_error err = {0};

	*bio = rj_bio_new_mem(l->bytes, sizeof(l->bytes), "log");
	(*bio)->write = NULL;
	if (rj_jbd2_scan(*bio, &opts, &plan, &err)) {
		if (!err.msg[0])
			abort();
		return NULL;
	}
	i = rj_jbd2_plan_info(plan);
	if (i->suppressed + i->duplicates + i->blocks != i->tags)
		abort();
	if (i->blocks > FZ_FS || !i->damage != !i->damage_text[0])
		abort();
	return plan;
}

#endif
