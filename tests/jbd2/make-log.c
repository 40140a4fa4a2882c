// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * make-log SEED JOURNAL TARGET TARGETS BEFORE EXPECT E2FSCK: write a random log
 * into JOURNAL, the image of an external journal device, or of a journal
 * inode, as mke2fs made it. Its transactions write the TARGETS blocks of a
 * volume from block TARGET on, whose bytes are in BEFORE; what they must be
 * after replay goes to EXPECT, and to E2FSCK what e2fsck 1.47.0 makes of it.
 * With an eighth argument the log is nearly full and ends with a descriptor
 * that overruns it, of a transaction without a commit block.
 * With two more, VOLUME KERNEL: the transactions free and allocate the target
 * blocks, and log the bitmaps and descriptors of their groups as they are in
 * VOLUME, an image, whose target blocks become random: what was written to the device
 * directly. The files hold the target blocks, the descriptors' block and the bitmaps
 * (BEFORE is not read). KERNEL is what the kernel makes of the log, which
 * knows no implied revokes.
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
	/* (with async commit e2fsck goes on after a bad one) */
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

/* What one run is about: the log, and the region after replay. */
struct run {
	struct lm_params p;
	struct lm_groups groups;
	struct lm_log l;
	struct rj_buf journal, volume, region, kernel, less;
	uint32_t dropped, differ, direct;
};

/* The region of a volume whose groups change, with direct bytes. */
static int read_volume(struct run *r, const char *path)
{
	struct lm_groups *g = &r->groups;
	size_t bs = r->p.block_size, i;
	uint64_t at = r->p.target * bs, rng = r->p.seed + 1;
	struct rj_error err;

	g->target = r->p.target;
	g->targets = r->p.targets;
	if (rj_read_file(path, 1u << 30, &r->volume, &err))
		return die(err.msg);
	if (!lm_groups_read(g, &r->volume) ||
		at + g->targets * bs > r->volume.len)
		return die("not such a volume");
	if (rj_buf_append(&r->region, r->volume.data + at, g->targets * bs) ||
		rj_buf_append(&r->region, r->volume.data + g->desc_block * bs, bs))
		return die("out of memory");
	for (i = 1; i <= g->n; i++)
		if (rj_buf_append(&r->region,
			    r->volume.data + lm_groups_block(g, (uint32_t)i) * bs,
			    bs))
			return die("out of memory");
	for (i = 0; i < g->targets * bs; i += 8)
		rj_put_be64(r->region.data + i, lm_rand(&rng));
	r->p.groups = g;
	r->p.no_revokes = lm_rand(&rng) % 8 != 0;
	return put(path, "r+", r->region.data, g->targets * bs, (long)at);
}

/* Apply the log. Where implied revokes matter the block is free, or it was written
 * directly since. */
static int apply(struct run *r)
{
	size_t bs = r->p.block_size, i;

	if (rj_buf_append(&r->kernel, r->region.data, r->region.len) ||
		rj_buf_append(&r->less, r->region.data, r->region.len))
		return die("out of memory");
	lm_apply(&r->l, r->l.transactions, r->kernel.data);
	lm_apply(&r->l, e2fsck_takes(&r->l), r->less.data);
	r->dropped = lm_apply_freed(&r->l, r->region.data);
	for (i = 0; i < r->region.len / bs; i++) {
		if (!memcmp(r->region.data + i * bs, r->kernel.data + i * bs, bs))
			continue;
		if (i >= r->p.targets || r->l.state[i] == LM_LOGGED)
			return die("the model drops what is needed");
		r->differ++;
		r->direct += r->l.state[i] == LM_DIRECT;
	}
	return 0;
}

static void tell(const struct run *r)
{
	const struct lm_log *l = &r->l;
	char text[256];

	printf("%s%s%s%s%s; %u transactions, %llu tags, %llu revokes, %u spoilt",
		lm_describe(&r->p, text), l->wrapped ? ", wrapped" : "",
		e2fsck_takes(l) < l->transactions ? ", more than e2fsck takes"
						  : "",
		r->p.partial_commits ? ", partial commits" : "",
		/* an end of the log at tid 0 is "no end" to e2fsck and kernel */
		r->p.tail == LM_TAIL_BAD_COMMIT && l->last_tid == UINT32_MAX
			? ", unfinished tid 0"
			: "",
		l->transactions, (unsigned long long)l->tags,
		(unsigned long long)l->revokes, l->spoilt);
	if (r->p.groups)
		printf(", %u freed, %u blocks differ, %u direct", r->dropped,
			r->differ, r->direct);
	printf("\n");
}

static int make(struct run *r, bool full, char **argv)
{
	struct lm_params *p = &r->p;
	uint8_t users[768], *sb = r->journal.data;

	/* an inode: byte 0; a device: block 2 with 1 KiB blocks, else block 1 */
	if (rj_get_be32(sb) != 0xC03B3998u)
		sb = r->journal.data + 2048;
	if (rj_get_be32(sb) != 0xC03B3998u)
		sb = r->journal.data + 4096;
	params(p, sb);
	memcpy(users, sb + 0x100, sizeof(users));
	if (full)
		params_full(p);
	if (argv[8] && !full && read_volume(r, argv[8]))
		return 1;
	lm_make(p, &r->l);
	if (full)
		overrun(&r->l);
	/* keep the ext2 superblock and the users of the device */
	memcpy(r->l.bytes, r->journal.data, (size_t)p->sb_block * p->block_size);
	memcpy(r->l.bytes + (size_t)p->sb_block * p->block_size + 0x100, users,
		sizeof(users));
	lm_seal_superblock(&r->l);
	return apply(r);
}

int main(int argc, char **argv)
{
	struct run r = {0};
	struct rj_error err;
	int rc = 1;

	if (argc < 8 || argc > 10)
		return die("seven to nine arguments");
	r.p.seed = strtoull(argv[1], NULL, 0);
	r.p.target = strtoull(argv[3], NULL, 0);
	r.p.targets = (uint32_t)strtoul(argv[4], NULL, 0);
	if (rj_read_file(argv[2], 1u << 30, &r.journal, &err) ||
		(argc < 10 && rj_read_file(argv[5], 1u << 30, &r.region, &err))) {
		rc = die(err.msg);
		goto out;
	}
	rc = make(&r, argc == 9, argv);
	if (!rc)
		rc = put(argv[2], "r+", r.l.bytes, r.l.len, 0);
	if (!rc)
		rc = put(argv[6], "w", r.region.data, r.region.len, 0);
	if (!rc)
		rc = put(argv[7], "w", r.less.data, r.less.len, 0);
	if (!rc && argc == 10)
		rc = put(argv[9], "w", r.kernel.data, r.kernel.len, 0);
	if (!rc)
		tell(&r);
	lm_free(&r.l);
out:
	rj_buf_free(&r.journal);
	rj_buf_free(&r.volume);
	rj_buf_free(&r.region);
	rj_buf_free(&r.kernel);
	rj_buf_free(&r.less);
	free(r.groups.bytes);
	return rc;
}
