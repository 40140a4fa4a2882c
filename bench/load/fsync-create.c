// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fsync-create DIR COUNT BYTES [THREADS [SECONDS]]: create COUNT files of BYTES
 * in DIR, each written, fsynced and closed before the next, and print the
 * creates per second, the median and the 99th percentile of one in
 * microseconds, and how many there were. With THREADS as many at a time, each
 * with its share of COUNT; with SECONDS (a fraction, too) they stop when the
 * time is over. With a device instead of DIR: overwrite its first BYTES, and
 * fdatasync, each time: what the disk itself takes. BYTES may then be two numbers,
 * as 32768+4096: the second is written and flushed behind the first, as the blocks
 * of a commit and its commit block are.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MANY 64 /* threads at most */

struct worker {
	pthread_t thread;
	unsigned id, count, done;
	int failed; /* errno */
	double *us;
};

static int device = -1;
static size_t bytes, behind;
static char *data;
static double until; /* 0: no end */

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

static int create_one(unsigned thread, unsigned i)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "t%02uf%08u", thread, i);
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0644);
	if (fd < 0)
		return -1;
	if (write(fd, data, bytes) != (ssize_t)bytes || fsync(fd)) {
		close(fd);
		return -1;
	}
	return close(fd);
}

static int overwrite(void)
{
	if (pwrite(device, data, bytes, 0) != (ssize_t)bytes || fdatasync(device))
		return -1;
	if (!behind)
		return 0;
	if (pwrite(device, data, behind, (off_t)bytes) != (ssize_t)behind)
		return -1;
	return fdatasync(device);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	double start;

	for (; w->done < w->count; w->done++) {
		start = now();
		if (until != 0 && start > until)
			break;
		if (device < 0 ? create_one(w->id, w->done) : overwrite()) {
			w->failed = errno;
			break;
		}
		w->us[w->done] = now() - start;
	}
	return NULL;
}

static int run(const char *where, unsigned threads, unsigned count, double *us)
{
	struct worker workers[MANY] = {{0}};
	unsigned i, done = 0;
	int failed = 0;
	double start;

	start = now();
	if (until != 0)
		until = start + until * 1e6;
	for (i = 0; i < threads; i++) {
		workers[i].id = i;
		workers[i].count = count / threads;
		workers[i].us = us + (size_t)i * (count / threads);
		if (pthread_create(
			    &workers[i].thread, NULL, work, &workers[i]))
			return 1;
	}
	for (i = 0; i < threads; i++) {
		pthread_join(workers[i].thread, NULL);
		/* one list without gaps, to be sorted */
		memmove(us + done, workers[i].us,
			workers[i].done * sizeof(*us));
		done += workers[i].done;
		if (workers[i].failed)
			failed = workers[i].failed;
	}
	start = now() - start;
	if (failed || !done) {
		fprintf(stderr, "fsync-create: %s, after %u: %s\n", where, done,
			strerror(failed));
		return 1;
	}
	qsort(us, done, sizeof(*us), by_size);
	printf("%.0f %.0f %.0f %u\n", done / start * 1e6, us[done / 2],
		us[done * 99ull / 100], done);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned count, threads;
	bool usable;
	double *us;
	char *end;
	int rc;

	threads = argc > 4 ? (unsigned)atoi(argv[4]) : 1;
	until = argc > 5 ? atof(argv[5]) : 0;
	usable = argc >= 4 && argc <= 6 && threads && threads <= MANY &&
		 atoi(argv[2]) >= (int)threads;
	if (usable && chdir(argv[1])) {
		device = open(argv[1], O_WRONLY | O_DIRECT);
		usable = device >= 0;
	}
	if (!usable) {
		fprintf(stderr, "usage: fsync-create DIR COUNT BYTES [THREADS "
				"[SECONDS]]\n");
		return 2;
	}
	count = (unsigned)atoi(argv[2]);
	bytes = strtoul(argv[3], &end, 10);
	behind = *end == '+' ? strtoul(end + 1, NULL, 10) : 0;
	us = calloc(count, sizeof(*us));
	data = aligned_alloc(4096, (bytes + behind + 4096) & ~4095ul);
	if (!us || !data)
		return 1;
	memset(data, 'r', bytes + behind);
	rc = run(argv[1], threads, count, us);
	free(us);
	free(data);
	return rc;
}
