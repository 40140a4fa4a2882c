// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target: one descriptor block. Byte 0 chooses the dialect and
 * whether the tags' own checksums are made right; the rest is the block after
 * its header. A tag parser of our own, from the facts alone, says what a
 * replay must write.
 */
#include "jbd2/fuzzlog.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct model {
	uint32_t tags;
	bool outside;           /* a tag points past the volume's end */
	uint32_t source[FZ_FS]; /* log block of the last copy; 0: none */
	bool escaped[FZ_FS];
};

static uint32_t tag_size(const struct fuzz_log *l)
{
	if (l->csum == 3)
		return 16;
	return 8 + (l->csum == 2 ? 2 : 0) + (l->wide ? 4 : 0);
}

/* Read the tags, give each data block its own bytes, seal. */
static void parse(struct fuzz_log *l, uint8_t *d, bool seal, struct model *m)
{
	uint32_t off = 12, size = tag_size(l), end = fuzz_log_payload(l), crc;
	uint8_t *t, *block, seq[4];
	uint16_t flags = 0;
	uint64_t nr;

	rj_put_be32(seq, FZ_TID);
	while (!(flags & 8) && off + size <= end) {
		t = d + off;
		nr = rj_get_be32(t);
		if (l->wide)
			nr |= (uint64_t)rj_get_be32(t + 8) << 32;
		flags = rj_get_be16(t + 6);
		block = l->bytes + (2 + m->tags) * FZ_BS;
		memset(block, (int)(m->tags + 1), FZ_BS);
		crc = rj_crc32c(rj_crc32c(l->seed, seq, 4), block, FZ_BS);
		if (seal && l->csum == 2)
			rj_put_be16(t + 4, (uint16_t)crc);
		if (seal && l->csum == 3)
			rj_put_be32(t + 12, crc);
		m->tags++;
		if (nr >= FZ_FS) {
			m->outside = true;
		} else {
			m->source[nr] = 1 + m->tags;
			m->escaped[nr] = flags & 1;
		}
		off += size + (flags & 2 ? 0 : 16);
	}
}

static void replayed(struct rj_jbd2_plan *plan, struct rj_bio *log,
	const struct fuzz_log *l, const struct model *m)
{
	static uint8_t volume[FZ_FS * FZ_BS], want[FZ_FS * FZ_BS];
	struct rj_bio *fs = rj_bio_new_mem(volume, sizeof(volume), "volume");
	struct rj_error err;
	uint32_t i;

	memset(volume, 0xEE, sizeof(volume));
	memset(want, 0xEE, sizeof(want));
	if (rj_jbd2_replay(plan, log, fs, NULL, NULL, &err))
		abort();
	for (i = 0; i < FZ_FS; i++) {
		if (!m->source[i])
			continue;
		memcpy(want + i * FZ_BS, l->bytes + m->source[i] * FZ_BS,
			FZ_BS);
		if (m->escaped[i])
			rj_put_be32(want + i * FZ_BS, RJ_JBD2_MAGIC);
	}
	if (memcmp(volume, want, sizeof(want)))
		abort();
	rj_bio_free(fs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_log l;
	struct rj_jbd2_plan *plan;
	const struct rj_jbd2_info *info;
	struct model m = {0};
	struct rj_bio *log;
	uint8_t *d;
	bool seal;

	if (!size)
		return 0;
	fuzz_log_init(&l, data[0]);
	seal = !(data[0] & 8);
	d = fuzz_log_header(&l, 1, RJ_JBD2_DESCRIPTOR, FZ_TID);
	size = size - 1 < FZ_BS - 12 ? size - 1 : FZ_BS - 12;
	memcpy(d + 12, data + 1, size);
	parse(&l, d, seal, &m);
	fuzz_log_seal(&l, d, FZ_BS - 4);
	fuzz_log_commit(&l, 2 + m.tags, FZ_TID);
	plan = fuzz_log_scan(&l, &log);
	if (!plan)
		abort(); /* its superblock is good */
	info = rj_jbd2_plan_info(plan);
	if (m.outside && info->damage != RJ_JBD2_BAD_BLOCKNR)
		abort();
	if (!m.outside && seal && info->damage)
		abort();
	if (!info->damage) {
		if (info->transactions != 1 || info->tags != m.tags)
			abort();
		replayed(plan, log, &l, &m);
	} else if (info->transactions) {
		abort();
	}
	rj_jbd2_plan_free(plan);
	rj_bio_free(log);
	return 0;
}
