// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * filebench-load varmail|fileserver DIR FILES THREADS SECONDS: the operations of filebench's
 * profiles of these names on a set of FILES names in DIR, of which four in five exist at first.
 * A thread takes a name that no other thread uses.
 *
 *   varmail     a set in one directory, files of 16 KiB; remove one; make one, append to it,
 *               fsync; read another whole, append to it, fsync; read a third whole
 *   fileserver  20 names in a directory, files of 128 KiB; make and write one; append to another;
 *               read a third whole; remove a fourth; stat a fifth
 *
 * An append has 1 byte to 16 KiB. The set is made and synced first; after SECONDS the file system
 * is synced. Prints the operations per second of both together (opens and closes count, as
 * filebench counts them) and their number.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/clock.h"

#define MOST_THREADS   256
#define IO_BYTES       (1u << 20)
#define MOST_APPEND    (16u << 10)
#define MAIL_BYTES     (16u << 10)
#define FILE_BYTES     (128u << 10)
#define NAMES_OF_A_DIR 20

struct worker {
	pthread_t thread;
	uint64_t seed, done;
	int failed; /* errno */
};

struct name {
	bool there, used;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of names */
static struct name *names;
static unsigned count;
static bool mail;
static char *data; /* IO_BYTES */
static double end;

static unsigned draw(struct worker *w, unsigned below)
{
	w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)((w->seed >> 33) % below);
}

/* Waits until there is one; returns -1 with ETIME when the time is over. */
static int take(struct worker *w, bool there)
{
	unsigned first = draw(w, count), i, at;

	while (now() < end) {
		pthread_mutex_lock(&lock);
		for (i = 0; i < count; i++) {
			at = (first + i) % count;
			if (names[at].there == there && !names[at].used) {
				names[at].used = true;
				pthread_mutex_unlock(&lock);
				return (int)at;
			}
		}
		pthread_mutex_unlock(&lock);
		usleep(1000);
	}
	errno = ETIME;
	return -1;
}

static void give_back(int at, bool there)
{
	pthread_mutex_lock(&lock);
	names[at] = (struct name){.there = there};
	pthread_mutex_unlock(&lock);
}

static void path_of(int at, char path[static 32])
{
	if (mail)
		snprintf(path, 32, "%08d", at);
	else
		snprintf(path, 32, "%06d/%08d", at / NAMES_OF_A_DIR, at);
}

/* What is done with an open file. Each returns 0 or -1 with errno, and counts. */
static int put(struct worker *w, int fd, size_t bytes)
{
	w->done++;
	return write(fd, data, bytes) == (ssize_t)bytes ? 0 : -1;
}

static int append(struct worker *w, int fd)
{
	return put(w, fd, 1 + draw(w, MOST_APPEND));
}

static int append_fsync(struct worker *w, int fd)
{
	if (append(w, fd))
		return -1;
	w->done++;
	return fsync(fd);
}

static int write_whole(struct worker *w, int fd)
{
	return put(w, fd, mail ? MAIL_BYTES : FILE_BYTES);
}

static int read_whole(struct worker *w, int fd)
{
	static _Thread_local char buf[IO_BYTES];
	ssize_t n = 1;
	off_t at = 0;

	for (; n > 0; at += n)
		n = pread(fd, buf, sizeof(buf), at);
	w->done++;
	return n < 0 ? -1 : 0;
}

static int read_append_fsync(struct worker *w, int fd)
{
	return read_whole(w, fd) ? -1 : append_fsync(w, fd);
}

/* Open a file, a new one with O_CREAT, do WHAT, close. */
static int with(struct worker *w, int flags, int (*what)(struct worker *w, int fd))
{
	int at = take(w, !(flags & O_CREAT)), fd, rc;
	char path[32];

	if (at < 0)
		return -1;
	path_of(at, path);
	fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | flags, 0644);
	rc = fd < 0 ? -1 : what(w, fd);
	if (fd >= 0 && close(fd))
		rc = -1;
	give_back(at, true);
	w->done += 2;
	return rc;
}

static int with_name(struct worker *w, bool removed)
{
	int at = take(w, true), rc;
	char path[32];
	struct stat st;

	if (at < 0)
		return -1;
	path_of(at, path);
	rc = removed ? unlink(path) : stat(path, &st);
	give_back(at, !removed);
	w->done++;
	return rc;
}

static int varmail(struct worker *w)
{
	return with_name(w, true) || with(w, O_CREAT | O_EXCL, append_fsync) ||
		       with(w, 0, read_append_fsync) || with(w, 0, read_whole)
		       ? -1
		       : 0;
}

static int fileserver(struct worker *w)
{
	return with(w, O_CREAT | O_EXCL, write_whole) || with(w, 0, append) ||
		       with(w, 0, read_whole) || with_name(w, true) || with_name(w, false)
		       ? -1
		       : 0;
}

static void *run(void *arg)
{
	struct worker *w = arg;

	while (now() < end && !w->failed)
		if ((mail ? varmail : fileserver)(w) && errno != ETIME)
			w->failed = errno;
	return NULL;
}

/* The set, four in five of its files, synced. Returns 0 or -1 with errno. */
static int make_set(int top)
{
	struct worker w = {.seed = 1};
	char path[32];
	unsigned i;

	end = now() + 1e9;
	for (i = 0; !mail && i <= count / NAMES_OF_A_DIR; i++) {
		snprintf(path, sizeof(path), "%06u", i);
		if (mkdir(path, 0755))
			return -1;
	}
	for (i = 0; i < count / 5 * 4; i++)
		if (with(&w, O_CREAT | O_EXCL, write_whole))
			return -1;
	return syncfs(top);
}

static int all(unsigned threads, double seconds)
{
	static struct worker w[MOST_THREADS];
	int top = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;
	uint64_t done = 0;
	double start;
	unsigned i;

	if (top < 0 || make_set(top))
		return -1;
	start = now();
	end = start + seconds;
	for (i = 0; i < threads; i++) {
		w[i].seed = 88172645463325252u + i;
		errno = pthread_create(&w[i].thread, NULL, run, &w[i]);
		if (errno)
			return -1;
	}
	for (i = 0; i < threads; i++) {
		pthread_join(w[i].thread, NULL);
		done += w[i].done;
		if (w[i].failed) {
			errno = w[i].failed;
			rc = -1;
		}
	}
	if (rc || syncfs(top) || close(top))
		return -1;
	printf("%.1f %llu\n", (double)done / (now() - start), (unsigned long long)done);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned threads = argc == 6 ? (unsigned)atoi(argv[4]) : 0;

	mail = argc == 6 && !strcmp(argv[1], "varmail");
	count = argc == 6 ? (unsigned)atoi(argv[3]) : 0;
	if ((!mail && (argc != 6 || strcmp(argv[1], "fileserver"))) || count < 5 || count > 1000000 ||
		threads < 1 || threads > MOST_THREADS || atof(argv[5]) <= 0) {
		fprintf(stderr, "usage: filebench-load varmail|fileserver DIR FILES THREADS SECONDS\n");
		return 2;
	}
	names = calloc(count, sizeof(*names));
	data = malloc(IO_BYTES);
	if (!names || !data)
		return 1;
	memset(data, 'f', IO_BYTES);
	if (chdir(argv[2]) || all(threads, atof(argv[5]))) {
		fprintf(stderr, "filebench-load: %s: %s\n", argv[2], strerror(errno));
		return 1;
	}
	free(names);
	free(data);
	return 0;
}
