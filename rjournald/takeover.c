// SPDX-License-Identifier: GPL-2.0-or-later
#include "takeover.h"

#include <unistd.h>

#include "harden.h"
#include "keeper.h"
#include "resume.h"
#include "util/environ.h"
#include "util/log.h"
#include "util/thread.h"

#define MS	     1000000LL
#define FIRST_MS     50
#define MAX_MS	     2000
#define SLICE_MS     50
/* on_loss=error: how long a new worker looks for the store. */
#define ERROR_WAIT_NS (10000 * MS)

/* True: worth another try. */
static bool patient(const struct rj_takeover *t, int rc, int64_t begun)
{
	if (t->cancelled || (rc != -RJ_E_UNREACHABLE && rc != -RJ_E_BUSY &&
				    rc != -RJ_E_NOSPACE))
		return false;
	return t->loaded->facts.sbx.on_loss != RJ_LOSS_ERROR ||
	       rj_monotonic_ns() - begun < ERROR_WAIT_NS;
}

static void pause_ms(const struct rj_takeover *t, int ms)
{
	for (; ms > 0 && !t->cancelled; ms -= SLICE_MS)
		rj_sleep_ns(SLICE_MS * MS);
}

/* Become the log's writer. */
static int become_writer(struct rj_loaded *l, struct rj_error *err)
{
	const struct rj_kept *k = l->memory.kept;

	/* for good: whoever came after that worker has nothing to write */
	if (k->failed) {
		*err = k->failure;
		err->code = RJ_E_CANCELLED;
		return -RJ_E_CANCELLED;
	}
	return l->facts.sbx.fallback[0] ? rj_resume(l, err)
					: rj_load_claim_again(l, err);
}

static void *take_over(void *arg)
{
	struct rj_takeover *t = arg;
	int64_t begun = rj_monotonic_ns();
	int rc, ms = FIRST_MS;
	struct rj_error err;
	bool said = false;
	uint64_t one = 1;

	while ((rc = become_writer(t->loaded, &err)) != 0 &&
		patient(t, rc, begun)) {
		if (!said)
			rj_log(RJ_LOG_WARNING, "%s; waiting for it", err.msg);
		said = true;
		rj_live_set_why(&t->loaded->live, &err);
		pause_ms(t, ms);
		ms = ms * 2 < MAX_MS ? ms * 2 : MAX_MS;
	}
	if (rc) {
		rj_pipeline_fail(t->pipeline, &err);
	} else {
		rj_live_set_why(&t->loaded->live, NULL);
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
	rj_keeper_say(t->post, RJ_WORD_SERVING);
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
