// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz-seeds DIRECTORY COUNT: small logs for fuzz-scan to start from. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jbd2/logmaker.h"

int main(int argc, char **argv)
{
	unsigned i, n = argc == 3 ? (unsigned)strtoul(argv[2], NULL, 0) : 0;
	char path[4096];
	struct lm_log l;
	FILE *f;
	int bad;

	for (i = 0; i < n; i++) {
		struct lm_params p = {.seed = i + 1,
			.block_size = 1024,
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
		snprintf(path, sizeof(path), "%s/log-%u", argv[1], i);
		f = fopen(path, "w");
		bad = !f || fputc((int)(i & 3), f) == EOF ||
		      fwrite(l.bytes, l.len, 1, f) != 1;
		if (f && fclose(f))
			bad = 1;
		lm_free(&l);
		if (bad) {
			perror(path);
			return 1;
		}
	}
	return n ? 0 : 2;
}
