// SPDX-License-Identifier: GPL-2.0-or-later
#include "state.h"

#include <stdatomic.h>
#include <stdio.h>

#include "util/environ.h"

#define N(state) {RJ_STATE_##state, RJ_EFFECT_NONE}
#define LOCAL	 {RJ_STATE_DEGRADED, RJ_EFFECT_MARK_LOCAL}
#define ASIDE	 {RJ_STATE_LOCAL, RJ_EFFECT_MARK_LOCAL}
#define IDLE	 {RJ_STATE_ONLINE, RJ_EFFECT_MARK_IDLE}
#define KEEP	 {RJ_STATE_STOPPED, RJ_EFFECT_KEEP}
#define FENCED	 {RJ_STATE_FENCED, RJ_EFFECT_FAIL}
#define FAILED	 {RJ_STATE_FAILED, RJ_EFFECT_FAIL}
#define X	 {RJ_STATES, RJ_EFFECT_IMPOSSIBLE}

static const struct rj_transition table[RJ_STATES][RJ_EVENTS] = {
	/* clang-format off */
	/*                     LOST_BLOCK   LOST_LOCAL   LOST_ERROR LOST_ONE  RETURNED      CAUGHT_UP  FULL          ROOM          LEAVE         BACK          FENCED     BROKEN     STOP         FORCE */
	[RJ_STATE_ONLINE]    = {N(WAITING),  LOCAL,       FAILED,    N(ALONE), N(ONLINE),    X,         X,            X,            ASIDE,        N(ONLINE),    FENCED,    FAILED,    N(STOPPED),  FAILED},
	[RJ_STATE_WAITING]   = {N(WAITING),  LOCAL,       FAILED,    N(ALONE), N(ONLINE),    X,         N(WAITING),   X,            ASIDE,        N(WAITING),   FENCED,    FAILED,    N(DRAINING), FAILED},
	[RJ_STATE_DEGRADED]  = {X,           N(DEGRADED), X,         X,        N(RESYNCING), X,         N(FULL),      N(DEGRADED),  N(LOCAL),     N(DEGRADED),  FENCED,    FAILED,    KEEP,        FAILED},
	[RJ_STATE_FULL]      = {X,           N(FULL),     X,         X,        N(RESYNCING), X,         N(FULL),      N(DEGRADED),  N(FULL),      N(FULL),      FENCED,    FAILED,    N(DRAINING), FAILED},
	[RJ_STATE_RESYNCING] = {X,           N(DEGRADED), X,         X,        N(RESYNCING), IDLE,      N(RESYNCING), N(RESYNCING), N(RESYNCING), N(RESYNCING), FENCED,    FAILED,    KEEP,        FAILED},
	[RJ_STATE_LOCAL]     = {X,           N(LOCAL),    X,         X,        N(LOCAL),     X,         N(FULL),      N(LOCAL),     N(LOCAL),     N(RESYNCING), FENCED,    FAILED,    KEEP,        FAILED},
	[RJ_STATE_ALONE]     = {N(WAITING),  LOCAL,       FAILED,    N(ALONE), N(ALONE),     N(ONLINE), X,            X,            X,            X,            FENCED,    FAILED,    N(STOPPED),  FAILED},
	[RJ_STATE_DRAINING]  = {N(DRAINING), LOCAL,       FAILED,    N(ALONE), N(ONLINE),    IDLE,      N(DRAINING),  N(DEGRADED),  N(DRAINING),  N(DRAINING),  FENCED,    FAILED,    N(DRAINING), FAILED},
	[RJ_STATE_FENCED]    = {X,           X,           X,         X,        X,            X,         X,            X,            X,            X,            N(FENCED), N(FENCED), N(STOPPED),  N(FENCED)},
	[RJ_STATE_FAILED]    = {X,           X,           X,         X,        X,            X,         X,            X,            X,            X,            N(FAILED), N(FAILED), N(STOPPED),  N(FAILED)},
	[RJ_STATE_STOPPED]   = {X,           X,           X,         X,        X,            X,         X,            X,            X,            X,            X,         X,         N(STOPPED),  N(STOPPED)},
	/* clang-format on */
};

