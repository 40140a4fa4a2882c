// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * advise-load LOAD DIR SECONDS: one of five loads in DIR, each of a few threads that wait for
 * nothing else; prints the operations per second and their number.
 *
 *   mail   deliver a message of 1 to 16 KiB: write it in tmp/, fsync, rename into new/,
 *          and remove one of the older ones every other time (4 threads)
 *   db     a transaction: 8 KiB over the next place of a log that is there already,
 *          fdatasync; 8 KiB over a random page of the table; every 256 an fsync of the
 *          table (2 threads, a log and a table each)
 *   files  a file server: write a file of 64 KiB, append 16 KiB to another, read one, remove
 *          one (4 threads; no fsync)
 *   build  a compiler: read a source, work for a millisecond, write an object of 20 to 60 KiB
 *          under another name, rename it; every 64 a program of 1 MiB (2 threads; no fsync)
 *   vm     an image of a disk: 4 to 64 KiB past the page cache at a random place of 64 MiB
 *          that are there already, fdatasync every 8 times (2 threads, an image each)
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4
#define KEEP	256 /* files of a thread */
#define PAGE	4096u
#define LOG_BYTES   (8u << 20)
#define TABLE_BYTES (32u << 20)
#define IMAGE_BYTES (64u << 20)

struct worker {
	pthread_t thread;
	unsigned id;
	uint64_t seed, done;
	int fd, fd2;
	const char *failed;
	int failed_errno;
};

static const char *top;
static uint8_t *data; /* 1 MiB */
static struct timespec end;

static uint32_t draw(struct worker *w, uint32_t below)
{
	w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((w->seed >> 33) % below);
}

static int over(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec > end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec >= end.tv_nsec);
}

/* Returns 0 or -1 with errno. */
static int put(const char *path, int flags, size_t bytes, int sync)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644), rc;

	if (fd < 0)
		return -1;
	rc = write(fd, data, bytes) == (ssize_t)bytes && (!sync || !fsync(fd)) ? 0 : -1;
	return close(fd) || rc ? -1 : 0;
}

static int get(const char *path)
{
	static _Thread_local uint8_t buf[64u << 10];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	while (read(fd, buf, sizeof(buf)) > 0)
		;
	return close(fd);
}

/* A file of BYTES that is written already; returns its descriptor. */
static int ready(const char *name, unsigned id, size_t bytes, int flags)
{
	char path[512];
	struct stat st;
	size_t at;
	int fd;

	snprintf(path, sizeof(path), "%s/%s/%u", top, name, id);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | flags, 0644);
	if (fd >= 0 && !fstat(fd, &st) && st.st_size == (off_t)bytes)
		return fd;
	for (at = 0; fd >= 0 && at < bytes; at += 1u << 20)
		if (pwrite(fd, data, 1u << 20, (off_t)at) != 1 << 20)
			return -1;
	return fd >= 0 && !fsync(fd) ? fd : -1;
}

static int mail(struct worker *w)
{
	char from[512], to[512];

	snprintf(from, sizeof(from), "%s/tmp/%u.%llu", top, w->id, (unsigned long long)w->done);
	snprintf(to, sizeof(to), "%s/new/%u.%llu", top, w->id, (unsigned long long)w->done);
	if (put(from, O_EXCL, 1024 + draw(w, 15 << 10), 1) || rename(from, to))
		return -1;
	if (w->done < KEEP || w->done % 2)
		return 0;
	snprintf(to, sizeof(to),
		"%s/new/%u.%llu", top, w->id, (unsigned long long)(w->done - KEEP));
	return unlink(to);
}

static int db(struct worker *w)
{
	off_t at = (off_t)(w->done * 8192 % LOG_BYTES);

	if (pwrite(w->fd, data, 8192, at) != 8192 || fdatasync(w->fd))
		return -1;
	if (pwrite(w->fd2, data, 8192, (off_t)draw(w, TABLE_BYTES / 8192) * 8192) != 8192)
		return -1;
	return w->done % 256 == 255 ? fsync(w->fd2) : 0;
}

static int files(struct worker *w)
{
	char path[512];
	int rc;

	snprintf(path, sizeof(path), "%s/files/%u.%u", top, w->id, draw(w, KEEP));
	rc = put(path, O_TRUNC, 64 << 10, 0);
	snprintf(path, sizeof(path), "%s/files/%u.%u", top, w->id, draw(w, KEEP));
	rc = rc ? rc : put(path, O_APPEND, 16 << 10, 0);
	snprintf(path, sizeof(path), "%s/files/%u.%u", top, w->id, draw(w, KEEP));
	rc = rc ? rc : get(path);
	snprintf(path, sizeof(path), "%s/files/%u.%u", top, w->id, draw(w, KEEP));
	if (!rc && unlink(path) && errno != ENOENT)
		rc = -1;
	return rc;
}

