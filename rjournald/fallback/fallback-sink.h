/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Put segments into the store, or, while the store does not acknowledge in time, into the
 * fallback file (on_loss=local), and acknowledge them from there. When the store answers
 * again it gets the file's segments in order, while commits go on; then commits go to
 * the store again. doc/fallback.md has the rules.
 *
 * As long as the store answers, nothing is handed to another thread.
 */
#ifndef RJ_JOURNALD_FALLBACK_SINK_H
#define RJ_JOURNALD_FALLBACK_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "log/fallback/fallback-log.h"
#include "log/log.h"
#include "rjournald/handover/worker-shm.h"
#include "state.h"
#include "util/error.h"

struct rj_fallback_sink;

/* All stay the caller's and must outlive the fallback sink. */
struct rj_fallback_sink_opts {
	struct rj_log_writer *writer; /* its store bounds each put */
	uint64_t fence;		      /* the number of that writer's fence */
	/* Another handle of the same store, for the catching up alone. */
	struct rj_store *store;
	const struct rj_log_id *id;
	struct rj_fallback
		*fallback; /* idle, but for rj_fallback_sink_resume() */
	struct rj_live *live;
	struct rj_worker_map *map; /* for the next worker; NULL: for none */
};

struct rj_fallback_sink_stat {
	struct rj_fallback_facts fallback;
	uint64_t remote; /* the last segment that the store has acknowledged */
	/* Since the start: how often the store was lost, and what was kept. */
	uint64_t losses, kept_segments, kept_bytes;
	uint64_t segments, bytes; /* since the start: all that were sealed for either way */
	char why[RJ_ERROR_BYTES]; /* the last failure of the store; "" if none */
	const char *cause;	  /* rj_error_cause() of that, or "" */
};

int rj_fallback_sink_new(const struct rj_fallback_sink_opts *opts,
	struct rj_fallback_sink **out, struct rj_error *err);
/* NULL-safe. Stops the thread first. */
void rj_fallback_sink_free(struct rj_fallback_sink *s);

/* Continue in the place of a worker that died, before the thread and before any append:
 * the state is WAITING, and becomes DEGRADED if the file, which rj_resume() has read,
 * holds anything that the store lacks. */
void rj_fallback_sink_resume(struct rj_fallback_sink *s);

/* The two calls of a struct rj_sink; ARG is the fallback sink. RJ_E_UNREACHABLE: the
 * store is lost and the file takes nothing; retry. RJ_E_FENCED and others are final. */
int rj_fallback_sink_append(
	void *arg, const struct rj_log_append *a, struct rj_error *err);
int rj_fallback_sink_retry(void *arg, struct rj_error *err);

/*
 * Send commits to the file from now on, although the store may answer, and ship nothing;
 * for the arbiter. Does nothing in a state without such a transition. The file notes it
 * durably first. Waits for a put that is under way. On failure nothing has changed.
 */
int rj_fallback_sink_leave(struct rj_fallback_sink *s, struct rj_error *err);
/* Go back to the store: it gets the file's segments, and then the commits. */
void rj_fallback_sink_back(struct rj_fallback_sink *s);

/*
 * Do one step of shipping the file: at most one put while commits go on, or, near the
 * end, the last few puts while commits wait. Returns how long to wait before the next
 * step (nanoseconds); negative: nothing to do until an append goes to the file. A caller
 * without the thread calls this itself.
 */
int64_t rj_fallback_sink_step(struct rj_fallback_sink *s);
/* Start a thread that calls rj_fallback_sink_step(). */
int rj_fallback_sink_start(struct rj_fallback_sink *s, struct rj_error *err);
/* End the thread (after the put that it is in), and durably write down how far
 * the file goes. What went there by choice alone is brought to the store
 * first, if that takes it. */
int rj_fallback_sink_stop(struct rj_fallback_sink *s, struct rj_error *err);
/*
 * Note TAIL, the last that was acknowledged, in the file, unless that has what the store
 * lacks; one that does not say yet that it is idle is made so first. For a thread of its
 * own: no commit waits for it, but the one that goes to the file first.
 */
int rj_fallback_sink_note_tail(struct rj_fallback_sink *s,
	const struct rj_log_tail *tail, struct rj_error *err);
/* From any thread. */
void rj_fallback_sink_stat(
	struct rj_fallback_sink *s, struct rj_fallback_sink_stat *out);

#endif
