// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of states and events, and the current state with its reason. */
#include "state.h"

#include <stdatomic.h>
#include <stdio.h>

#include "util/environ.h"
#include "util/log.h"

/* The names of the cells below; X: impossible. */
#define ONL RJ_STATE_ONLINE
#define WAI RJ_STATE_WAITING
#define DEG RJ_STATE_DEGRADED
#define FUL RJ_STATE_FULL
#define RES RJ_STATE_RESYNCING
#define LOC RJ_STATE_LOCAL
#define FEN RJ_STATE_FENCED
#define FAI RJ_STATE_FAILED
#define X   RJ_STATES

static const enum rj_state table[RJ_STATES][RJ_EVENTS] = {
	/*   LOST_BLOCK LOST_LOCAL RETURNED CAUGHT_UP FULL SPACE LEAVE BACK FENCED BROKEN FORCE */
	[ONL] = {WAI,      DEG,       ONL,     X,        X,   X,   LOC,  ONL, FEN,   FAI,   FAI},
	[WAI] = {WAI,      DEG,       ONL,     X,        WAI, X,   LOC,  WAI, FEN,   FAI,   FAI},
	[DEG] = {DEG,      DEG,       RES,     X,        FUL, DEG, LOC,  DEG, FEN,   FAI,   FAI},
	[FUL] = {FUL,      FUL,       RES,     X,        FUL, DEG, FUL,  FUL, FEN,   FAI,   FAI},
	[RES] = {RES,      DEG,       RES,     ONL,      RES, RES, RES,  RES, FEN,   FAI,   FAI},
	[LOC] = {LOC,      LOC,       LOC,     X,        FUL, LOC, LOC,  RES, FEN,   FAI,   FAI},
	/* what another thread had under way still ends */
	[FEN] = {FEN,      FEN,       FEN,     FEN,      FEN, FEN, FEN,  FEN, FEN,   FEN,   FEN},
	[FAI] = {FAI,      FAI,       FAI,     FAI,      FAI, FAI, FAI,  FAI, FAI,   FAI,   FAI},
};

enum rj_state rj_state_next(enum rj_state s, enum rj_event e)
{
	return table[s][e];
}

const char *rj_state_name(enum rj_state s)
{
	static const char *const names[RJ_STATES] = {
		[RJ_STATE_ONLINE] = "online",
		[RJ_STATE_WAITING] = "waiting",
		[RJ_STATE_DEGRADED] = "degraded",
		[RJ_STATE_FULL] = "full",
		[RJ_STATE_RESYNCING] = "resyncing",
		[RJ_STATE_LOCAL] = "local",
		[RJ_STATE_FENCED] = "fenced",
		[RJ_STATE_FAILED] = "failed",
	};

	return (unsigned)s < RJ_STATES ? names[s] : "unknown";
}

const char *rj_event_name(enum rj_event e)
{
	static const char *const names[RJ_EVENTS] = {
		[RJ_EVENT_LOST_BLOCK] = "lost (block)",
		[RJ_EVENT_LOST_LOCAL] = "lost (local)",
		[RJ_EVENT_RETURNED] = "returned",
		[RJ_EVENT_CAUGHT_UP] = "caught up",
		[RJ_EVENT_FULL] = "full",
		[RJ_EVENT_SPACE] = "space",
		[RJ_EVENT_LEAVE] = "leave",
		[RJ_EVENT_BACK] = "back",
		[RJ_EVENT_FENCED] = "fenced",
		[RJ_EVENT_BROKEN] = "broken",
		[RJ_EVENT_FORCE] = "force",
	};

	return (unsigned)e < RJ_EVENTS ? names[e] : "unknown";
}

bool rj_state_over(enum rj_state s)
{
	return s == RJ_STATE_FENCED || s == RJ_STATE_FAILED;
}

bool rj_state_local(enum rj_state s)
{
	return s == RJ_STATE_DEGRADED || s == RJ_STATE_FULL ||
	       s == RJ_STATE_RESYNCING || s == RJ_STATE_LOCAL;
}

void rj_live_init(struct rj_live *l)
{
	l->state = RJ_STATE_ONLINE;
	l->since_ns = rj_realtime_ns();
	l->online_ns = 0;
	pthread_mutex_init(&l->why_lock, NULL);
	l->why.msg[0] = 0;
	l->trimmer = NULL;
}

void rj_live_set_trimmer(struct rj_live *l, struct rj_ticker *trimmer)
{
	pthread_mutex_lock(&l->why_lock);
	l->trimmer = trimmer;
	pthread_mutex_unlock(&l->why_lock);
}

void rj_live_heard(struct rj_live *l, const struct rj_error *why)
{
	if (why->code != RJ_E_NOSPACE && why->cause != RJ_CAUSE_MISSING)
		return;
	pthread_mutex_lock(&l->why_lock);
	if (l->trimmer)
		rj_ticker_ring(l->trimmer);
	pthread_mutex_unlock(&l->why_lock);
}

void rj_live_set_why(struct rj_live *l, const struct rj_error *why)
{
	pthread_mutex_lock(&l->why_lock);
	if (why)
		l->why = *why;
	else
		l->why.msg[0] = 0;
	pthread_mutex_unlock(&l->why_lock);
	if (why)
		rj_live_heard(l, why);
}

void rj_live_why(const struct rj_live *l, char out[RJ_ERROR_BYTES])
{
	pthread_mutex_t *lock = (pthread_mutex_t *)&l->why_lock;

	pthread_mutex_lock(lock);
	snprintf(out, RJ_ERROR_BYTES, "%s", l->why.msg);
	pthread_mutex_unlock(lock);
}

const char *rj_live_cause(const struct rj_live *l)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)&l->why_lock;
	const char *cause;

	pthread_mutex_lock(lock);
	cause = l->why.msg[0] ? rj_error_cause(&l->why) : "";
	pthread_mutex_unlock(lock);
	return cause;
}

void rj_live_event(struct rj_live *l, enum rj_event e)
{
	int was = l->state;
	enum rj_state next;

	do {
		next = rj_state_next((enum rj_state)was, e);
		if (next == RJ_STATES) {
			rj_log(RJ_LOG_ERROR,
				"the event \"%s\" cannot happen in the state "
				"\"%s\", which stays: please report it",
				rj_event_name(e),
				rj_state_name((enum rj_state)was));
			return;
		}
	} while (!atomic_compare_exchange_weak(&l->state, &was, (int)next));
	if ((int)next == was)
		return;
	l->since_ns = rj_realtime_ns();
	if (next == RJ_STATE_ONLINE)
		l->online_ns = l->since_ns;
}
