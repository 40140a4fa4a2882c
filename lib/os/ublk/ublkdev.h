/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Make a block device whose requests a thread of this process answers (ublk, Linux 6.9),
 * over io_uring. One queue: the thread that opened it asks for its requests and answers
 * them; all else is for any thread. Without liburing or the kernel's headers each
 * function that can fails with RJ_E_UNSUPPORTED.
 */
#ifndef RJ_OS_UBLKDEV_H
#define RJ_OS_UBLKDEV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

#define RJ_UBLK_DEPTH 128u	 /* requests at a time: a loop device's */
#define RJ_UBLK_BYTES (1u << 20) /* of one, at most */
#define RJ_UBLK_PATH  "/dev/ublkb%u"

/* Flags. */
#define RJ_UBLK_COPY	1u /* data is copied by rj_ublk_copy(), not by the kernel */
#define RJ_UBLK_CACHE	2u /* there is a write cache, so that flushes are sent */
#define RJ_UBLK_RECOVER 4u /* without its server the device waits for another one */

enum rj_ublk_op {
	RJ_UBLK_READ,
	RJ_UBLK_WRITE,
	RJ_UBLK_FLUSH,
	RJ_UBLK_OTHER,
	RJ_UBLK_WOKEN, /* not a request: rj_ublk_listen() */
};

struct rj_ublk_request {
	unsigned tag; /* below RJ_UBLK_DEPTH */
	enum rj_ublk_op op;
	uint64_t at;
	size_t bytes;
	uint8_t *data; /* a write's data, or a read's place; NULL: RJ_UBLK_COPY */
};

struct rj_ublk;

/* Has this kernel all that RJ_UBLK_COPY and RJ_UBLK_RECOVER need? RJ_E_UNSUPPORTED. */
int rj_ublk_check(struct rj_error *err);
/* Make device *NUMBER, of BYTES and blocks of BLOCK, a power of two from 512 to 4096. It is
 * not there before rj_ublk_begin(). OWNER: for rj_ublk_is_of(). RJ_E_IO. */
int rj_ublk_add(uint64_t bytes, unsigned block, unsigned flags, uint64_t owner,
	unsigned *number, struct rj_error *err);
/* Is there a device NUMBER, and is it OWNER's? A number is used again. */
bool rj_ublk_is_of(unsigned number, uint64_t owner);
/* Take over device NUMBER (RJ_UBLK_RECOVER), whose server is dead or about to be. RJ_E_IO. */
int rj_ublk_take_over(unsigned number, struct rj_error *err);
/* Open the queue of device NUMBER, with the same FLAGS, and ask for all requests.
 * RJ_E_IO, RJ_E_NOMEM. */
int rj_ublk_open(unsigned number, unsigned flags, struct rj_ublk **out,
	struct rj_error *err);
/* Start device NUMBER, whose queue is open: AGAIN after rj_ublk_take_over(). The kernel may
 * read the device before this returns. RJ_E_IO. */
int rj_ublk_begin(unsigned number, bool again, struct rj_error *err);
/* Wait for a request. Returns 1, 0 when the device was stopped and all is answered, or
 * -RJ_E_IO: then no request can be answered any more. */
int rj_ublk_next(
	struct rj_ublk *u, struct rj_ublk_request *r, struct rj_error *err);
/* Answer the request of TAG with RESULT, bytes or a negated errno, by the next call of
 * rj_ublk_next(), and ask for another. */
void rj_ublk_answer(struct rj_ublk *u, unsigned tag, int result);
/* Have rj_ublk_next() return RJ_UBLK_WOKEN once, when the eventfd FD is written to. */
void rj_ublk_listen(struct rj_ublk *u, int fd);
/* Copy the data of a write to DATA, or DATA to a read's place. From any thread, before it
 * is answered. False: not all of it. */
bool rj_ublk_copy(
	const struct rj_ublk *u, const struct rj_ublk_request *r, uint8_t *data);
/* Close the queue. NULL-safe. */
void rj_ublk_close(struct rj_ublk *u);
/* Stop device NUMBER, and remove it. What waits fails: of RJ_UBLK_RECOVER without a server
 * at once; else the queue must be served until rj_ublk_next() returns 0. Does not wait until
 * the last user has closed it. RJ_E_IO. */
int rj_ublk_delete(unsigned number, struct rj_error *err);

#endif
