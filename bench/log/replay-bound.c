// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * replay-bound JOURNAL MAP BLOCKS VOLUME PLAN: what no replay can be faster
 * than on this disk, unless it does both at once: read the BLOCKS blocks of
 * the log in order with large reads, write each block of PLAN (see replay-log)
 * once in order, fsync. Direct I/O, 4 MiB at a time. What it writes has no
 * meaning.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BS    4096u
#define PIECE 1024u /* blocks */

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void read_log(int fd, const char *map, uint64_t left, void *buf)
{
	FILE *f = fopen(map, "r");
	unsigned long long at, count, n;

	if (!f)
		die(map);
	while (left && fscanf(f, "%llu %llu", &at, &count) == 2)
		for (; left && count; at += n, count -= n, left -= n) {
			n = count < PIECE ? count : PIECE;
			n = n < left ? n : left;
			if (pread(fd, buf, n * BS, (off_t)(at * BS)) !=
				(ssize_t)(n * BS))
				die("read");
		}
	fclose(f);
}

static void write_plan(int fd, const char *plan, const void *buf)
{
	FILE *f = fopen(plan, "r");
	uint64_t t[2], first = 0, n = 0;
	bool more;

	if (!f)
		die(plan);
	do {
		more = fread(t, sizeof(t), 1, f) == 1;
		if (more && n && n < PIECE && t[0] == first + n) {
			n++;
			continue;
		}
		if (n && pwrite(fd, buf, n * BS, (off_t)(first * BS)) !=
				 (ssize_t)(n * BS))
			die("write");
		first = t[0];
		n = 1;
	} while (more);
	fclose(f);
	if (fsync(fd))
		die("fsync");
}

int main(int argc, char **argv)
{
	int log, fs;
	void *buf = NULL;

	if (argc != 6)
		return 2;
	log = open(argv[1], O_RDONLY | O_DIRECT);
	fs = open(argv[4], O_WRONLY | O_DIRECT);
	if (log < 0 || fs < 0 || posix_memalign(&buf, BS, PIECE * BS))
		die("open");
	memset(buf, 0x55, PIECE * BS);
	read_log(log, argv[2], strtoull(argv[3], NULL, 0), buf);
	write_plan(fs, argv[5], buf);
	return 0;
}
