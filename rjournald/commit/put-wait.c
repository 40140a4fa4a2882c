// SPDX-License-Identifier: GPL-2.0-or-later
/* Put one segment, with the patience that on_loss asks for, and account for it. The
 * kernel's fsync waits here for the store. */
#include <string.h>

#include "pipeline-priv.h"
#include "log/retry.h"
#include "util/environ.h"
#include "util/log.h"

#define MS               1000000LL
/* A put of at most SMALL_BLOCKS blocks shows what any put takes. */
#define SMALL_BLOCKS     16
#define BACKOFF_FIRST_NS (50 * MS)
#define BACKOFF_MAX_NS   (2000 * MS)
#define BACKOFF_SLICE_NS (50 * MS)

void rj_pl_over(struct rj_pipeline *p)
{
	enum rj_code code = p->failure.code;

	p->failed = true;
	rj_live_event(p->live, code == RJ_E_FENCED      ? RJ_EVENT_FENCED
			       : code == RJ_E_CANCELLED ? RJ_EVENT_FORCE
							: RJ_EVENT_BROKEN);
}

int rj_pl_fail(struct rj_pipeline *p, const struct rj_error *why)
{
	p->failure = *why;
	if (p->shm) {
		rj_shm_save_error(&p->shm->failure, why);
		p->shm->failed = why->code;
	}
	rj_pl_over(p);
	rj_log(RJ_LOG_ERROR, "%s; nothing is acknowledged any more", why->msg);
	return -(int)why->code;
}

int rj_pl_failed(struct rj_pipeline *p, struct rj_error *err)
{
	if (err)
		*err = p->failure;
	return -(int)p->failure.code;
}

/* Sleep, but wake up when told to give up. */
static void pause_ns(const struct rj_pipeline *p, int64_t ns)
{
	for (; ns > 0 && !p->abandoned; ns -= BACKOFF_SLICE_NS)
		rj_sleep_ns(ns < BACKOFF_SLICE_NS ? ns : BACKOFF_SLICE_NS);
}

/* Log what the volume waits for, each time that it changes: as an error unless the store
 * is only away, as an administrator has to act then. */
static void say_waiting(const struct rj_error *err, const char **said)
{
	const char *cause = rj_error_cause(err);

	if (*said && !strcmp(*said, cause))
		return;
	*said = cause;
	rj_log(err->code == RJ_E_UNREACHABLE && !err->cause ? RJ_LOG_WARNING
							    : RJ_LOG_ERROR,
		"%s; waiting for it (%s)", err->msg, cause);
}

/*
 * Put the very same bytes again until the store takes them:
 * forever with RJ_LOSS_BLOCK (the kernel's requests queue up behind this one),
 * once with RJ_LOSS_ERROR.
 */
static int try_again(struct rj_pipeline *p, struct rj_error *err)
{
	unsigned tries = 0;
	int rc;
	const char *said = NULL;

	if (p->on_loss == RJ_LOSS_ERROR)
		return p->sink.retry(p->sink.arg, err);
	rj_live_set_why(p->live, err);
	rj_live_event(p->live, RJ_EVENT_LOST_BLOCK);
	do {
		say_waiting(err, &said);
		pause_ns(p, rj_backoff_ns(tries++, BACKOFF_FIRST_NS,
				    BACKOFF_MAX_NS));
		if (p->abandoned)
			return rj_fail(err, RJ_E_CANCELLED,
				"told to stop while the store was lost");
		rc = p->sink.retry(p->sink.arg, err);
		rj_live_set_why(p->live, rc ? err : NULL);
	} while (rc && !rj_error_final(err));
	return rc;
}

/* TOOK (nanoseconds) for A. */
static void note_small(
	struct rj_pipeline *p, const struct rj_log_append *a, uint64_t took)
{
	uint64_t was = p->small_put_ns;

	if (a->run_count == 1 && a->runs[0].count <= SMALL_BLOCKS)
		p->small_put_ns = was ? was - was / 8 + took / 8 : took;
}

int rj_pl_put(struct rj_pipeline *p, const struct rj_log_append *a,
	struct rj_error *err)
{
	int64_t start = rj_monotonic_ns();
	int rc;

	p->put_since_ns = start;
	rc = p->sink.append(p->sink.arg, a, err);
	if (rc && !rj_error_final(err))
		rc = try_again(p, err);
	p->put_since_ns = 0;
	start = rj_monotonic_ns() - start;
	p->ship_ns += (uint64_t)start;
	note_small(p, a, (uint64_t)start);
	if (rc)
		return rj_pl_fail(p, err);
	if (p->live->state == RJ_STATE_WAITING) {
		rj_live_event(p->live, RJ_EVENT_RETURNED);
		rj_log(RJ_LOG_NOTICE, "the store is back");
	}
	return 0;
}

void rj_pl_show_pending(struct rj_pipeline *p)
{
	p->pending_shown = p->pending.count + p->away;
}

void rj_pl_remote(const struct rj_pipeline *p, uint64_t *tid, int64_t *ns)
{
	int64_t online = p->live->online_ns;
	bool brought = online != p->online_ns && p->last_tid != p->remote_tid;

	*tid = brought ? p->last_tid : p->remote_tid;
	*ns = brought ? online : p->remote_ns;
}

void rj_pl_account(struct rj_pipeline *p, const struct rj_log_append *a,
	uint32_t blocks, uint64_t sequence, uint64_t oldest)
{
	uint64_t tid;
	int64_t ns;

	p->bytes += (uint64_t)blocks * p->ring->block_size;
	p->segments++;
	p->acked = sequence;
	p->oldest = oldest;
	rj_pl_remote(p, &tid, &ns);
	p->online_ns = p->live->online_ns;
	if (a->body.tid_count)
		p->last_tid = a->body.last_tid;
	if (a->body.tid_count && p->live->state == RJ_STATE_ONLINE) {
		tid = a->body.last_tid;
		ns = rj_realtime_ns();
	}
	p->remote_tid = tid;
	p->remote_ns = ns;
	if (p->shm) {
		p->shm->acked = sequence;
		p->shm->oldest = oldest;
		p->shm->remote_tid = p->remote_tid;
		p->shm->remote_ns = p->remote_ns;
	}
}

void rj_pl_nothing_pending(struct rj_pipeline *p)
{
	rj_pending_clear(&p->pending);
	p->partial = false;
	p->left = false;
	rj_pl_show_pending(p);
}

struct rj_log_append rj_pl_gather(
	struct rj_pipeline *p, struct rj_seg_run *runs, uint64_t sequence)
{
	struct rj_log_append a = {
		.body = {.block_size = p->ring->block_size,
			.journal_blocks = p->ring->blocks},
		.runs = runs,
		.ring = p->ring->data,
		.marked = p->marked,
		.in_place = true,
	};

	a.run_count = rj_pending_runs(&p->pending, runs, p->ring->blocks);
	if (!p->raw)
		rj_needed_tids(p->ring, p->sb_block, &a);
	rj_needed_number(p->ring, &a, sequence);
	return a;
}
