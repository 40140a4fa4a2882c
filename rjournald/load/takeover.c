// SPDX-License-Identifier: GPL-2.0-or-later
/* The thread that becomes the log's writer after a worker died. */
#include "takeover.h"

#include <string.h>
#include <unistd.h>

#include "log/retry.h"
#include "move.h"
#include "os/thread.h"
#include "resume.h"
#include "rjournald/handover/harden.h"
#include "rjournald/handover/supervisor.h"
#include "util/environ.h"
#include "util/log.h"

#define MS	     1000000LL
#define FIRST_NS     (50 * MS)
#define MAX_NS	     (2000 * MS)
#define SLICE_NS     (50 * MS)
/* on_loss=error: how long a new worker looks for the store. */
#define ERROR_WAIT_NS (10000 * MS)

/* True: worth another try. */
static bool patient(const struct rj_takeover *t, const struct rj_error *why,
	int64_t begun)
{
	if (t->cancelled || rj_error_final(why))
		return false;
	return t->loaded->facts.sbx.on_loss != RJ_LOSS_ERROR ||
	       rj_monotonic_ns() - begun < ERROR_WAIT_NS;
}

static void pause_ns(const struct rj_takeover *t, int64_t ns)
{
	for (; ns > 0 && !t->cancelled; ns -= SLICE_NS)
		rj_sleep_ns(ns < SLICE_NS ? ns : SLICE_NS);
}

/* Become the log's writer. */
static int become_writer(struct rj_loaded *l, struct rj_error *err)
{
	const struct rj_worker_shm *k = l->memory.shm;
	int rc;

	/* for good: a worker after that one has nothing to write */
	if (k->failed) {
		rj_shm_load_error(err, &k->failure);
		err->code = RJ_E_CANCELLED;
		return -RJ_E_CANCELLED;
	}
	rc = rj_move(l, err);
	if (rc)
		return rc;
	return l->facts.sbx.fallback[0] ? rj_resume(l, err) : rj_load_claim_again(l, err);
}

static void *take_over(void *arg)
{
	struct rj_takeover *t = arg;
	int64_t begun = rj_monotonic_ns();
	unsigned tries = 0;
	int rc;
	struct rj_error err;
	const char *said = NULL;
	uint64_t one = 1;

	while ((rc = become_writer(t->loaded, &err)) != 0 &&
		patient(t, &err, begun)) {
		if (!said || strcmp(said, rj_error_cause(&err)))
			rj_log(RJ_LOG_WARNING, "%s; waiting for it (%s)",
				err.msg, rj_error_cause(&err));
		said = rj_error_cause(&err);
		rj_live_set_why(&t->loaded->live, &err);
		pause_ns(t, rj_backoff_ns(tries++, FIRST_NS, MAX_NS));
	}
	if (rc) {
		rj_move_over(t->loaded, &err);
		rj_pipeline_fail(t->pipeline, &err);
	} else {
		rj_live_set_why(&t->loaded->live, NULL);
		rj_load_spare(t->loaded);
		rj_harden_writer(t->loaded->writer, t->loaded->ring);
		rj_pipeline_continue(
			t->pipeline, rj_log_writer_tail(t->loaded->writer));
		rj_log(RJ_LOG_NOTICE,
			"took over the journal of %s in %lld ms, epoch %llu",
			t->loaded->device,
			(long long)((rj_monotonic_ns() - begun) / MS),
			(unsigned long long)rj_log_writer_epoch(
				t->loaded->writer));
	}
	t->done = true;
	rj_supervisor_tell_modules(t->post);
	rj_supervisor_tell(t->post, RJ_WORD_SERVING);
	rj_front_release(t->front);
	if (write(t->event_fd, &one, sizeof(one)) == -1)
		return NULL; /* full: it is awake anyway */
	return NULL;
}

int rj_takeover_start(struct rj_takeover *t, struct rj_error *err)
{
	int e = rj_thread_start(&t->thread, take_over, t);

	if (e)
		return rj_fail_errno(err, e, "cannot start a thread");
	t->running = true;
	return 0;
}

void rj_takeover_cancel(struct rj_takeover *t)
{
	t->cancelled = true;
}

void rj_takeover_finish(struct rj_takeover *t)
{
	if (!t->running)
		return;
	pthread_join(t->thread, NULL);
	t->running = false;
}
