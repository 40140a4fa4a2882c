/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The writer's inside. Private to claim.c and writer-state.c (make a writer), append.c and
 * draft.c (seal segments) and put-segment.c (puts them).
 */
#ifndef RJ_LOG_WRITER_H
#define RJ_LOG_WRITER_H

#include <pthread.h>

#include "log/log.h"

struct rj_log_writer {
	struct rj_store *store; /* the caller's */
	struct rj_log_id id;
	uint64_t epoch;
	uint8_t nonce[RJ_SEG_NONCE_BYTES];
	struct rj_log_tail
		tail; /* acknowledged, or kept: rj_log_mark_stored() */
	struct rj_log_tail next; /* of the segment in OUT */
	bool pending;            /* OUT was sent and not acknowledged */
	pthread_mutex_t lock;    /* of TAIL: rj_log_writer_seen() */
	bool must_base;          /* our fence breaks the log off */
	uint64_t floor;          /* nothing before it may be called needed */
	struct rj_buf out;       /* the segment last sealed, but for blocks left in the ring */
	struct iovec parts[RJ_STORE_PARTS]; /* that segment, whole */
	int part_count;
	struct rj_buf back;      /* for reading back */
	int dead;                /* a negated rj_code: never write again */
	struct rj_error dead_why;
};

/* All zero, but for its lock. NULL: out of memory. */
struct rj_log_writer *rj_writer_new(void);
/* Fill a draft from A; rj_writer_seal() adds the rest. */
void rj_writer_draft(const struct rj_log_writer *w, const struct rj_log_append *a,
	struct rj_seg_draft *out);
/*
 * Seal DRAFT as the segment after w->tail into w->out, w->parts and w->next; IN_PLACE: its
 * blocks may stay in the ring. The identity, number, epoch, nonce, chain and time are
 * filled in here. Errors as of rj_segment_seal().
 */
int rj_writer_seal(struct rj_log_writer *w, struct rj_seg_draft *draft,
	bool in_place, struct rj_error *err);
/*
 * Put COUNT parts as segment SEQUENCE, once. RJ_E_EXISTS: another's segment
 * has the number; its bytes are in BACK.
 */
int rj_log_put_parts(struct rj_store *store, const struct rj_log_id *id,
	uint64_t sequence, const struct iovec *parts, int count,
	struct rj_buf *back, struct rj_error *err);
/*
 * Put w->parts once. 0: it is in the log, and w->tail has moved on. RJ_E_EXISTS:
 * another's segment has the number; its bytes are in w->back.
 */
int rj_writer_put(struct rj_log_writer *w, struct rj_error *err);

#endif
