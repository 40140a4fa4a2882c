// SPDX-License-Identifier: GPL-2.0-or-later
/* Put segments into the store or the fallback file, and ship the file to the store. */
#include "fallback-sink.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/retry.h"
#include "os/thread.h"
#include "rjournald/handover/saved-writer.h"
#include "util/environ.h"
#include "util/log.h"

#define MS	       1000000LL
#define PROBE_FIRST_NS (200 * MS)
#define PROBE_MAX_NS   (2000 * MS)
/* So few are left: ship them with commits held up, and hand back. */
#define LAST_FEW 4
/* While it catches up a commit waits until two more were shipped, so that the
 * end comes nearer; but never longer than this. */
#define PACE_NS	 (20 * MS)
#define PACE_FOR 2

struct rj_fallback_sink {
	struct rj_fallback_sink_opts o;
	pthread_mutex_t lock;
	pthread_mutex_t noting; /* the idle file's header is; taken under LOCK */
	pthread_cond_t wake;	/* something to do, or told to stop */
	pthread_cond_t shipped; /* one more was */
	pthread_t thread;
	bool running, stop;
	bool told_full; /* the file takes nothing, and it was said */
	uint64_t paced; /* shipped this far when the last commit was taken */
	unsigned probes; /* failed puts since the store was lost */
	struct rj_buf bytes, back; /* of step() */
	uint64_t losses, kept_segments, kept_bytes;
	uint64_t segments, segment_bytes;
	struct rj_error why; /* of the last loss */
	pthread_mutex_t show_lock; /* of SHOWN alone; never held for long */
	struct rj_fallback_sink_stat shown;
};

static enum rj_state state_of(const struct rj_fallback_sink *s)
{
	return (enum rj_state)s->o.live->state;
}

static void event(struct rj_fallback_sink *s, enum rj_event e)
{
	rj_live_event(s->o.live, e);
}

/* Is the store asked for in the background? */
static bool shipping(const struct rj_fallback_sink *s)
{
	return rj_state_local(state_of(s)) && state_of(s) != RJ_STATE_LOCAL;
}

/* With the lock held. */
static void show(struct rj_fallback_sink *s)
{
	struct rj_fallback_sink_stat *out = &s->shown;

	pthread_mutex_lock(&s->show_lock);
	rj_fallback_facts(s->o.fallback, &out->fallback);
	out->remote = out->fallback.last >= out->fallback.next
			      ? out->fallback.next - 1
			      : rj_log_writer_tail(s->o.writer)->sequence;
	out->losses = s->losses;
	out->kept_segments = s->kept_segments;
	out->kept_bytes = s->kept_bytes;
	out->segments = s->segments;
	out->bytes = s->segment_bytes;
	snprintf(out->why, sizeof(out->why), "%s", s->why.msg);
	out->cause = s->why.msg[0] ? rj_error_cause(&s->why) : "";
	pthread_mutex_unlock(&s->show_lock);
}

/* "Local from here on", durably, then the state that EVENT leads to. */
static int begin_local(
	struct rj_fallback_sink *s, enum rj_event e, struct rj_error *err)
{
	int rc;

	pthread_mutex_lock(&s->noting);
	rc = rj_fallback_begin(s->o.fallback, rj_log_writer_tail(s->o.writer),
		rj_log_writer_epoch(s->o.writer), s->o.fence, err);
	pthread_mutex_unlock(&s->noting);
	if (rc)
		return rc;
	event(s, e);
	s->paced = 0;
	s->probes = 0;
	show(s);
	return 0;
}

/* The store does not take the pending segment: from here on locally. */
static int go_local(struct rj_fallback_sink *s, const struct rj_error *why,
	struct rj_error *err)
{
	int rc;

	s->why = *why;
	rj_live_heard(s->o.live, why);
	rc = begin_local(s, RJ_EVENT_LOST_LOCAL, err);
	if (rc)
		return rc;
	s->losses++;
	rj_log(RJ_LOG_WARNING, "%s; going on in %s from segment %llu",
		why->msg, rj_fallback_name(s->o.fallback),
		(unsigned long long)rj_log_writer_tail(s->o.writer)->sequence +
			1);
	return 0;
}

