// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-seeds TARGET DIRECTORY COUNT: inputs for the fuzz targets to start
 * from: small logs (scan), or the first block of a kind in such logs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jbd2/logmaker.h"

#define BS 1024u

static int put(const char *dir, const char *target, unsigned i,
	const void *head, size_t head_len, const void *data, size_t len)
{
	char path[4096];
	FILE *f;
	int bad;

	snprintf(path, sizeof(path), "%s/%s-%u", dir, target, i);
	f = fopen(path, "w");
	bad = !f || fwrite(head, head_len, 1, f) != 1 ||
	      fwrite(data, len, 1, f) != 1;
	if (f && fclose(f))
		bad = 1;
	if (bad)
		perror(path);
	return bad;
}

/* The dialect as tests/jbd2/fuzzlog.h reads it from byte 0. */
static uint8_t dialect(const struct lm_params *p)
{
	return (uint8_t)(p->csum | (p->wide ? 4 : 0));
}

static int seed(const char *target, const char *dir, unsigned i,
	const struct lm_log *l)
{
	uint8_t head[2] = {(uint8_t)(i & 3), (uint8_t)i};
	uint32_t t, block;

	if (!strcmp(target, "scan"))
		return put(dir, target, i, head, 1, l->bytes, l->len);
	if (!strcmp(target, "superblock"))
		return put(dir, target, i, head, 1, l->bytes, BS);
	head[0] = dialect(&l->p);
	for (t = 0; t < l->transactions; t++) {
		bool revoke = !strcmp(target, "revoke");

		block = revoke ? l->txn[t].revoke_block
			       : l->txn[t].descriptor_block;
		if (block)
			return put(dir, target, i, head, revoke ? 2 : 1,
				l->bytes + (size_t)block * BS + 12, BS - 12);
	}
	return 0;
}

int main(int argc, char **argv)
{
	unsigned i, n = argc == 4 ? (unsigned)strtoul(argv[3], NULL, 0) : 0;
	struct lm_log l;
	int bad = 0;

	for (i = 0; i < n && !bad; i++) {
		struct lm_params p = {.seed = i + 1,
			.block_size = BS,
			.maxlen = 24,
			.first = 1,
			.target = 4,
			.targets = 4,
			.uuid = {(uint8_t)i}};

		lm_shuffle(&p);
		p.tags = 1 + i % 2;
		p.live = 3;
		p.stale %= 5;
		p.fc_blocks = p.fast_commit ? 4 : 0;
		lm_make(&p, &l);
		bad = seed(argv[1], argv[2], i, &l);
		lm_free(&l);
	}
	return n ? bad : 2;
}
