/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Transfers of one bio, many under way at once: by io_uring, where this build
 * and this kernel have it and the bio says where its bytes are (locate()).
 * Otherwise each is done before the call that begins it returns. Whatever goes
 * wrong on the way past the bio is done again through it, and what that says
 * counts. For one thread; no other thread uses the bio at the same time.
 *
 * Transfers that are under way at the same time have no order. A flush of the
 * bio covers those that were waited for.
 */
#ifndef RJ_OS_BIO_QUEUE_H
#define RJ_OS_BIO_QUEUE_H

#include "os/bio.h"

struct rj_queue;

/* For up to DEPTH transfers at a time. NULL: no memory. */
struct rj_queue *rj_queue_new(struct rj_bio *bio, unsigned depth);
/*
 * Begin to read LEN bytes at OFF; OUT must stay until it is waited for. When
 * DEPTH are under way the oldest is waited for first. Returns the number to
 * wait for; any failure shows there.
 */
uint64_t rj_queue_read(
	struct rj_queue *q, void *out, size_t len, uint64_t off);
/*
 * Begin to write; IOV (at most IOV_MAX pieces) is copied, the bytes must stay
 * until rj_queue_drain(). The bio must have writev(). Returns the failure of a
 * write begun earlier, if that came to light: then nothing was begun.
 */
int rj_queue_writev(struct rj_queue *q, const struct iovec *iov, int count,
	uint64_t off, struct rj_error *err);
/* Wait for read NUMBER; to be called once, in the order of beginning. */
int rj_queue_wait(struct rj_queue *q, uint64_t number, struct rj_error *err);
/* Wait for all; the first failure of those not told yet. */
int rj_queue_drain(struct rj_queue *q, struct rj_error *err);
/* Waits for all that is under way. NULL-safe. */
void rj_queue_free(struct rj_queue *q);

#endif
