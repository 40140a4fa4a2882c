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

#include "os/ublk/ublkdev.h"

#define BLOCK 4096

static struct rj_ublk *u;
static unsigned number;
static bool again; /* the device was another server's */
static uint8_t *image;
/* In the order in which they are given to the second thread, and come back. */
static struct rj_ublk_request requests[RJ_UBLK_DEPTH];
static int results[RJ_UBLK_DEPTH];
static unsigned given_count;
static atomic_uint served_count;
static sem_t given;
static int served = -1; /* an eventfd; -1: no second thread */

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "ublk-disk: %s\n", what);
	exit(1);
}

static int serve(const struct rj_ublk_request *r)
{
	switch (r->op) {
	case RJ_UBLK_FLUSH: /* what was written is in the map */
		return 0;
	case RJ_UBLK_READ:
	case RJ_UBLK_WRITE:
		if (!r->data)
			return rj_ublk_copy(u, r, image + r->at) ? (int)r->bytes : -EIO;
		if (r->op == RJ_UBLK_READ)
			memcpy(r->data, image + r->at, r->bytes);
		else
			memcpy(image + r->at, r->data, r->bytes);
		return (int)r->bytes;
	default:
		return -EOPNOTSUPP;
	}
}

static void *second(void *arg)
{
	const uint64_t one = 1;
	unsigned i;

	for (i = 0;; i++) {
		while (sem_wait(&given)) /* EINTR */
			;
		results[i % RJ_UBLK_DEPTH] = serve(&requests[i % RJ_UBLK_DEPTH]);
		served_count++;
		if (write(served, &one, sizeof(one)) != sizeof(one))
			die("eventfd");
	}
	return NULL;
}

/* The kernel may read the device before this returns. */
static void *begin(void *arg)
{
	struct rj_error err;

	if (rj_ublk_begin(number, again, &err))
		die(err.msg);
	printf(RJ_UBLK_PATH "\n", number);
	fflush(stdout);
	return NULL;
}

static void start_thread(void *(*fn)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, fn, NULL))
		die("no thread");
}

static void start_second(void)
{
	served = eventfd(0, EFD_CLOEXEC);
	sem_init(&given, 0, 0);
	if (served < 0)
		die("no eventfd");
	start_thread(second);
	rj_ublk_listen(u, served);
}

static void answer_served(void)
{
	static unsigned i;

	rj_ublk_listen(u, served);
	for (; i != served_count; i++)
		rj_ublk_answer(u, requests[i % RJ_UBLK_DEPTH].tag,
			results[i % RJ_UBLK_DEPTH]);
}

static void loop(void)
{
	struct rj_ublk_request r;
	struct rj_error err;
	int rc;

	while ((rc = rj_ublk_next(u, &r, &err)) > 0)
		if (r.op == RJ_UBLK_WOKEN) {
			answer_served();
		} else if (served < 0 || r.op == RJ_UBLK_READ) {
			rj_ublk_answer(u, r.tag, serve(&r));
		} else {
			requests[given_count++ % RJ_UBLK_DEPTH] = r;
			sem_post(&given);
		}
	if (rc)
		die(err.msg);
}

int main(int argc, char **argv)
{
	bool thread = false;
	unsigned flags = 0;
	struct rj_error err;
	struct stat st;
	int i, fd, rc;

	for (i = 2; i < argc; i++)
		if (!strcmp(argv[i], "user-copy"))
			flags |= RJ_UBLK_COPY;
		else if (!strcmp(argv[i], "flush"))
			flags |= RJ_UBLK_CACHE;
		else if (!strcmp(argv[i], "thread"))
			thread = true;
		else if (!strcmp(argv[i], "recover"))
			flags |= RJ_UBLK_RECOVER;
		else if (argv[i][0] >= '0' && argv[i][0] <= '9')
			again = true, number = (unsigned)atoi(argv[i]);
		else
			argc = 0;
	if (argc < 2)
		die("usage: ublk-disk IMAGE [user-copy] [flush] [thread] [recover|N]");
	fd = open(argv[1], O_RDWR | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		die(argv[1]);
	image = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
		fd, 0);
	if (image == MAP_FAILED)
		die(argv[1]);
	rc = again ? rj_ublk_take_over(number, &err)
		   : rj_ublk_add((uint64_t)st.st_size, BLOCK, flags, 0, &number, &err);
	if (!rc)
		rc = rj_ublk_open(number, flags, &u, &err);
	if (rc)
		die(err.msg);
	if (thread)
		start_second();
	start_thread(begin);
	loop();
	return 0;
}
