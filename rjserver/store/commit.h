/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Group commit: gather writes in a batch, append it with one write, make it durable
 * with one fdatasync, then answer each of them.
 */
#ifndef RJSERVER_COMMIT_H
#define RJSERVER_COMMIT_H

#include "store.h"

/* RC 0: on stable storage (or, with received, written). Else a negative
 * rj_code with ERR, and nothing was stored. */
typedef void (*commit_fn)(void *arg, int rc, const struct rj_error *err);

/* Called once when a batch is begun: arrange that commit_flush() is called
 * when no request is waiting to be read. */
typedef void (*commit_wanted_fn)(void *arg);

/* Called before a batch with a new object is written, whose records have BYTES:
 * may add copies by commit_move(). */
typedef void (*commit_fill_fn)(struct store *s, uint64_t bytes);

/* NULL: no memory. */
struct commit *commit_new(struct store *s, commit_fill_fn fill);
void commit_free(struct commit *c); /* NULL-safe; nothing may be pending */
void commit_on_wanted(struct commit *c, commit_wanted_fn fn, void *arg);

/* Find the entry of OKEY; flush the batch first if it holds something about OKEY. NULL:
 * there is none. */
struct idx_entry *commit_entry(struct commit *c, const struct okey *okey);

/* LEN bytes at DATA, whose CRC-32C is CRC. FRAMED: they are in their place in a
 * struct record_buffer, and the batch may be laid out around them there. */
struct commit_body {
	uint8_t *data;
	uint32_t len;
	uint32_t crc;
	bool framed;
};

/*
 * Add an object to the batch. BODY's bytes must stay as they are until DONE
 * is called, which may be before this returns. RJ_E_EXISTS: there is one
 * already, on stable storage. RJ_E_REFUSED: the store failed and takes no
 * writes. RJ_E_CORRUPT: it may be a lost one. On error DONE is not called.
 */
int commit_put(struct commit *c, const struct okey *okey,
	const struct commit_body *body, commit_fn done, void *arg,
	struct rj_error *err);
/* Add the deletion of an object. RJ_E_NOTFOUND, RJ_E_REFUSED. */
int commit_delete(struct commit *c, const struct okey *okey, commit_fn done,
	void *arg, struct rj_error *err);
/*
 * Add the deletion of the objects of OKEY's directory that have at least LEAST
 * bytes, and a number below BELOW: one record, whatever their count.
 * RJ_E_NOTFOUND: there are none, and nothing is to be done. RJ_E_REFUSED.
 * COUNT: how many there are.
 */
int commit_delete_below(struct commit *c, const struct okey *okey,
	uint64_t below, uint32_t least, size_t *count, commit_fn done,
	void *arg, struct rj_error *err);
/*
 * Add a copy of the object OKEY, whose entry is E and which was written at
 * TIME_NS, from the oldest file; BODY stays as it is until the flush. NULL: the
 * bytes are damaged, and only that is written down. False: no space in this batch.
 */
bool commit_move(struct commit *c, const struct okey *okey,
	const struct idx_entry *e, uint64_t time_ns, const void *body);
/* Count the bytes that the batch will take on the disk. */
uint64_t commit_pending(const struct commit *c);
/* Write the batch, make it durable, call each DONE. */
void commit_flush(struct commit *c);
/* Append a mark that says how far the log is durable. */
int commit_mark(struct commit *c, bool clean, struct rj_error *err);

#endif