static void work_for(long ns)
{
	struct timespec a, b;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	while ((b.tv_sec - a.tv_sec) * 1000000000L + b.tv_nsec - a.tv_nsec < ns);
}

static int build(struct worker *w)
{
	char from[512], to[512];
	unsigned n = draw(w, KEEP);

	snprintf(from, sizeof(from), "%s/src/%u.%u", top, w->id, n);
	if (w->done < KEEP && put(from, O_TRUNC, 8 << 10, 0))
		return -1;
	if (get(from))
		return -1;
	work_for(1000000);
	snprintf(from, sizeof(from), "%s/obj/%u.tmp", top, w->id);
	snprintf(to, sizeof(to), "%s/obj/%u.%u", top, w->id, n);
	if (put(from, O_TRUNC, (20 << 10) + draw(w, 40 << 10), 0) || rename(from, to))
		return -1;
	snprintf(to, sizeof(to), "%s/obj/%u.program", top, w->id);
	return w->done % 64 == 63 ? put(to, O_TRUNC, 1 << 20, 0) : 0;
}

static int vm(struct worker *w)
{
	size_t bytes = PAGE * (1 + draw(w, 16));
	off_t at = (off_t)draw(w, (IMAGE_BYTES - (64u << 10)) / PAGE) * PAGE;

	if (pwrite(w->fd, data, bytes, at) != (ssize_t)bytes)
		return -1;
	return w->done % 8 == 7 ? fdatasync(w->fd) : 0;
}

static const struct load {
	const char *name, *dirs[3];
	unsigned threads;
	int (*step)(struct worker *w);
} loads[] = {
	{"mail", {"tmp", "new"}, 4, mail},
	{"db", {"log", "table"}, 2, db},
	{"files", {"files"}, 4, files},
	{"build", {"src", "obj"}, 2, build},
	{"vm", {"images"}, 2, vm},
};
static const struct load *load;

static void *run(void *arg)
{
	struct worker *w = arg;

	while (!over()) {
		if (load->step(w)) {
			w->failed_errno = errno;
			w->failed = load->name;
			break;
		}
		w->done++;
	}
	return NULL;
}

static int prepare(struct worker *w)
{
	w->fd = w->fd2 = 0;
	if (load->step == db) {
		w->fd = ready("log", w->id, LOG_BYTES, 0);
		w->fd2 = ready("table", w->id, TABLE_BYTES, 0);
	} else if (load->step == vm) {
		w->fd = ready("images", w->id, IMAGE_BYTES, O_DIRECT);
	}
	return w->fd < 0 || w->fd2 < 0 ? -1 : 0;
}

static int all(double seconds)
{
	struct worker w[THREADS] = {0};
	uint64_t done = 0;
	unsigned i;
	int rc = 0;

	for (i = 0; i < load->threads; i++) {
		w[i].id = i;
		w[i].seed = 88172645463325252u + i;
		if (prepare(&w[i])) {
			fprintf(stderr, "advise-load: %s: %s\n", top, strerror(errno));
			return 1;
		}
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += (time_t)seconds;
	end.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
	if (end.tv_nsec >= 1000000000L) {
		end.tv_nsec -= 1000000000L;
		end.tv_sec++;
	}
	for (i = 0; i < load->threads; i++)
		if (pthread_create(&w[i].thread, NULL, run, &w[i]))
			return 1;
	for (i = 0; i < load->threads; i++) {
		pthread_join(w[i].thread, NULL);
		done += w[i].done;
		if (w[i].failed) {
			fprintf(stderr,
				"advise-load: %s: %s\n", w[i].failed, strerror(w[i].failed_errno));
			rc = 1;
		}
	}
	printf("%.1f %llu\n", (double)done / seconds, (unsigned long long)done);
	return rc;
}

int main(int argc, char **argv)
{
	char path[512];
	unsigned i;

	for (i = 0; argc == 4 && i < sizeof(loads) / sizeof(loads[0]); i++)
		if (!strcmp(argv[1], loads[i].name))
			load = &loads[i];
	if (!load || strtod(argv[3], NULL) <= 0 || posix_memalign((void **)&data, PAGE, 1u << 20)) {
		fprintf(stderr, "usage: advise-load mail|db|files|build|vm DIR SECONDS\n");
		return 2;
	}
	top = argv[2];
	for (i = 0; i < 1u << 20; i++)
		data[i] = (uint8_t)(i * 2654435761u >> 13);
	for (i = 0; i < 3 && load->dirs[i]; i++) {
		snprintf(path, sizeof(path), "%s/%s", top, load->dirs[i]);
		if (mkdir(path, 0755) && errno != EEXIST) {
			fprintf(stderr, "advise-load: %s: %s\n", path, strerror(errno));
			return 1;
		}
	}
	return all(strtod(argv[3], NULL));
}
