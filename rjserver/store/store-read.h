/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Read objects without delaying the event loop: what is in the page cache, and not large, is
 * read at once; for the rest a few threads wait for the disk. The threads share
 * nothing with the store: each gets a descriptor of its own, a place and memory.
 * Of the objects that are waited for, only those that a thread has take memory.
 */
#ifndef RJSERVER_STORE_READ_H
#define RJSERVER_STORE_READ_H

#include "store-object.h"

struct event_base;
struct read_job;

/* RC as store_get() returns it; BODY may be taken over (and emptied). */
typedef void (*read_fn)(
	void *arg, int rc, struct rj_buf *body, const struct rj_error *err);

/* Start the reader. Before that, and if it fails (no memory, no descriptor), the caller
 * waits for each read. */
void reader_start(struct store *s, struct event_base *base);
/* Call no read_fn any more. To be called before BASE is freed. */
void reader_stop(struct store *s);
/* Wait for the threads to end, and free the reader. */
void reader_free(struct store *s);

/*
 * Do object_get(), if that does not have to wait for the disk. Else RJ_E_BUSY: DONE is
 * called once, later, with ARG, and JOB (may be NULL) is valid until then.
 */
int reader_get(struct store *s, const struct okey *okey, struct rj_buf *out,
	read_fn done, void *arg, struct read_job **job, struct rj_error *err);
/* The DONE of JOB is not called. NULL-safe. */
void reader_cancel(struct read_job *job);

/* An object that the disk is waited for. All zero: none. */
struct read_wait {
	struct read_job *job; /* NULL: the bytes are here, or none are wanted */
	struct rj_buf body;
	int rc; /* as store_get() returns it */
	void (*ready)(void *arg); /* called when JOB has ended; NULL: nothing is */
	void *arg;
};

/* reader_get(); with RJ_E_BUSY the result comes to W. */
int read_wait_begin(struct store *s, const struct okey *okey, struct rj_buf *out,
	struct read_wait *w, struct rj_error *err);
/* Check the bytes of the object, which object_find() has found AT, against their checksum, and keep
 * none of them. */
int read_wait_check(struct store *s, const struct okey *okey, const struct object_place *at,
	struct read_wait *w, struct rj_error *err);
/* Append LEN bytes of the object from byte FROM on, as they are. */
int read_wait_part(struct store *s, const struct okey *okey, const struct object_place *at,
	uint32_t from, uint32_t len, struct rj_buf *out, struct read_wait *w, struct rj_error *err);
/* Cancel what W waits for, and free what came. */
void read_wait_end(struct read_wait *w);

#endif