/* Keep the pending segment in the file. */
static int keep(struct rj_fallback_sink *s, struct rj_error *err)
{
	struct rj_log_sealed seg;
	int rc;

	if (!rj_log_sealed(s->o.writer, &seg))
		return 0;
	rc = rj_fallback_append(s->o.fallback, &seg, err);
	if (!rc)
		rj_saved_writer_in_file(s->o.map, seg.at.sequence);
	if (rc) {
		event(s, RJ_EVENT_FULL);
		if (!s->told_full)
			rj_log(RJ_LOG_WARNING,
				"%s; waiting until the store has taken some of it",
				err->msg);
		s->told_full = true;
		pthread_cond_signal(&s->wake);
		/* it takes the store to go on, whatever the file's trouble is */
		err->code = RJ_E_UNREACHABLE;
		err->cause = s->why.cause;
		return -RJ_E_UNREACHABLE;
	}
	if (s->told_full)
		event(s, RJ_EVENT_SPACE);
	s->told_full = false;
	s->kept_segments++;
	s->kept_bytes += seg.len;
	show(s); /* before it counts as acknowledged: the floors ask in that order */
	rj_log_mark_stored(s->o.writer);
	pthread_cond_signal(&s->wake);
	return 0;
}

/* Put the pending segment where it belongs now. */
static int place(struct rj_fallback_sink *s, struct rj_error *err)
{
	struct rj_error why;
	int rc;

	if (rj_state_over(state_of(s))) {
		*err = s->why;
		return -(int)err->code;
	}
	if (rj_state_local(state_of(s)))
		return keep(s, err);
	rc = rj_log_retry(s->o.writer, &why);
	if (!rc) {
		event(s, RJ_EVENT_RETURNED);
		return 0;
	}
	if (rj_error_final(&why)) {
		s->why = *err = why;
		rj_saved_writer_over(s->o.map, &why);
		event(s, rc == -RJ_E_FENCED ? RJ_EVENT_FENCED
					    : RJ_EVENT_BROKEN);
		return rc;
	}
	rc = go_local(s, &why, err);
	if (!rc)
		return keep(s, err);
	/* neither the store nor the file: wait for either */
	event(s, RJ_EVENT_LOST_BLOCK);
	if (!s->told_full)
		rj_log(RJ_LOG_ERROR, "%s", err->msg);
	s->told_full = true;
	*err = why;
	err->code = RJ_E_UNREACHABLE;
	return -RJ_E_UNREACHABLE;
}

static int place_noted(struct rj_fallback_sink *s, struct rj_error *err)
{
	int rc = place(s, err);

	if (!rc)
		rj_saved_writer_note(s->o.map, s->o.writer);
	return rc;
}

/* Do not run away from the thread that catches up. */
static void pace(struct rj_fallback_sink *s)
{
	struct rj_fallback_facts f;
	struct timespec until;

	if (state_of(s) != RJ_STATE_RESYNCING || !s->running)
		return;
	until = rj_cond_until(PACE_NS);
	for (;;) {
		rj_fallback_facts(s->o.fallback, &f);
		if (state_of(s) != RJ_STATE_RESYNCING ||
			f.next >= s->paced + PACE_FOR ||
			pthread_cond_timedwait(&s->shipped, &s->lock, &until))
			break;
	}
	s->paced = f.next;
}

int rj_fallback_sink_append(
	void *arg, const struct rj_log_append *a, struct rj_error *err)
{
	struct rj_fallback_sink *s = arg;
	struct rj_error unseen;
	struct rj_log_sealed seg;
	int rc;

	if (!err)
		err = &unseen;
	pthread_mutex_lock(&s->lock);
	pace(s);
	rc = rj_log_seal(s->o.writer, a, err);
	if (!rc && rj_log_sealed(s->o.writer, &seg)) {
		s->segments++;
		s->segment_bytes += seg.len;
	}
	if (!rc) {
		rj_saved_writer_note(s->o.map, s->o.writer);
		rc = place_noted(s, err);
	}
	pthread_mutex_unlock(&s->lock);
	return rc;
}

int rj_fallback_sink_retry(void *arg, struct rj_error *err)
{
	struct rj_fallback_sink *s = arg;
	struct rj_error unseen;
	int rc;

	pthread_mutex_lock(&s->lock);
	rc = place_noted(s, err ? err : &unseen);
	pthread_mutex_unlock(&s->lock);
	return rc;
}

int rj_fallback_sink_leave(struct rj_fallback_sink *s, struct rj_error *err)
{
	int rc = 0;

	/* it is asked for again and again: not in the way of a commit */
	if (state_of(s) == RJ_STATE_LOCAL)
		return 0;
	pthread_mutex_lock(&s->lock);
	if (!rj_state_local(state_of(s)) && !rj_state_over(state_of(s)))
		rc = begin_local(s, RJ_EVENT_LEAVE, err);
	else
		event(s, RJ_EVENT_LEAVE);
	pthread_mutex_unlock(&s->lock);
	return rc;
}

void rj_fallback_sink_back(struct rj_fallback_sink *s)
{
	if (state_of(s) != RJ_STATE_LOCAL)
		return;
	pthread_mutex_lock(&s->lock);
	event(s, RJ_EVENT_BACK);
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
}

/* ---- in the background ---- */

/*
 * Everything is there: commits may go to the store again. A file that cannot say so
 * would be taken for the log's end where the store is away: it is tried again, with
 * each note.
 */
