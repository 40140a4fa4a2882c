// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * overwrite write DIRECTORY...: overwrites a file in each DIRECTORY in place, for ever, one
 * thread a file. Write number N goes to a block that N alone decides, and fills it with N.
 * "VOLUME N" goes to QEMU's debug console when an fsync acknowledged all writes up to N.
 *
 * overwrite check FILE ACKED: what a power cut left, one word: "whole": the file is as
 * after one of the writes, ACKED or a later one; "torn": a block has the bytes of two writes;
 * "order": a write is missing, and a later one is there; "lost": ACKED is missing.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "console.h"

#define BLOCKS	256u
#define WORDS	512u /* of a block: 4096 bytes */
#define BETWEEN 400u  /* writes between two fsyncs, at most */

struct file {
	unsigned volume;
	int fd;
};

static uint64_t mix(uint64_t n)
{
	n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9u;
	n = (n ^ n >> 27) * 0x94d049bb133111ebu;
	return n ^ n >> 31;
}

static unsigned block_of(uint64_t n)
{
	return n <= BLOCKS ? (unsigned)n - 1 : (unsigned)(mix(n) % BLOCKS);
}

static int put(int fd, uint64_t n)
{
	uint64_t block[WORDS];
	unsigned i;

	for (i = 0; i < WORDS; i++)
		block[i] = n;
	return pwrite(fd, block, sizeof(block), (off_t)(block_of(n) * sizeof(block))) ==
			       (ssize_t)sizeof(block)
		       ? 0
		       : -1;
}

static void *work(void *arg)
{
	struct file *f = arg;
	char line[64];
	uint64_t n;

	for (n = 1;; n++) {
		if (put(f->fd, n) || ((n == BLOCKS || mix(n) % BETWEEN == 0) && fsync(f->fd))) {
			console_say("FAILED\n");
			return NULL;
		}
		if (n < BLOCKS || (n > BLOCKS && mix(n) % BETWEEN))
			continue;
		snprintf(line, sizeof(line), "%u %" PRIu64 "\n", f->volume, n);
		console_say(line);
	}
}

static int write_all(int dirs, char **dir)
{
	pthread_t thread;
	int i;

	if (console_open()) {
		perror("overwrite: the debug console's port");
		return 1;
	}
	for (i = 0; i < dirs; i++) {
		struct file *f = malloc(sizeof(*f));
		char path[256];

		snprintf(path, sizeof(path), "%s/file", dir[i]);
		if (!f)
			return 1;
		*f = (struct file){(unsigned)i, open(path, O_RDWR | O_CREAT, 0644)};
		if (f->fd < 0 || pthread_create(&thread, NULL, work, f)) {
			perror(path);
			return 1;
		}
	}
	return pthread_join(thread, NULL);
}

/* The number of the last write of which FILE has anything. */
static uint64_t last_of(uint64_t file[BLOCKS][WORDS])
{
	uint64_t last = 0;
	unsigned b, i;

	for (b = 0; b < BLOCKS; b++)
		for (i = 0; i < WORDS; i++)
			last = file[b][i] > last ? file[b][i] : last;
	return last;
}

static const char *judge(uint64_t file[BLOCKS][WORDS], uint64_t acked)
{
	uint64_t last = last_of(file), n, wanted[BLOCKS] = {0};
	unsigned b, i;

	for (b = 0; b < BLOCKS; b++)
		for (i = 1; i < WORDS; i++)
			if (file[b][i] != file[b][0])
				return "torn";
	for (n = 1; n <= last; n++)
		wanted[block_of(n)] = n;
	for (b = 0; b < BLOCKS; b++)
		if (file[b][0] != wanted[b])
			return "order";
	return last < acked ? "lost" : "whole";
}

int main(int argc, char **argv)
{
	static uint64_t file[BLOCKS][WORDS];
	int fd;

	if (argc > 2 && !strcmp(argv[1], "write"))
		return write_all(argc - 2, argv + 2);
	if (argc != 4 || strcmp(argv[1], "check") != 0) {
		fprintf(stderr, "usage: overwrite write DIRECTORY... | check FILE ACKED\n");
		return 2;
	}
	fd = open(argv[2], O_RDONLY);
	if (fd < 0 || read(fd, file, sizeof(file)) != (ssize_t)sizeof(file)) {
		puts("lost");
		return 0;
	}
	puts(judge(file, strtoull(argv[3], NULL, 10)));
	return 0;
}
