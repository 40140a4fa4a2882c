// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * slow-disk MOUNTPOINT IMAGE USEC [READ_USEC [many]]: show IMAGE as the file
 * MOUNTPOINT/disk (by FUSE, in the foreground), whose every flush after a write
 * takes USEC microseconds longer than IMAGE's own, and keeps other requests
 * waiting, as a disk does that has to empty its cache. A flush of a clean cache
 * takes no time. With READ_USEC each read takes that much longer, as over a
 * network: one request after the other, or with "many" several at a time.
 * slow-disk MOUNTPOINT IMAGE rotating [FAST_BYTES]: as a rotating disk of IMAGE's size would
 * do it (rotating.h), with a write cache of 16 MB; IMAGE should then be in
 * memory, and is not flushed itself. With FAST_BYTES (0: none) the first
 * FAST_BYTES bytes are another, fast device: they take no time of the disk, and
 * do not wait for it.
 * slow-disk MOUNTPOINT IMAGE null: IMAGE is read, and what is written is dropped.
 * Ends when unmounted.
 */
#include "config.h"

#define FUSE_USE_VERSION 35
#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fuse-ring.h"
#include "rotating.h"

#define DISK_INO    2
#define CACHE_BYTES (16ull << 20)

static int image;
static off_t image_bytes;
static long flush_us, read_us;
static struct rotating *rotating; /* NULL: not that */
static char *map; /* NULL: not "memory" */
static int flush_error; /* 0: none */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER; /* of the model */
static uint64_t fast_bytes;
static int drops; /* writes and flushes */
static atomic_bool written; /* since the last flush */

static void wait_us(long us)
{
	struct timespec ts = {us / 1000000, us % 1000000 * 1000};

	if (us)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
}

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

static void wait_until(int64_t ns)
{
	struct timespec ts = {ns / 1000000000, ns % 1000000000};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

/* Wait as long as a rotating disk takes for it. */
static void rotate(int64_t (*how)(struct rotating *, int64_t, uint64_t, uint64_t), off_t off,
	size_t size)
{
	int64_t done;

	if (!rotating || (uint64_t)off < fast_bytes)
		return;
	pthread_mutex_lock(&turn);
	done = how(rotating, now_ns(), (uint64_t)off, size);
	pthread_mutex_unlock(&turn);
	wait_until(done);
}

static void stat_of(fuse_ino_t ino, struct stat *st)
{
	memset(st, 0, sizeof(*st));
	st->st_ino = ino;
	st->st_nlink = 1;
	st->st_mode = ino == FUSE_ROOT_ID ? S_IFDIR | 0700 : S_IFREG | 0600;
	if (ino == DISK_INO)
		st->st_size = image_bytes;
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param e = {
		.ino = DISK_INO, .attr_timeout = 1e6, .entry_timeout = 1e6};

	stat_of(DISK_INO, &e.attr);
	if (strcmp(name, "disk"))
		fuse_reply_err(req, ENOENT);
	else
		fuse_reply_entry(req, &e);
}

static void op_getattr(
	fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct stat st;

	stat_of(ino, &st);
	fuse_reply_attr(req, &st, 1e6);
}

static void op_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr,
	int set, struct fuse_file_info *fi)
{
	op_getattr(req, ino, fi); /* loop sets times; nobody reads them */
}

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	fi->direct_io = 1;
	fuse_reply_open(req, fi);
}

static void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
	struct fuse_file_info *fi)
{
	char *data = malloc(size);
	ssize_t n = data ? pread(image, data, size, off) : -1;

	wait_us(read_us);
	rotate(rotating_read, off, size);
	if (n < 0)
		fuse_reply_err(req, EIO);
	else
		fuse_reply_buf(req, data, (size_t)n);
	free(data);
}

static void op_write(fuse_req_t req, fuse_ino_t ino, const char *data,
	size_t size, off_t off, struct fuse_file_info *fi)
{
	atomic_store(&written, true);
	if (map && off + (off_t)size <= image_bytes) {
		memcpy(map + off, data, size);
		fuse_reply_write(req, size);
	} else if (!drops && pwrite(image, data, size, off) != (ssize_t)size)
		fuse_reply_err(req, EIO);
	else {
		rotate(rotating_write, off, size);
		fuse_reply_write(req, size);
	}
}

static void op_fsync(
	fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	int64_t done;

	if (rotating) {
		pthread_mutex_lock(&turn);
		done = rotating_flush(rotating, now_ns());
		pthread_mutex_unlock(&turn);
		wait_until(done);
	} else if (!drops && !map && atomic_exchange(&written, false)) {
		if (fdatasync(image)) {
			fuse_reply_err(req, EIO);
			return;
		}
		wait_us(flush_us);
	}
	fuse_reply_err(req, flush_error);
}

static const struct fuse_lowlevel_ops ops = {
	.lookup = op_lookup,
	.getattr = op_getattr,
	.setattr = op_setattr,
	.open = op_open,
	.read = op_read,
	.write = op_write,
	.fsync = op_fsync,
};

int main(int argc, char **argv)
{
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	struct fuse_session *se;
	bool ring = false;
	struct stat st;

	if (argc < 4 || argc > 6) {
		fprintf(stderr, "usage: slow-disk MOUNTPOINT IMAGE USEC "
				"[READ_USEC [many]]\n"
				"       slow-disk MOUNTPOINT IMAGE rotating [FAST_BYTES]\n"
				"       slow-disk MOUNTPOINT IMAGE null\n"
				"       slow-disk MOUNTPOINT IMAGE memory [flush|ring]\n");
		return 2;
	}
	drops = !strcmp(argv[3], "null");
	flush_us = atol(argv[3]);
	read_us = argc > 4 ? atol(argv[4]) : 0;
	image = open(argv[2], O_RDWR | O_CLOEXEC);
	if (image < 0 || fstat(image, &st)) {
		perror(argv[2]);
		return 1;
	}
	image_bytes = st.st_size;
	if (!strcmp(argv[3], "rotating")) {
		rotating = rotating_new((uint64_t)image_bytes, CACHE_BYTES);
		if (!rotating)
			return 1;
		fast_bytes = argc > 4 ? strtoull(argv[4], NULL, 10) : 0;
		read_us = 0;
	}
	if (!strcmp(argv[3], "memory")) {
		map = mmap(NULL, (size_t)image_bytes, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_POPULATE, image, 0);
		if (map == MAP_FAILED)
			return 1;
		ring = argc > 4 && !strcmp(argv[4], "ring");
		flush_error = argc > 4 && !ring ? 0 : ENOSYS;
	}
	prctl(PR_SET_TIMERSLACK, 1000); /* ns */
	fuse_opt_add_arg(&args, "slow-disk");
	se = fuse_session_new(&args, &ops, sizeof(ops), NULL);
#ifdef HAVE_URING_CMD
	if (se && ring)
		return fuse_ring_serve(se, argv[1]) ? perror("fuse-ring"), 1 : 0;
#endif
	if (!se || ring || fuse_session_mount(se, argv[1]))
		return 1;
	if (argc > 5 || (rotating && argc > 4))
		fuse_session_loop_mt(se, &(struct fuse_loop_config){
						 .max_idle_threads = 16});
	else
		fuse_session_loop(se);
	fuse_session_unmount(se);
	fuse_session_destroy(se);
	fuse_opt_free_args(&args);
	rotating_free(rotating);
	return 0;
}
