/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rjlog copy: a log from one store to another, byte for byte. */
#ifndef RJLOG_COPY_H
#define RJLOG_COPY_H

#include "print.h"

/* A segment of the source, as it was read and checked first. */
struct copy_mark {
	uint64_t number, bytes;
	uint64_t epoch, before; /* the epoch of the segment before; 0: none */
	bool fence;
	bool there; /* the target has it */
	uint8_t hash[RJ_SEG_HASH_BYTES]; /* of all its bytes */
};

struct copy {
	const struct options *o;
	struct target *from, to;
	struct progress progress;
	struct rj_buf marks;  /* of struct copy_mark, ascending */
	struct rj_buf claims; /* of uint64_t, ascending: the source's epochs */
	uint64_t oldest; /* at the source a replay begins here */
	uint64_t present, copied, bytes; /* segments; bytes of the copied */
	uint64_t older; /* at the target only: trimmed at the source since */
	bool writing;	/* something may have been put */
	struct rj_buf points; /* the texts of the named marks that the target has from us */
	uint64_t last;	/* --follow: the target's last segment */
	uint64_t later; /* arrived at the source during the copy */
};

size_t copy_marks(const struct copy *c, struct copy_mark **out);
/* SHA-256 of a segment's bytes. */
int copy_hash(const struct segment_seen *s, uint8_t hash[RJ_SEG_HASH_BYTES],
	struct rj_error *err);

/* --follow: ALL copies what there is if the target is empty; go on with what comes to the source,
 * until SIGTERM or SIGINT. What fails is told. */
enum status copy_follow(struct copy *c,
	enum status (*all)(struct copy *c, struct rj_error *err), struct rj_error *err);
/* --follow: has a signal come that ends it? It is asked before each segment. */
bool copy_stopped(const struct copy *c);
/* Put the named marks that the target lacks, or has of another moment. */
int copy_put_points(struct copy *c, struct rj_error *err);

/* ---- copy-target.c ---- */

/*
 * Check that what the target has of the log is a part of the source, byte for byte. Marks
 * and counts these segments. RJ_E_FOREIGN: it is not; nothing was changed.
 */
int copy_compare(struct copy *c, struct rj_error *err);
/* Put the epoch claims that the target lacks. */
int copy_put_claims(struct copy *c, struct rj_error *err);
/* Put the segment of mark M, whose bytes are RAW. RJ_E_EXISTS: there is one, which is not
 * compared. */
int copy_put_segment(struct copy *c, const struct copy_mark *m,
	const struct rj_buf *raw, struct rj_error *err);

#endif
