// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target: one revoke block, after a transaction that writes the
 * volume's first blocks. Byte 0 chooses the dialect, byte 1 the revoking
 * transaction (the same, the next, or the one before) and sometimes puts a
 * length about that of the block; the rest is the block after its header.
 * What it must cancel is found naively.
 */
#include "jbd2/fuzzlog.h"

#define WRITES 24u /* blocks 0.. of the volume */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_txn(struct fuzz_log *l, uint32_t at, uint32_t tid)
{
	uint8_t *d = fuzz_log_header(l, at, RJ_JBD2_DESCRIPTOR, tid), *b, seq[4];
	uint32_t off = 12, i, crc;

	rj_put_be32(seq, tid);
	for (i = 0; i < WRITES; i++) {
		b = l->bytes + (at + 1 + i) * FZ_BS;
		memset(b, (int)(i + 1), FZ_BS);
		crc = rj_crc32c(rj_crc32c(l->seed, seq, 4), b, FZ_BS);
		rj_put_be32(d + off, i);
		rj_put_be16(d + off + 6, i + 1 == WRITES ? 10 : 2);
		if (l->csum == 2)
			rj_put_be16(d + off + 4, (uint16_t)crc);
		if (l->csum == 3)
			rj_put_be32(d + off + 12, crc);
		off += l->csum == 3 ? 16 : 8u + (l->csum == 2 ? 2 : 0) +
						   (l->wide ? 4 : 0);
	}
	fuzz_log_seal(l, d, FZ_BS - 4);
}

/* Which of the blocks does it cancel? False: its length cannot be right. */
static bool model(const struct fuzz_log *l, const uint8_t *r, bool gone[WRITES],
	bool *outside)
{
	uint32_t bytes = rj_get_be32(r + 12), off, size = l->wide ? 8 : 4;
	uint64_t nr;

	memset(gone, 0, WRITES);
	*outside = false;
	if (bytes < 16 || bytes > fuzz_log_payload(l))
		return false;
	for (off = 16; off + size <= bytes; off += size) {
		nr = l->wide ? rj_get_be64(r + off) : rj_get_be32(r + off);
		if (nr >= FZ_FS)
			*outside = true;
		else if (nr < WRITES)
			gone[nr] = true;
	}
	return true;
}

static void check(struct rj_jbd2_plan *plan, struct rj_bio *log,
	const bool gone[WRITES], bool cancels)
{
	static uint8_t volume[FZ_FS * FZ_BS];
	struct rj_bio *fs = rj_bio_new_mem(volume, sizeof(volume), "volume");
	struct rj_error err;
	uint32_t i;

	memset(volume, 0xEE, sizeof(volume));
	if (rj_jbd2_replay(plan, log, fs, NULL, NULL, &err))
		abort();
	for (i = 0; i < FZ_FS; i++) {
		int want = i >= WRITES || (cancels && gone[i]) ? 0xEE
							       : (int)(i + 1);

		if (volume[i * FZ_BS] != want ||
			volume[i * FZ_BS + FZ_BS - 1] != want)
			abort();
	}
	rj_bio_free(fs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_log l;
	bool gone[WRITES], outside, fits, before, same;
	struct rj_jbd2_plan *plan;
	uint32_t at = 1, tid = FZ_TID;
	struct rj_bio *log;
	uint8_t *r;

	if (size < 2)
		return 0;
	fuzz_log_init(&l, data[0]);
	same = data[1] % 3 == 0;
	before = data[1] % 3 == 1;
	size = size - 2 < FZ_BS - 12 ? size - 2 : FZ_BS - 12;
	if (!before) {
		write_txn(&l, at, tid);
		at += WRITES + 1;
		if (!same)
			fuzz_log_commit(&l, at++, tid++);
	}
	r = fuzz_log_header(&l, at++, RJ_JBD2_REVOKE, tid);
	memcpy(r + 12, data + 2, size);
	if (data[1] & 0x80)
		rj_put_be32(r + 12, FZ_BS - 16 + (data[1] >> 2 & 31));
	fuzz_log_seal(&l, r, FZ_BS - 4);
	if (before) {
		fuzz_log_commit(&l, at++, tid++);
		write_txn(&l, at, tid);
		at += WRITES + 1;
	}
	fuzz_log_commit(&l, at, tid);
	fits = model(&l, r, gone, &outside);
	plan = fuzz_log_scan(&l, &log);
	if (!plan)
		abort();
	if (!rj_jbd2_plan_info(plan)->damage != (fits && !outside))
		abort();
	if (fits && !outside)
		check(plan, log, gone, !before);
	rj_jbd2_plan_free(plan);
	rj_bio_free(log);
	return 0;
}
