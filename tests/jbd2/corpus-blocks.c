// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * corpus-blocks IMAGE [FIRST-LAST...]: the blocks of an ext2/3/4 image that
 * count when two replays are compared, on stdout, each as its number (8 bytes,
 * little-endian) and its bytes: all that are not zero, the primary superblock's
 * 1024 bytes taken as zero, without the blocks in the ranges (the journal's).
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/bytes.h"

struct range {
	unsigned long long first, last;
};

static int skipped(const struct range *r, int n, unsigned long long block)
{
	int i;

	for (i = 0; i < n; i++)
		if (block >= r[i].first && block <= r[i].last)
			return 1;
	return 0;
}

static int put(const uint8_t *data, uint32_t bs, unsigned long long block)
{
	uint8_t nr[8];

	rj_put_le64(nr, block);
	return fwrite(nr, 8, 1, stdout) != 1 || fwrite(data, bs, 1, stdout) != 1;
}

static int blocks(int fd, uint32_t bs, const struct range *r, int n)
{
	uint8_t *data = malloc(bs), *zero = calloc(1, bs);
	off_t off = 0;
	ssize_t got;
	int bad = !data || !zero;

	while (!bad && (off = lseek(fd, off, SEEK_DATA)) >= 0) {
		off -= off % bs;
		memset(data, 0, bs);
		got = pread(fd, data, bs, off);
		if (got <= 0)
			break;
		if (off / bs == 1024 / bs)
			memset(data + 1024 % bs, 0, 1024);
		if (memcmp(data, zero, bs) &&
			!skipped(r, n, (unsigned long long)(off / bs)))
			bad = put(data, bs, (unsigned long long)(off / bs));
		off += bs;
	}
	free(data);
	free(zero);
	return bad || fflush(stdout);
}

int main(int argc, char **argv)
{
	struct range r[64];
	uint8_t sb[1024];
	int fd, i, n = 0;

	if (argc < 2 || argc > 66)
		return 2;
	for (i = 2; i < argc; i++)
		if (sscanf(argv[i], "%llu-%llu", &r[n].first, &r[n].last) == 2)
			n++;
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (n != argc - 2 || fd < 0 || pread(fd, sb, 1024, 1024) != 1024) {
		fprintf(stderr, "corpus-blocks: cannot read %s\n", argv[1]);
		return 2;
	}
	i = blocks(fd, 1024u << (rj_get_le32(sb + 24) & 15), r, n);
	close(fd);
	return i;
}
