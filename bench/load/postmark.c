// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * postmark DIR FILES TRANSACTIONS SEED [LEAST MOST [DIRS]]: the load of a mail or news server, as
 * the PostMark benchmark describes it: FILES files of LEAST to MOST (500 to 1000) bytes are made in
 * DIRS (32) subdirectories of DIR; then each transaction makes or removes one, and reads
 * or lengthens another; then all are removed. No fsync, but syncfs at each
 * step's end is part of the time: a load that ends in the page cache would
 * measure the page cache. Prints the transactions per second of all three
 * steps together, the seconds of each step in thousandths, and TRANSACTIONS.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/clock.h"

static unsigned least = 500, most = 1000, dirs = 32;

static uint64_t seed;
static unsigned *alive; /* numbers of the files that are there */
static unsigned count, next;
static char *data; /* of MOST bytes */

/* xorshift64*: the same load from the same seed, wherever it is run */
static unsigned below(unsigned n)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return (unsigned)((seed * 2685821657736338717ull >> 33) % n);
}

static const char *name_of(unsigned number)
{
	static char name[32];

	snprintf(name, sizeof(name), "s%02u/%08u", number % dirs, number);
	return name;
}

static int append(unsigned number, int flags)
{
	size_t len = least + below(most - least + 1);
	int fd = open(name_of(number), O_WRONLY | flags, 0644);

	if (fd < 0)
		return -1;
	if (write(fd, data, len) != (ssize_t)len) {
		close(fd);
		return -1;
	}
	return close(fd);
}

static int make_one(void)
{
	alive[count++] = next;
	return append(next++, O_CREAT | O_EXCL);
}

static int remove_one(void)
{
	unsigned i = below(count);
	unsigned number = alive[i];

	alive[i] = alive[--count];
	return unlink(name_of(number));
}

static int read_one(void)
{
	char buf[65536];
	int fd = open(name_of(alive[below(count)]), O_RDONLY);
	ssize_t n = 1;

	if (fd < 0)
		return -1;
	while (n > 0)
		n = read(fd, buf, sizeof(buf));
	return close(fd) || n < 0 ? -1 : 0;
}

static int transaction(void)
{
	int rc = below(2) || count < 2 ? make_one() : remove_one();

	if (rc)
		return rc;
	return below(2) ? read_one() : append(alive[below(count)], O_APPEND);
}

/* 1: make FILES; 2: TRANSACTIONS; 3: remove all. */
static int step(int which, unsigned n)
{
	int fd = open(".", O_RDONLY | O_DIRECTORY), rc = fd < 0 ? -1 : 0;

	while (!rc && n-- > 0)
		rc = which == 1 ? make_one()
				: (which == 2 ? transaction() : remove_one());
	if (!rc)
		rc = syncfs(fd);
	if (fd >= 0)
		close(fd);
	return rc;
}

int main(int argc, char **argv)
{
	unsigned files, transactions, i;
	double times[4];
	char name[16];
	int rc = 0;

	if (argc == 7 || argc == 8) {
		least = (unsigned)atoi(argv[5]);
		most = (unsigned)atoi(argv[6]);
	}
	if (argc == 8)
		dirs = (unsigned)atoi(argv[7]);
	if ((argc != 5 && argc != 7 && argc != 8) || dirs < 1 ||
		atoi(argv[2]) < 1 || atoi(argv[3]) < 1 ||
		least > most || chdir(argv[1])) {
		fprintf(stderr,
			"usage: postmark DIR FILES TRANSACTIONS SEED [LEAST MOST [DIRS]]\n");
		return 2;
	}
	files = (unsigned)atoi(argv[2]);
	transactions = (unsigned)atoi(argv[3]);
	seed = strtoull(argv[4], NULL, 10) * 2 + 1;
	alive = calloc((size_t)files + transactions, sizeof(*alive));
	data = malloc(most);
	if (!alive || !data)
		return 1;
	memset(data, 'p', most);
	times[0] = now();
	for (i = 0; !rc && i < dirs; i++) {
		snprintf(name, sizeof(name), "s%02u", i);
		rc = mkdir(name, 0755);
	}
	for (i = 1; !rc && i <= 3; i++) {
		rc = step((int)i,
			i == 1 ? files : (i == 2 ? transactions : count));
		times[i] = now();
	}
	if (rc) {
		fprintf(stderr, "postmark: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	printf("%.0f %.0f/%.0f/%.0f 0 %u\n",
		transactions / (times[3] - times[0]),
		(times[1] - times[0]) * 1e3, (times[2] - times[1]) * 1e3,
		(times[3] - times[2]) * 1e3, transactions);
	free(alive);
	free(data);
	return 0;
}
