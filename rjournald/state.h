/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What state the live path is in, and what may follow: one table, pure. Who
 * raises an event does what the transition's effect asks for *before* the new
 * state counts (see doc/fallback.md).
 */
#ifndef RJ_JOURNALD_STATE_H
#define RJ_JOURNALD_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "format/sbx.h"
#include "util/error.h"

enum rj_state {
	RJ_STATE_ONLINE,    /* the store acknowledges */
	RJ_STATE_WAITING,   /* the store is lost; requests wait for it */
	RJ_STATE_DEGRADED,  /* lost; the fallback file acknowledges */
	RJ_STATE_FULL,	    /* lost, and the file has no room: requests wait */
	RJ_STATE_RESYNCING, /* it is back, and gets what the file holds; commits
			     * still go to the file, behind that */
	RJ_STATE_LOCAL,	    /* the fallback file acknowledges by choice (the
			     * arbiter's); nobody asks the store */
	RJ_STATE_ALONE,	    /* one of two stores is lost */
	RJ_STATE_DRAINING,  /* told to stop, with something to ship and nowhere
			     * to put it */
	RJ_STATE_FENCED,    /* another writer took over: never again */
	RJ_STATE_FAILED,    /* never again, for another reason */
	RJ_STATE_STOPPED,
	RJ_STATES,
};

enum rj_event {
	RJ_EVENT_LOST_BLOCK, /* a put failed and may be tried again; the policy
			      * is to wait */
	RJ_EVENT_LOST_LOCAL, /* ... to go on in the fallback file */
	RJ_EVENT_LOST_ERROR, /* ... to fail */
	RJ_EVENT_LOST_ONE,   /* one of two stores */
	RJ_EVENT_RETURNED,   /* a put was acknowledged */
	RJ_EVENT_CAUGHT_UP,  /* the store (or both) has all that we have */
	RJ_EVENT_FULL,	     /* no room in the file, or it failed */
	RJ_EVENT_ROOM,	     /* there is room again */
	RJ_EVENT_LEAVE,	     /* the arbiter wants the file */
	RJ_EVENT_BACK,	     /* ... the store */
	RJ_EVENT_FENCED,
	RJ_EVENT_BROKEN, /* something that no retry cures */
	RJ_EVENT_STOP,
	RJ_EVENT_FORCE, /* stop now, whatever is lost by it */
	RJ_EVENTS,
};

/* What must be done, and be durable, before the new state counts. */
enum rj_effect {
	RJ_EFFECT_NONE,
	RJ_EFFECT_MARK_LOCAL, /* the file says "local from segment N" */
	RJ_EFFECT_MARK_IDLE,  /* the file says that nothing in it is needed */
	RJ_EFFECT_KEEP,	      /* the file says how far it goes */
	RJ_EFFECT_FAIL,	      /* from now on all I/O fails */
	RJ_EFFECT_IMPOSSIBLE, /* this event cannot happen here; nothing changes */
};

struct rj_transition {
	enum rj_state next;
	enum rj_effect effect;
};

struct rj_transition rj_state_next(enum rj_state s, enum rj_event e);
/* A short word ("online"), for status and messages. */
const char *rj_state_name(enum rj_state s);
const char *rj_event_name(enum rj_event e);
const char *rj_effect_name(enum rj_effect e);
/* The event that losing the store is, under POLICY. */
enum rj_event rj_state_lost(enum rj_on_loss policy);
/* Will this state never acknowledge anything again? */
bool rj_state_over(enum rj_state s);
/* Does the fallback file hold what the store does not? */
bool rj_state_local(enum rj_state s);

/* A state that one thread at a time changes and any thread reads. */
struct rj_live {
	_Atomic int state;
	_Atomic int64_t since_ns; /* realtime */
	pthread_mutex_t why_lock; /* never held for long */
	struct rj_error why;
};

void rj_live_init(struct rj_live *l);
/* What requests wait for, which names the store; NULL: for nothing any more. */
void rj_live_set_why(struct rj_live *l, const struct rj_error *why);
/* The same into OUT; "": for nothing. From any thread. */
void rj_live_why(const struct rj_live *l, char out[RJ_ERROR_BYTES]);
/* Take EVENT's transition (its effect is the caller's, and was done). */
enum rj_effect rj_live_event(struct rj_live *l, enum rj_event e);

#endif
