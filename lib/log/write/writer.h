/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The writer's inside. Private to claim.c and writer-state.c (make a writer), append.c,
 * draft.c and seal-next.c (seal segments) and put-segment.c (puts them).
 */
#ifndef RJ_LOG_WRITER_H
#define RJ_LOG_WRITER_H

#include <pthread.h>

#include "log/log.h"

/* The segment after the pending one, sealed already: seal-next.c. */
struct rj_writer_second {
	pthread_mutex_t lock;
	bool ready;
	struct rj_buf out;
	struct rj_log_tail at;
	uint8_t after[RJ_SEG_HASH_BYTES]; /* the chain that it continues */
};

struct rj_log_writer {
	struct rj_store *store; /* the caller's */
	struct rj_log_id id;
	uint64_t epoch;
	uint8_t nonce[RJ_SEG_NONCE_BYTES];
	struct rj_log_tail
		tail; /* acknowledged, or kept: rj_log_mark_stored() */
	struct rj_log_tail next; /* of the segment in OUT */
	bool pending;            /* OUT was sent and not acknowledged */
	/* Of PENDING; while it is true NEXT stays as it is, for another thread
	 * that seals the segment after it. */
	pthread_mutex_t lock;
	struct rj_writer_second second;
	bool must_base;          /* our fence breaks the log off */
	uint64_t floor;          /* nothing before it may be called needed */
	struct rj_buf out;       /* the segment last sealed */
	struct rj_buf back;      /* for reading back */
	int dead;                /* a negated rj_code: never write again */
	struct rj_error dead_why;
};

/* All zero, but for its locks. NULL: out of memory. */
struct rj_log_writer *rj_writer_new(void);
void rj_writer_set_pending(struct rj_log_writer *w, bool pending);
/* Fill a draft from A, for the segment that follows AFTER; the writer adds the rest. */
void rj_writer_draft(const struct rj_log_writer *w, const struct rj_log_append *a,
	const struct rj_log_tail *after, struct rj_seg_draft *out);
/* Take A into w->out and w->next if rj_log_seal_next() sealed it; else false. */
bool rj_writer_take_second(
	struct rj_log_writer *w, const struct rj_log_append *a);
/*
 * Seal DRAFT, which has its time, as the segment after AFTER into OUT; AT gets
 * the log's new tail. The identity, number, epoch, nonce and chain are filled
 * in here. Errors as of rj_segment_seal().
 */
int rj_writer_seal_after(struct rj_log_writer *w,
	const struct rj_log_tail *after, struct rj_seg_draft *draft,
	struct rj_buf *out, struct rj_log_tail *at, struct rj_error *err);
/*
 * Seal DRAFT as the segment after w->tail into w->out and w->next. The
 * identity, number, epoch, nonce, chain and time are filled in here.
 */
int rj_writer_seal(struct rj_log_writer *w, struct rj_seg_draft *draft,
	struct rj_error *err);
/*
 * Put LEN bytes DATA as segment SEQUENCE, once. RJ_E_EXISTS: another's segment
 * has the number; its bytes are in BACK.
 */
int rj_log_put_bytes(struct rj_store *store, const struct rj_log_id *id,
	uint64_t sequence, const void *data, size_t len, struct rj_buf *back,
	struct rj_error *err);
/*
 * Put w->out once. 0: it is in the log, and w->tail has moved on. RJ_E_EXISTS:
 * another's segment has the number; its bytes are in w->back.
 */
int rj_writer_put(struct rj_log_writer *w, struct rj_error *err);

#endif