static int64_t hand_back(struct rj_fallback_sink *s)
{
	struct rj_error err;

	if (rj_fallback_idle(s->o.fallback, &err))
		rj_log(RJ_LOG_ERROR, "%s", err.msg);
	event(s, RJ_EVENT_CAUGHT_UP);
	s->why.msg[0] = 0;
	show(s);
	rj_log(RJ_LOG_NOTICE, "the store has everything again");
	pthread_cond_broadcast(&s->shipped);
	return -1;
}

/* The store was lost and the file took nothing, not one segment: there is
 * nothing to catch up with, and only a put tells whether the store is back. */
static int64_t hand_back_empty(struct rj_fallback_sink *s)
{
	event(s, RJ_EVENT_RETURNED);
	return hand_back(s);
}

/* A put ended with RC; TAKEN: the number is another's. */
static int64_t account(struct rj_fallback_sink *s, uint64_t sequence, int rc,
	bool taken, const struct rj_error *why)
{
	if (rj_state_over(state_of(s)))
		return -1;
	if (!rc) {
		if (shipping(s) && state_of(s) != RJ_STATE_RESYNCING)
			rj_log(RJ_LOG_NOTICE,
				"the store is back; it gets what %s holds",
				rj_fallback_name(s->o.fallback));
		event(s, RJ_EVENT_RETURNED);
		rj_fallback_shipped(s->o.fallback, sequence);
		rj_saved_writer_shipped(s->o.map, sequence);
		show(s);
		s->probes = 0;
		pthread_cond_broadcast(&s->shipped);
		return 0;
	}
	if (taken) {
		s->why = *why;
		s->why.cause = RJ_CAUSE_TAKEN;
		rj_saved_writer_over(s->o.map, &s->why);
		event(s, RJ_EVENT_FENCED);
		rj_log(RJ_LOG_ERROR,
			"%s; segments that were acknowledged here are in %s, and are kept",
			why->msg, rj_fallback_name(s->o.fallback));
		return -1;
	}
	if (why->code == RJ_E_CORRUPT)
		rj_log(RJ_LOG_ERROR, "%s", why->msg);
	else if (s->why.msg[0] &&
		 strcmp(rj_error_cause(why), rj_error_cause(&s->why)))
		rj_log(RJ_LOG_WARNING, "%s", why->msg);
	event(s, RJ_EVENT_LOST_LOCAL);
	s->why = *why;
	rj_live_heard(s->o.live, why);
	return rj_backoff_ns(s->probes++, PROBE_FIRST_NS, PROBE_MAX_NS);
}

/* Ship segment NEXT. HELD: the lock is kept all the time. */
static int64_t ship_next(struct rj_fallback_sink *s,
	const struct rj_fallback_place *at, bool fds)
{
	struct rj_error why = {0};
	bool taken = false;
	int rc;

	if (!fds)
		pthread_mutex_unlock(&s->lock);
	rc = rj_fallback_fetch(s->o.fallback, at, &s->bytes, &why);
	if (!rc)
		rc = rj_log_put_sealed(s->o.store, s->o.id, at->sequence,
			rj_log_writer_epoch(s->o.writer),
			&(struct iovec){s->bytes.data, s->bytes.len}, 1,
			&s->back, &taken, &why);
	if (!fds)
		pthread_mutex_lock(&s->lock);
	return account(s, at->sequence, rc, taken, &why);
}

int64_t rj_fallback_sink_step(struct rj_fallback_sink *s)
{
	struct rj_fallback_place at;
	struct rj_fallback_facts f;
	int64_t wait;
	bool few;

	pthread_mutex_lock(&s->lock);
	do {
		wait = -1;
		few = false;
		if (!shipping(s))
			break;
		rj_fallback_facts(s->o.fallback, &f);
		few = state_of(s) == RJ_STATE_RESYNCING &&
		      f.last + 1 <= f.next + LAST_FEW;
		if (rj_fallback_find(s->o.fallback, f.next, &at))
			wait = ship_next(s, &at, few);
		else if (state_of(s) == RJ_STATE_RESYNCING)
			wait = hand_back(s);
		else if (s->told_full) /* the file took nothing: ask the store */
			wait = hand_back_empty(s);
	} while (few && !wait);
	pthread_mutex_unlock(&s->lock);
	return wait;
}

/* True: told to stop. WAIT_NS as rj_fallback_sink_step() returns it. */
static bool wait_for_turn(struct rj_fallback_sink *s, int64_t wait_ns)
{
	struct timespec until;
	bool stop;

	pthread_mutex_lock(&s->lock);
	if (wait_ns < 0) {
		while (!s->stop && !shipping(s))
			pthread_cond_wait(&s->wake, &s->lock);
	} else if (wait_ns > 0) {
		until = rj_cond_until(wait_ns);
		while (!s->stop &&
			!pthread_cond_timedwait(&s->wake, &s->lock, &until))
			;
	}
	stop = s->stop;
	pthread_mutex_unlock(&s->lock);
	return stop;
}

