// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * make-log SEED JOURNAL TARGET TARGETS BEFORE EXPECT E2FSCK: write a random log
 * into JOURNAL, the image of an external journal device, or of a journal
 * inode, as mke2fs made it. Its transactions write the TARGETS blocks of a
 * volume from block TARGET on, whose bytes are in BEFORE; what they must be
 * after replay goes to EXPECT, and to E2FSCK what e2fsck 1.47.0 makes of it.
 * With an eighth argument the log is nearly full and ends with a descriptor
 * that overruns it, of a transaction without a commit block.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jbd2/logmaker.h"
#include "os/fileio.h"
#include "util/bytes.h"

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
	/* (with async commit e2fsck goes on behind a bad one) */
	p->partial_commits = lm_rand(&r) % 6 == 0 && !p->async;
	/* a log cut short by e2fsck, and bad copies that it then takes for good
	 * ones: what comes of both is not predicted here */
	if (p->fast_commit || p->partial_commits)
		p->bad_but_revoked = false;
	if (p->sb_block) /* version 1 has no users: not possible on a device */
		p->version_1 = false;
	/* both want at least 1024 blocks of log proper */
	p->fast_commit &= p->maxlen > 1100;
	p->fc_blocks = p->fast_commit ? 3 + (uint32_t)(lm_rand(&r) %
						       (p->maxlen - 1030))
				      : 0;
	if (p->tags > 200)
		p->tags = 200;
	p->stale = lm_rand(&r) % 3 ? (uint32_t)(lm_rand(&r) % 300) : 0;
	p->live = (uint32_t)(lm_rand(&r) % 200);
	if (p->block_size > 4096) { /* for speed */
		p->tags = p->tags % 10 + 1;
		p->stale %= 10;
		p->live %= 30;
	}
}

/*
 * How many transactions e2fsck 1.47.0 replays where it is wrong: it wraps at
 * the end of the journal although the fast-commit area stands there, and it
 * wants a whole commit block to be covered by its checksum.
 */
static uint32_t e2fsck_takes(const struct lm_log *l)
{
	uint32_t i;

	for (i = 0; i < l->transactions; i++)
		if (l->txn[i].partial || (l->p.fast_commit && l->txn[i].round))
			break;
	return i;
}

static void params_full(struct lm_params *p)
{
	p->csum = 0;
	p->async = p->fast_commit = p->stale_ahead = p->version_1 = false;
	p->bad_but_revoked = p->partial_commits = false;
	p->fc_blocks = p->stale = 0;
	p->live = p->maxlen;
	p->tags = 1;
	p->tail = LM_TAIL_NONE;
}

static void overrun(struct lm_log *l)
{
	uint8_t *d = l->bytes + (size_t)l->end * l->p.block_size;
	uint32_t off, size = l->p.wide ? 12 : 8;

	memset(d, 0, l->p.block_size);
	rj_put_be32(d, 0xC03B3998u);
	rj_put_be32(d + 4, 1);
	rj_put_be32(d + 8, l->last_tid + 1);
	for (off = 12; off + size <= l->p.block_size; off += size) {
		rj_put_be32(d + off, (uint32_t)l->p.target);
		rj_put_be16(d + off + 6, 2);
	}
}

int main(int argc, char **argv)
{
	struct lm_params p = {0};
	struct rj_error err;
	struct rj_buf journal = {0}, region = {0}, less = {0};
	struct lm_log l = {0};
	uint8_t users[768];
	const uint8_t *sb;
	char text[256];
	int rc = 1;

	if (argc != 8 && argc != 9)
		return die("seven or eight arguments");
	p.seed = strtoull(argv[1], NULL, 0);
	p.target = strtoull(argv[3], NULL, 0);
	p.targets = (uint32_t)strtoul(argv[4], NULL, 0);
	if (rj_read_file(argv[2], 1u << 30, &journal, &err) ||
		rj_read_file(argv[5], 1u << 30, &region, &err) ||
		rj_read_file(argv[5], 1u << 30, &less, &err)) {
		rc = die(err.msg);
		goto out;
	}
	/* an inode: byte 0; a device: block 2 with 1 KiB blocks, else block 1 */
	sb = journal.data;
	if (rj_get_be32(sb) != 0xC03B3998u)
		sb = journal.data + 2048;
	if (rj_get_be32(sb) != 0xC03B3998u)
		sb = journal.data + 4096;
	params(&p, sb);
	memcpy(users, sb + 0x100, sizeof(users));
	if (argc == 9)
		params_full(&p);
	lm_make(&p, &l);
	if (argc == 9)
		overrun(&l);
	/* keep the ext2 superblock and the users of the device */
	memcpy(l.bytes, journal.data, (size_t)p.sb_block * p.block_size);
	memcpy(l.bytes + (size_t)p.sb_block * p.block_size + 0x100, users,
		sizeof(users));
	lm_seal_superblock(&l);
	lm_apply(&l, l.transactions, region.data);
	rc = put(argv[2], "r+", l.bytes, l.len, 0);
	if (!rc)
		rc = put(argv[6], "w", region.data, region.len, 0);
	lm_apply(&l, e2fsck_takes(&l), less.data);
	if (!rc)
		rc = put(argv[7], "w", less.data, less.len, 0);
	printf("%s%s%s%s%s; %u transactions, %llu tags, %llu revokes, %u spoilt\n",
		lm_describe(&p, text), l.wrapped ? ", wrapped" : "",
		e2fsck_takes(&l) < l.transactions ? ", more than e2fsck takes"
						  : "",
		p.partial_commits ? ", partial commits" : "",
		/* an end of the log at tid 0 is "no end" to e2fsck and kernel */
		p.tail == LM_TAIL_BAD_COMMIT && l.last_tid == UINT32_MAX
			? ", unfinished tid 0"
			: "",
		l.transactions,
		(unsigned long long)l.tags, (unsigned long long)l.revokes,
		l.spoilt);
	lm_free(&l);
out:
	rj_buf_free(&journal);
	rj_buf_free(&region);
	rj_buf_free(&less);
	return rc;
}
