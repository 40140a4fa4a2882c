// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Seal a segment while the one before it is being put: by then its number and
 * the hash that it is chained to are certain. It waits in w->second until its
 * turn comes.
 */
#include <string.h>

#include "log/write/writer.h"
#include "util/environ.h"

void rj_writer_set_pending(struct rj_log_writer *w, bool pending)
{
	pthread_mutex_lock(&w->lock);
	w->pending = pending;
	pthread_mutex_unlock(&w->lock);
}

/* Find the segment that A would follow, if that is under way now. */
static bool predecessor(struct rj_log_writer *w, const struct rj_log_append *a,
	struct rj_log_tail *out)
{
	bool ok;

	if (a->base)
		return false;
	pthread_mutex_lock(&w->lock);
	ok = w->pending && !w->dead && !w->must_base &&
	     w->next.sequence + 1 == a->sequence;
	if (ok)
		*out = w->next;
	pthread_mutex_unlock(&w->lock);
	return ok;
}

bool rj_log_seal_next(struct rj_log_writer *w, const struct rj_log_append *a)
{
	struct rj_writer_second *s = &w->second;
	struct rj_seg_draft draft;
	struct rj_log_tail after;
	bool done;

	if (pthread_mutex_trylock(&s->lock))
		return false;
	s->ready = false;
	if (predecessor(w, a, &after)) {
		rj_writer_draft(w, a, &after, &draft);
		draft.header.time_ns = (uint64_t)rj_realtime_ns();
		memcpy(s->after, after.chain, sizeof(s->after));
		/* what fails here fails again, and is told, in its turn */
		s->ready = !rj_writer_seal_after(
			w, &after, &draft, &s->out, &s->at, NULL);
	}
	done = s->ready;
	pthread_mutex_unlock(&s->lock);
	return done;
}

bool rj_writer_take_second(
	struct rj_log_writer *w, const struct rj_log_append *a)
{
	struct rj_writer_second *s = &w->second;
	struct rj_buf was;
	bool ok;

	pthread_mutex_lock(&s->lock);
	ok = s->ready && !w->must_base && !a->base &&
	     s->at.sequence == a->sequence &&
	     s->at.sequence == w->tail.sequence + 1 &&
	     !memcmp(s->after, w->tail.chain, sizeof(s->after));
	s->ready = false;
	if (ok) {
		was = w->out;
		w->out = s->out;
		s->out = was;
		w->next = s->at;
	}
	pthread_mutex_unlock(&s->lock);
	return ok;
}
