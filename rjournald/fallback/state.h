/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Find the state that follows on an event, of the path from commits to store or file:
 * one table, pure. The file says "local from segment N", durably, before LOST_LOCAL or
 * LEAVE is raised in a state that is not local (doc/fallback.md).
 */
#ifndef RJ_JOURNALD_STATE_H
#define RJ_JOURNALD_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "format/sbx.h"
#include "os/thread.h"
#include "util/error.h"

enum rj_state {
	RJ_STATE_ONLINE,    /* the store acknowledges */
	RJ_STATE_WAITING,   /* the store is lost; requests wait for it */
	RJ_STATE_DEGRADED,  /* lost; the fallback file acknowledges */
	RJ_STATE_FULL,	    /* lost, and the file has no space: requests wait */
	RJ_STATE_RESYNCING, /* it is back, and gets what the file holds; commits
			     * still go to the file, after that */
	RJ_STATE_LOCAL,	    /* the fallback file acknowledges by choice (the
			     * arbiter's); the store is not asked */
	RJ_STATE_FENCED,    /* another writer took over: never again */
	RJ_STATE_FAILED,    /* never again, for another reason */
	RJ_STATES,
};

enum rj_event {
	RJ_EVENT_LOST_BLOCK, /* a put failed and may be tried again; the policy
			      * is to wait */
	RJ_EVENT_LOST_LOCAL, /* ... to go on in the fallback file */
	RJ_EVENT_RETURNED,   /* a put was acknowledged */
	RJ_EVENT_CAUGHT_UP,  /* the store has all that we have */
	RJ_EVENT_FULL,	     /* no space in the file, or it failed */
	RJ_EVENT_SPACE,	     /* there is space again */
	RJ_EVENT_LEAVE,	     /* the arbiter wants the file */
	RJ_EVENT_BACK,	     /* ... the store */
	RJ_EVENT_FENCED,
	RJ_EVENT_BROKEN, /* something that no retry cures */
	RJ_EVENT_FORCE, /* stop now, whatever is lost by it */
	RJ_EVENTS,
};

/* Get the state that follows on E in S. RJ_STATES: E cannot happen in S. */
enum rj_state rj_state_next(enum rj_state s, enum rj_event e);
/* Get a short word ("online"), for status and messages. */
const char *rj_state_name(enum rj_state s);
const char *rj_event_name(enum rj_event e);
/* Will this state never acknowledge anything again? */
bool rj_state_over(enum rj_state s);
/* Does the fallback file hold what the store does not? */
bool rj_state_local(enum rj_state s);

/* A state that one thread at a time changes and any thread reads. */
struct rj_live {
	_Atomic int state;
	_Atomic int64_t since_ns; /* realtime */
	_Atomic int64_t online_ns; /* realtime: last back to ONLINE; 0: never */
	pthread_mutex_t why_lock; /* never held for long */
	struct rj_error why;
	struct rj_ticker *trimmer; /* NULL: none */
};

void rj_live_init(struct rj_live *l);
/* Set the error for which requests wait, which names the store. NULL: they do not wait. */
void rj_live_set_why(struct rj_live *l, const struct rj_error *why);
/* Copy its message to OUT; "": requests do not wait. From any thread. */
void rj_live_why(const struct rj_live *l, char out[RJ_ERROR_BYTES]);
/* Set the ticker to wake when a store is full, or lacks segments; NULL: none. */
void rj_live_set_trimmer(struct rj_live *l, struct rj_ticker *trimmer);
/* Wake that ticker if WHY says so. rj_live_set_why() does that itself. */
void rj_live_heard(struct rj_live *l, const struct rj_error *why);
/* Get rj_error_cause() of the error for which requests wait; "": they do not wait. */
const char *rj_live_cause(const struct rj_live *l);
/* Go to the state that follows on E. An event that cannot happen is logged as an
 * error and changes nothing. */
void rj_live_event(struct rj_live *l, enum rj_event e);

#endif