struct rj_transition rj_state_next(enum rj_state s, enum rj_event e)
{
	struct rj_transition t = table[s][e];

	if (t.effect == RJ_EFFECT_IMPOSSIBLE)
		t.next = s;
	return t;
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
		[RJ_STATE_ALONE] = "alone",
		[RJ_STATE_DRAINING] = "draining",
		[RJ_STATE_FENCED] = "fenced",
		[RJ_STATE_FAILED] = "failed",
		[RJ_STATE_STOPPED] = "stopped",
	};

	return (unsigned)s < RJ_STATES ? names[s] : "unknown";
}

const char *rj_event_name(enum rj_event e)
{
	static const char *const names[RJ_EVENTS] = {
		[RJ_EVENT_LOST_BLOCK] = "lost (block)",
		[RJ_EVENT_LOST_LOCAL] = "lost (local)",
		[RJ_EVENT_LOST_ERROR] = "lost (error)",
		[RJ_EVENT_LOST_ONE] = "lost one of two",
		[RJ_EVENT_RETURNED] = "returned",
		[RJ_EVENT_CAUGHT_UP] = "caught up",
		[RJ_EVENT_FULL] = "full",
		[RJ_EVENT_ROOM] = "room",
		[RJ_EVENT_LEAVE] = "leave",
		[RJ_EVENT_BACK] = "back",
		[RJ_EVENT_FENCED] = "fenced",
		[RJ_EVENT_BROKEN] = "broken",
		[RJ_EVENT_STOP] = "stop",
		[RJ_EVENT_FORCE] = "force",
	};

	return (unsigned)e < RJ_EVENTS ? names[e] : "unknown";
}

const char *rj_effect_name(enum rj_effect e)
{
	static const char *const names[] = {
		[RJ_EFFECT_NONE] = "-",
		[RJ_EFFECT_MARK_LOCAL] = "mark local",
		[RJ_EFFECT_MARK_IDLE] = "mark idle",
		[RJ_EFFECT_KEEP] = "keep",
		[RJ_EFFECT_FAIL] = "fail",
		[RJ_EFFECT_IMPOSSIBLE] = "impossible",
	};

	return (unsigned)e <= RJ_EFFECT_IMPOSSIBLE ? names[e] : "unknown";
}

enum rj_event rj_state_lost(enum rj_on_loss policy)
{
	return policy == RJ_LOSS_LOCAL	 ? RJ_EVENT_LOST_LOCAL
	       : policy == RJ_LOSS_ERROR ? RJ_EVENT_LOST_ERROR
					 : RJ_EVENT_LOST_BLOCK;
}

bool rj_state_over(enum rj_state s)
{
	return s == RJ_STATE_FENCED || s == RJ_STATE_FAILED ||
	       s == RJ_STATE_STOPPED;
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
	pthread_mutex_init(&l->why_lock, NULL);
	l->why.msg[0] = 0;
}

void rj_live_set_why(struct rj_live *l, const struct rj_error *why)
{
	pthread_mutex_lock(&l->why_lock);
	if (why)
		l->why = *why;
	else
		l->why.msg[0] = 0;
	pthread_mutex_unlock(&l->why_lock);
}

void rj_live_why(const struct rj_live *l, char out[RJ_ERROR_BYTES])
{
	pthread_mutex_t *lock = (pthread_mutex_t *)&l->why_lock;

	pthread_mutex_lock(lock);
	snprintf(out, RJ_ERROR_BYTES, "%s", l->why.msg);
	pthread_mutex_unlock(lock);
}

enum rj_effect rj_live_event(struct rj_live *l, enum rj_event e)
{
	int was = l->state;
	struct rj_transition t;

	do
		t = rj_state_next(was, e);
	while (!atomic_compare_exchange_weak(&l->state, &was, (int)t.next));
	if ((int)t.next != was)
		l->since_ns = rj_realtime_ns();
	return t.effect;
}
