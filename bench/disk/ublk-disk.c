// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ublk-disk IMAGE [user-copy] [flush] [thread] [recover|N]: show IMAGE, mapped into
 * memory, as a ublk device, and print the device's path. Each request is a copy from or to
 * the map. The kernel copies a write to a buffer of the request first; with user-copy it
 * is read from the device's character device straight into the map (Linux 6.5). With
 * flush the device says that it has a write cache: without, the block layer sends no flush
 * at all. With thread what changes the journal is handed to a second thread, as it has to
 * be where it may wait for a store, and reads must not: the queue belongs to one thread.
 * Ends when the device is stopped. When killed, the kernel removes the disk; only its
 * number stays taken. With recover the disk and its requests wait instead, until
 * another ublk-disk takes device N over.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ublk.h"

#define WOKEN (UBLK_STARTED + 1)

static struct ublk u;
static uint8_t *image;
/* Tags in the order in which they are given to the second thread, and come back. */
static unsigned tags[UBLK_DEPTH], given_count;
static int results[UBLK_DEPTH];
static atomic_uint served_count;
static sem_t given;
static int served = -1; /* an eventfd; -1: no second thread */

static int serve(unsigned tag)
{
	const struct ublksrv_io_desc *d = &u.descs[tag];
	size_t at = d->start_sector << 9, n = (size_t)d->nr_sectors << 9;
	off_t there = UBLKSRV_IO_BUF_OFFSET + ((off_t)tag << UBLK_TAG_OFF);
	uint8_t *buffer = u.buffers + (size_t)tag * UBLK_MAX_BYTES;
	ssize_t done = (ssize_t)n;

	switch (ublksrv_get_op(d)) {
	case UBLK_IO_OP_FLUSH: /* what was written is in the map */
		return 0;
	case UBLK_IO_OP_READ:
		if (u.buffers)
			memcpy(buffer, image + at, n);
		else
			done = pwrite(u.device, image + at, n, there);
		break;
	case UBLK_IO_OP_WRITE:
		if (u.buffers)
			memcpy(image + at, buffer, n);
		else
			done = pread(u.device, image + at, n, there);
		break;
	default:
		return -EOPNOTSUPP;
	}
	return done == (ssize_t)n ? (int)n : -EIO;
}

static void *second(void *arg)
{
	const uint64_t one = 1;
	unsigned i, tag;

	for (i = 0;; i++) {
		while (sem_wait(&given)) /* EINTR */
			;
		tag = tags[i % UBLK_DEPTH];
		results[tag] = serve(tag);
		served_count++;
		if (write(served, &one, sizeof(one)) != sizeof(one))
			ublk_die("eventfd", errno);
	}
	return NULL;
}

/* Have the ring tell when the second thread has served something. */
static void listen_to_second(void)
{
	static uint64_t count;
	struct io_uring_sqe *s = ublk_sqe(&u);

	io_uring_prep_read(s, served, &count, sizeof(count), 0);
	s->user_data = WOKEN;
}

static void start_second(void)
{
	pthread_t thread;

	served = eventfd(0, EFD_CLOEXEC);
	sem_init(&given, 0, 0);
	if (served < 0 || pthread_create(&thread, NULL, second, NULL))
		ublk_die("second thread", EAGAIN);
	listen_to_second();
}

static void request(unsigned tag)
{
	if (served < 0 || ublksrv_get_op(&u.descs[tag]) == UBLK_IO_OP_READ) {
		ublk_answer(&u, tag, serve(tag));
		return;
	}
	tags[given_count++ % UBLK_DEPTH] = tag;
	sem_post(&given);
}

static void answer_served(void)
{
	static unsigned i;
	unsigned tag;

	for (; i != served_count; i++) {
		tag = tags[i % UBLK_DEPTH];
		ublk_answer(&u, tag, results[tag]);
	}
	listen_to_second();
}

static void loop(void)
{
	unsigned open_tags = UBLK_DEPTH, head, count;
	struct io_uring_cqe *cqe;
	int rc;

	while (open_tags) {
		rc = io_uring_submit_and_wait(&u.ring, 1);
		if (rc < 0 && rc != -EINTR)
			ublk_die("io_uring", -rc);
		count = 0;
		io_uring_for_each_cqe(&u.ring, head, cqe) {
			count++;
			if (cqe->user_data == UBLK_STARTED && cqe->res < 0)
				ublk_die("start the device", -cqe->res);
			else if (cqe->user_data == UBLK_STARTED)
				printf("/dev/ublkb%u\n", u.number), fflush(stdout);
			else if (cqe->user_data == WOKEN)
				answer_served();
			else if (cqe->res == UBLK_IO_RES_OK)
				request((unsigned)cqe->user_data);
			else
				open_tags--;
		}
		io_uring_cq_advance(&u.ring, count);
	}
}

int main(int argc, char **argv)
{
	const char *number = NULL;
	bool thread = false;
	uint64_t flags = 0;
	unsigned attrs = 0;
	struct stat st;
	int i, fd;

	for (i = 2; i < argc; i++)
		if (!strcmp(argv[i], "user-copy"))
			flags |= UBLK_F_USER_COPY;
		else if (!strcmp(argv[i], "flush"))
			attrs |= UBLK_ATTR_VOLATILE_CACHE | UBLK_ATTR_FUA;
		else if (!strcmp(argv[i], "thread"))
			thread = true;
		else if (!strcmp(argv[i], "recover"))
			flags |= UBLK_F_USER_RECOVERY | UBLK_F_USER_RECOVERY_REISSUE;
		else if (argv[i][0] >= '0' && argv[i][0] <= '9')
			number = argv[i];
		else
			argc = 0;
	if (argc < 2) {
		fprintf(stderr, "usage: ublk-disk IMAGE [user-copy] [flush] "
				"[thread] [recover|N]\n");
		return 2;
	}
	fd = open(argv[1], O_RDWR | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		ublk_die(argv[1], errno);
	image = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
		fd, 0);
	if (image == MAP_FAILED)
		ublk_die(argv[1], errno);
	if (number)
		ublk_resume(&u, (unsigned)atoi(number), flags);
	else
		ublk_add(&u, (uint64_t)st.st_size, flags, attrs);
	if (thread)
		start_second();
	loop();
	return 0;
}