static void *run(void *arg)
{
	struct rj_fallback_sink *s = arg;
	int64_t wait = -1;

	while (!wait_for_turn(s, wait)) {
		wait = rj_fallback_sink_step(s);
		/* local, and nothing kept yet: the append is on its way */
		if (wait < 0 && shipping(s))
			wait = MS;
	}
	return NULL;
}

int rj_fallback_sink_start(struct rj_fallback_sink *s, struct rj_error *err)
{
	int e = rj_thread_start(&s->thread, run, s);

	if (e)
		return rj_fail_errno(err, e, "cannot start a thread");
	s->running = true;
	return 0;
}

int rj_fallback_sink_stop(struct rj_fallback_sink *s, struct rj_error *err)
{
	struct rj_fallback_facts f;
	int rc;

	pthread_mutex_lock(&s->lock);
	s->stop = true;
	pthread_cond_signal(&s->wake);
	pthread_mutex_lock(&s->noting);
	pthread_mutex_unlock(&s->noting);
	pthread_mutex_unlock(&s->lock);
	if (s->running) {
		pthread_join(s->thread, NULL);
		s->running = false;
	}
	if (state_of(s) == RJ_STATE_LOCAL) {
		event(s, RJ_EVENT_BACK);
		while (!rj_fallback_sink_step(s))
			;
	}
	rj_fallback_facts(s->o.fallback, &f);
	if (f.last < f.next)
		return rj_fallback_idle(s->o.fallback, err);
	rc = rj_fallback_note(s->o.fallback, err);
	rj_log(RJ_LOG_WARNING,
		"%s holds segments %llu to %llu, which the store does not have: keep it; the next start, or rjrecover, brings them there",
		rj_fallback_name(s->o.fallback), (unsigned long long)f.next,
		(unsigned long long)f.last);
	return rc;
}

int rj_fallback_sink_note_tail(struct rj_fallback_sink *s,
	const struct rj_log_tail *tail, struct rj_error *err)
{
	struct rj_fallback_facts f;
	int rc = 0;

	pthread_mutex_lock(&s->lock);
	rj_fallback_facts(s->o.fallback, &f);
	if (s->stop || rj_state_local(state_of(s)) || f.last >= f.next) {
		pthread_mutex_unlock(&s->lock);
		return 0;
	}
	pthread_mutex_lock(&s->noting);
	pthread_mutex_unlock(&s->lock);
	if (f.state == RJ_FALLBACK_LOCAL) /* that could not be written before */
		rc = rj_fallback_idle(s->o.fallback, err);
	if (!rc)
		rc = rj_fallback_note_tail(s->o.fallback, tail, err);
	pthread_mutex_unlock(&s->noting);
	return rc;
}

/* While a put is under way, with the lock fds, it is what was last shown: that
 * is done whenever what the file holds has changed. */
void rj_fallback_sink_stat(
	struct rj_fallback_sink *s, struct rj_fallback_sink_stat *out)
{
	if (!pthread_mutex_trylock(&s->lock)) {
		show(s);
		pthread_mutex_unlock(&s->lock);
	}
	pthread_mutex_lock(&s->show_lock);
	*out = s->shown;
	pthread_mutex_unlock(&s->show_lock);
}

void rj_fallback_sink_resume(struct rj_fallback_sink *s)
{
	struct rj_fallback_facts f;

	rj_fallback_facts(s->o.fallback, &f);
	if (f.state == RJ_FALLBACK_LOCAL && f.last >= f.next)
		event(s, RJ_EVENT_LOST_LOCAL);
	show(s);
}

int rj_fallback_sink_new(const struct rj_fallback_sink_opts *opts,
	struct rj_fallback_sink **out, struct rj_error *err)
{
	struct rj_fallback_sink *s = calloc(1, sizeof(*s));

	*out = NULL;
	if (!s)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	s->o = *opts;
	s->probes = 0;
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->noting, NULL);
	pthread_mutex_init(&s->show_lock, NULL);
	show(s);
	rj_cond_init(&s->wake);
	rj_cond_init(&s->shipped);
	*out = s;
	return 0;
}

void rj_fallback_sink_free(struct rj_fallback_sink *s)
{
	if (!s)
		return;
	if (s->running)
		rj_fallback_sink_stop(s, NULL);
	pthread_cond_destroy(&s->shipped);
	pthread_cond_destroy(&s->wake);
	pthread_mutex_destroy(&s->show_lock);
	pthread_mutex_destroy(&s->lock);
	rj_buf_free(&s->bytes);
	rj_buf_free(&s->back);
	free(s);
}
