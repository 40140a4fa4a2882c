// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fsync-create DIR COUNT BYTES: create COUNT files of BYTES in DIR, each
 * written, fsynced and closed before the next, and print the creates per
 * second, then the median and the 99th percentile of one in microseconds.
 * With a device instead of DIR: overwrite its first BYTES, and fdatasync, each
 * time: what the disk itself takes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int create_one(unsigned i, const char *data, size_t bytes)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "f%08u", i);
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0644);
	if (fd < 0)
		return -1;
	if (write(fd, data, bytes) != (ssize_t)bytes || fsync(fd)) {
		close(fd);
		return -1;
	}
	return close(fd);
}

static int overwrite(int device, const char *data, size_t bytes)
{
	if (pwrite(device, data, bytes, 0) != (ssize_t)bytes)
		return -1;
	return fdatasync(device);
}

int main(int argc, char **argv)
{
	int device = -1;
	unsigned count, i;
	double *us, start;
	size_t bytes;
	char *data;

	if (argc == 4 && chdir(argv[1]))
		device = open(argv[1], O_WRONLY | O_DIRECT);
	if (argc != 4 || atoi(argv[2]) < 1 || (device < 0 && chdir(argv[1]))) {
		fprintf(stderr, "usage: fsync-create DIR COUNT BYTES\n");
		return 2;
	}
	count = (unsigned)atoi(argv[2]);
	bytes = strtoul(argv[3], NULL, 10);
	us = calloc(count, sizeof(*us));
	data = aligned_alloc(4096, (bytes + 4096) & ~4095ul);
	if (!us || !data)
		return 1;
	memset(data, 'r', bytes);
	start = now();
	for (i = 0; i < count; i++) {
		us[i] = now();
		if (device < 0 ? create_one(i, data, bytes)
			       : overwrite(device, data, bytes)) {
			fprintf(stderr, "fsync-create: %s, number %u: %s\n",
				argv[1], i, strerror(errno));
			return 1;
		}
		us[i] = now() - us[i];
	}
	start = now() - start;
	qsort(us, count, sizeof(*us), by_size);
	printf("%.0f %.0f %.0f\n", count / start * 1e6, us[count / 2],
		us[count * 99ull / 100]);
	free(us);
	free(data);
	return 0;
}
