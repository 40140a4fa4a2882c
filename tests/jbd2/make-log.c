// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * make-log SEED JOURNAL TARGET TARGETS BEFORE EXPECT: write a random log into
 * JOURNAL, the image of an external journal device as mke2fs made it. Its
 * transactions write the TARGETS blocks of a volume from block TARGET on,
 * whose bytes are in BEFORE; what they must be after replay goes to EXPECT.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jbd2/logmaker.h"
#include "util/bytes.h"
#include "util/fileio.h"

static int die(const char *what)
{
	fprintf(stderr, "make-log: %s\n", what);
	return 1;
}

static int put(const char *path, const char *mode, const void *data, size_t len,
	long off)
{
	FILE *f = fopen(path, mode);
	int bad =
		!f || fseek(f, off, SEEK_SET) || fwrite(data, 1, len, f) != len;

	if (f && fclose(f))
		bad = 1;
	return bad ? die(path) : 0;
}

static void params(struct lm_params *p, const uint8_t *sb)
{
	uint64_t r = p->seed;

	p->block_size = rj_get_be32(sb + 0xC);
	p->maxlen = rj_get_be32(sb + 0x10);
	p->first = rj_get_be32(sb + 0x14);
	p->sb_block = p->first - 1;
	memcpy(p->uuid, sb + 0x30, 16);
	lm_shuffle(p);
	/* what e2fsck or the kernel cannot do, see doc/jbd2-replay.md */
	p->fast_commit = false;
	p->fc_blocks = 0;
	p->version_1 = false; /* has no users: not possible on a device */
	p->partial_commits = false;
	if (p->tags > 200)
		p->tags = 200;
	p->stale = lm_rand(&r) % 3 ? (uint32_t)(lm_rand(&r) % 300) : 0;
	p->live = (uint32_t)(lm_rand(&r) % 200);
}

int main(int argc, char **argv)
{
	struct lm_params p = {0};
	struct rj_error err;
	struct rj_buf journal = {0}, region = {0};
	struct lm_log l = {0};
	uint8_t users[768];
	const uint8_t *sb;
	char text[256];
	int rc = 1;

	if (argc != 7)
		return die("six arguments");
	p.seed = strtoull(argv[1], NULL, 0);
	p.target = strtoull(argv[3], NULL, 0);
	p.targets = (uint32_t)strtoul(argv[4], NULL, 0);
	if (rj_read_file(argv[2], 1u << 30, &journal, &err) ||
		rj_read_file(argv[5], 1u << 30, &region, &err)) {
		rc = die(err.msg);
		goto out;
	}
	/* 1 KiB blocks: in block 2, at byte 2048; else in block 1 */
	sb = journal.data + 2048;
	if (rj_get_be32(sb) != 0xC03B3998u)
		sb = journal.data + 4096;
	params(&p, sb);
	memcpy(users, sb + 0x100, sizeof(users));
	lm_make(&p, &l);
	/* keep the ext2 superblock and the users of the device */
	memcpy(l.bytes, journal.data, (size_t)p.sb_block * p.block_size);
	memcpy(l.bytes + (size_t)p.sb_block * p.block_size + 0x100, users,
		sizeof(users));
	lm_seal_superblock(&l);
	lm_apply(&l, l.transactions, region.data);
	rc = put(argv[2], "r+", l.bytes, l.len, 0);
	if (!rc)
		rc = put(argv[6], "w", region.data, region.len, 0);
	printf("%s; %u transactions, %llu tags, %llu revokes, %u spoilt\n",
		lm_describe(&p, text), l.transactions,
		(unsigned long long)l.tags, (unsigned long long)l.revokes,
		l.spoilt);
	lm_free(&l);
out:
	rj_buf_free(&journal);
	rj_buf_free(&region);
	return rc;
}
