// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes large logs for bench/replay: jbd2 v3 checksums, 64-bit, 4 KiB blocks.
 *
 * replay-log KIND BLOCKS FREE JOURNAL MAP SB VOLUME-BLOCKS PLAN
 *	Write a log of about BLOCKS blocks into the journal in file JOURNAL,
 *	whose blocks stand where MAP says (lines "PHYSICAL COUNT", in log
 *	order); its superblock is log block SB. KIND: data, copies, revokes.
 *	The transactions write free blocks of the volume (FREE: lines
 *	"FIRST LAST"). PLAN gets what a replay must write: pairs of 64-bit
 *	numbers, block and tid, ascending. Prints the log blocks used.
 * replay-log check VOLUME PLAN
 *	Does the volume hold what the plan says?
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "util/bytes.h"
#include "util/crc32c.h"

#define BS          4096u
#define TAGS        254u  /* (4096 - 12 - 4 - uuid) / 16 */
#define DESCRIPTORS 8u    /* in one transaction */
#define RECORDS     509u  /* (4096 - 16 - 4) / 8 */
#define COPIES      4096u /* distinct blocks of kind "copies" */

struct target {
	uint64_t block;
	uint64_t tid; /* of the copy that counts; 0: none */
};

struct gen {
	FILE *journal;
	uint64_t *map; /* log block to block of the file */
	uint32_t maplen, at, first;
	uint32_t seed, tid, sb_block;
	int64_t seconds;
	struct target *t;
	size_t targets, revoked;
	uint64_t volume_blocks, junk;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void put(struct gen *g, const uint8_t *block)
{
	if (g->at >= g->maplen) {
		fprintf(stderr, "replay-log: the journal is too small\n");
		exit(1);
	}
	if (fseeko(g->journal, (off_t)(g->map[g->at] * BS), SEEK_SET) ||
		fwrite(block, BS, 1, g->journal) != 1)
		die("journal");
	g->at++;
}

static void header(uint8_t *b, uint32_t type, uint32_t tid)
{
	memset(b, 0, BS);
	rj_put_be32(b, 0xC03B3998u);
	rj_put_be32(b + 4, type);
	rj_put_be32(b + 8, tid);
}

static void seal(struct gen *g, uint8_t *b)
{
	rj_put_be32(b + BS - 4, rj_crc32c(g->seed, b, BS));
}

static void content(uint8_t *b, uint64_t block, uint64_t tid)
{
	uint64_t i, v = block * 0x9E3779B97F4A7C15ull + tid;

	for (i = 0; i < BS / 8; i++)
		memcpy(b + i * 8, &(uint64_t){v + i}, 8);
	b[0] = 1; /* never the journal's magic number */
}

static void descriptor(struct gen *g, struct target **t, uint32_t n)
{
	static uint8_t d[BS], data[TAGS][BS];
	uint32_t i, off = 12;
	uint8_t seq[4];

	rj_put_be32(seq, g->tid);
	header(d, 1, g->tid);
	for (i = 0; i < n; i++) {
		uint32_t crc = rj_crc32c(g->seed, seq, 4);

		content(data[i], t[i]->block, g->tid);
		t[i]->tid = g->tid;
		rj_put_be32(d + off, (uint32_t)t[i]->block);
		rj_put_be32(d + off + 4, (i ? 2 : 0) | (i == n - 1 ? 8 : 0));
		rj_put_be32(d + off + 8, (uint32_t)(t[i]->block >> 32));
		rj_put_be32(d + off + 12, rj_crc32c(crc, data[i], BS));
		off += 16 + (i ? 0 : 16);
	}
	seal(g, d);
	put(g, d);
	for (i = 0; i < n; i++)
		put(g, data[i]);
}

static void commit(struct gen *g)
{
	uint8_t b[BS];

	header(b, 2, g->tid);
	rj_put_be64(b + 48, (uint64_t)g->seconds);
	rj_put_be32(b + 16, rj_crc32c(g->seed, b, BS));
	put(g, b);
	g->tid++;
}

/* 20 blocks of revokes. WITH_TARGETS: every third target that was logged, else
 * blocks of the volume's last quarter, where no target is. */
static void revokes(struct gen *g, bool with_targets)
{
	uint64_t quarter = g->volume_blocks / 4, nr;
	size_t k, blocks = 20;
	uint8_t b[BS];

	while (blocks--) {
		header(b, 5, g->tid);
		for (k = 0; k < RECORDS; k++) {
			nr = g->volume_blocks - 1 - g->junk++ % quarter;
			if (with_targets && g->revoked < g->targets &&
				g->t[g->revoked].tid) {
				nr = g->t[g->revoked].block;
				g->t[g->revoked].tid = 0;
				g->revoked += 3;
			}
			rj_put_be64(b + 16 + k * 8, nr);
		}
		rj_put_be32(b + 12, 16 + RECORDS * 8);
		seal(g, b);
		put(g, b);
	}
}

static void load_map(struct gen *g, const char *path)
{
	FILE *f = fopen(path, "r");
	unsigned long long at, count;

	if (!f)
		die(path);
	while (fscanf(f, "%llu %llu", &at, &count) == 2) {
		g->map = realloc(g->map, (g->maplen + count) * 8);
		for (; g->map && count; count--)
			g->map[g->maplen++] = at++;
	}
	fclose(f);
	if (!g->map)
		die(path);
}

/* RUN blocks used, GAP left out, while they are free. */
static void pick(struct gen *g, const char *path, uint32_t run, uint32_t gap,
	size_t most)
{
	FILE *f = fopen(path, "r");
	unsigned long long a, b;

	g->t = calloc(most, sizeof(*g->t));
	if (!f || !g->t)
		die(path);
	while (fscanf(f, "%llu %llu", &a, &b) == 2)
		for (; a + run <= b && g->targets + run <= most; a += gap)
			for (uint32_t i = 0; i < run; i++)
				g->t[g->targets++].block = a++;
	fclose(f);
}

static void super(struct gen *g, bool write, uint32_t used)
{
	uint8_t *b = calloc(1, BS), *sb = b;
	off_t at = (off_t)(g->map[g->sb_block] * BS);

	if (!b || fseeko(g->journal, at, SEEK_SET) ||
		fread(b, 1, BS, g->journal) != BS)
		die("journal superblock");
	if (rj_get_be32(sb) != 0xC03B3998u) {
		fprintf(stderr, "replay-log: no journal superblock\n");
		exit(1);
	}
	g->first = rj_get_be32(sb + 0x14);
	g->seed = rj_crc32c(~0u, sb + 0x30, 16);
	if (write) {
		rj_put_be32(sb + 0x18, 1000); /* sequence */
		rj_put_be32(sb + 0x1C, g->first);
		rj_put_be32(sb + 0x28, 0x13); /* revoke, 64bit, v3 */
		sb[0x50] = 4;
		rj_put_be32(sb + 0xFC, 0);
		rj_put_be32(sb + 0xFC, rj_crc32c(~0u, sb, 1024));
		if (fseeko(g->journal, at, SEEK_SET) ||
			fwrite(b, 1, BS, g->journal) != BS ||
			fflush(g->journal) || fsync(fileno(g->journal)))
			die("journal superblock");
		printf("%u\n", used);
	}
	free(b);
}

/* One transaction; runs of 64 targets come in an order of their own. */
static void transaction(struct gen *g, size_t *next, bool revoke)
{
	struct target *t[TAGS];
	size_t runs = g->targets / 64;
	uint32_t d, i;

	if (revoke)
		revokes(g, false);
	for (d = 0; d < DESCRIPTORS; d++) {
		for (i = 0; i < TAGS; i++) {
			size_t n = *next % (runs * 64);

			t[i] = &g->t[n / 64 * 7919 % runs * 64 + n % 64];
			++*next;
		}
		descriptor(g, t, TAGS);
	}
	commit(g);
}

static void save(struct gen *g, const char *path)
{
	FILE *f = fopen(path, "w");
	size_t i;

	if (!f)
		die(path);
	for (i = 0; i < g->targets; i++)
		if (g->t[i].tid)
			fwrite(&g->t[i], sizeof(g->t[i]), 1, f);
	if (fclose(f))
		die(path);
}

static int generate(char **argv)
{
	struct gen g = {.tid = 1000, .seconds = time(NULL)};
	bool copies = !strcmp(argv[1], "copies");
	bool revoke = !strcmp(argv[1], "revokes");
	size_t want = strtoull(argv[2], NULL, 0), next = 0;

	g.journal = fopen(argv[4], "r+");
	if (!g.journal)
		die(argv[4]);
	load_map(&g, argv[5]);
	g.sb_block = (uint32_t)strtoul(argv[6], NULL, 0);
	g.volume_blocks = strtoull(argv[7], NULL, 0);
	if (copies)
		pick(&g, argv[3], 64, 64, COPIES);
	else
		pick(&g, argv[3], 256, 16, want);
	if (g.targets < 4096 ||
		g.t[g.targets - 1].block >= g.volume_blocks / 4 * 3) {
		fprintf(stderr, "replay-log: too few free blocks\n");
		return 1;
	}
	super(&g, false, 0);
	g.at = g.first;
	while (g.at - g.first < want &&
		(copies || next + DESCRIPTORS * TAGS <= g.targets / 64 * 64)) {
		transaction(&g, &next, revoke);
		if (revoke) {
			revokes(&g, true);
			commit(&g);
		}
	}
	/* the end of the log: a block that is none of its own */
	put(&g, (uint8_t[BS]){0});
	super(&g, true, g.at - g.first);
	save(&g, argv[8]);
	return 0;
}

static int check(const char *volume, const char *plan)
{
	FILE *v = fopen(volume, "r"), *p = fopen(plan, "r");
	uint8_t want[BS], have[BS];
	struct target t;

	if (!v || !p)
		die(volume);
	while (fread(&t, sizeof(t), 1, p) == 1) {
		content(want, t.block, t.tid);
		if (fseeko(v, (off_t)(t.block * BS), SEEK_SET) ||
			fread(have, BS, 1, v) != 1)
			die(volume);
		if (memcmp(want, have, BS)) {
			printf("block %llu is not that of transaction %llu\n",
				(unsigned long long)t.block,
				(unsigned long long)t.tid);
			return 1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "check"))
		return check(argv[2], argv[3]);
	if (argc == 9)
		return generate(argv);
	fprintf(stderr, "replay-log: see the top of its source\n");
	return 2;
}
