// SPDX-License-Identifier: GPL-2.0-or-later
#include "pipeline.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "needed.h"
#include "pending.h"
#include "track.h"
#include "underway.h"
#include "util/environ.h"
#include "util/log.h"

#define MS               1000000LL
#define BACKOFF_FIRST_MS 50
#define BACKOFF_MAX_MS   2000
#define BACKOFF_SLICE_MS 50
/* When a commit came otherwise than foreseen: none for the next so many. */
#define FORESEE_AFTER 16

struct rj_pipeline {
	struct rj_ring *ring;
	uint32_t sb_block, ship_blocks, ahead_blocks;
	enum rj_on_loss on_loss;
	rj_rule_fn rule;
	struct rj_sink sink;
	uint64_t (*last)(void *arg);
	bool write_through, raw;
	struct rj_kept *kept; /* NULL: nothing outlives us */
	struct rj_track track;
	struct rj_pending pending;
	struct rj_underway *under_way; /* NULL: nothing is sent ahead */
	uint32_t away;                 /* blocks in there */
	bool rejoining; /* rj_pipeline_rejoin()'s segment is not acknowledged */
	bool partial; /* some pending write did not cover whole blocks */
	bool waits;   /* the commit rule lets all that is pending wait */
	uint32_t foreseen, distrust; /* rj_pipeline_foresee() */
	struct rj_seg_run *runs;
	struct rj_live *live, own_live;
	struct rj_error failure; /* why, once it has FAILED */
	atomic_bool failed;
	atomic_bool abandoned;
	/* what rj_pipeline_stat() shows */
	_Atomic uint64_t acked, oldest, segments, bytes, flushes, ordered;
	_Atomic uint64_t ship_ns, remote_tid;
	_Atomic int64_t remote_ns, put_since_ns;
	_Atomic uint32_t pending_shown;
};

/* From here on p->failure is what everybody gets. */
static void over(struct rj_pipeline *p)
{
	enum rj_code code = p->failure.code;

	p->failed = true;
	rj_live_event(p->live, code == RJ_E_FENCED      ? RJ_EVENT_FENCED
			       : code == RJ_E_CANCELLED ? RJ_EVENT_FORCE
							: RJ_EVENT_BROKEN);
}

static int fail_for_good(struct rj_pipeline *p, const struct rj_error *why)
{
	p->failure = *why;
	if (p->kept) {
		p->kept->failure = *why;
		p->kept->failed = why->code;
	}
	over(p);
	rj_log(RJ_LOG_ERROR, "%s; nothing is acknowledged any more", why->msg);
	return -(int)why->code;
}

static int failed(struct rj_pipeline *p, struct rj_error *err)
{
	if (err)
		*err = p->failure;
	return -(int)p->failure.code;
}

/* Sleep, but wake up when told to give up. */
static void pause_ms(const struct rj_pipeline *p, int ms)
{
	for (; ms > 0 && !p->abandoned; ms -= BACKOFF_SLICE_MS)
		rj_sleep_ns(BACKOFF_SLICE_MS * MS);
}

/* Another attempt may succeed: the store does not answer, or has no room now. */
static bool may_come_back(int rc)
{
	return rc == -RJ_E_UNREACHABLE || rc == -RJ_E_NOSPACE;
}

/*
 * The store did not take it. The very same bytes are tried until it does:
 * forever with RJ_LOSS_BLOCK (the kernel's requests queue up behind this one),
 * once with RJ_LOSS_ERROR.
 */
static int try_again(struct rj_pipeline *p, struct rj_error *err)
{
	int ms = BACKOFF_FIRST_MS, rc = -RJ_E_UNREACHABLE;

	if (p->on_loss == RJ_LOSS_ERROR)
		return p->sink.retry(p->sink.arg, err);
	rj_live_set_why(p->live, err);
	rj_live_event(p->live, RJ_EVENT_LOST_BLOCK);
	rj_log(RJ_LOG_WARNING, "%s; waiting for it", err->msg);
	while (may_come_back(rc)) {
		pause_ms(p, ms);
		if (p->abandoned)
			return rj_fail(err, RJ_E_CANCELLED,
				"told to stop while the store was lost");
		rc = p->sink.retry(p->sink.arg, err);
		rj_live_set_why(p->live, rc ? err : NULL);
		ms = ms * 2 < BACKOFF_MAX_MS ? ms * 2 : BACKOFF_MAX_MS;
	}
	return rc;
}

/* Is one of two stores lost, or both there again? */
static void note_alone(struct rj_pipeline *p)
{
	int state = p->live->state;
	bool alone = p->sink.alone && p->sink.alone(p->sink.arg);

	if (alone && state == RJ_STATE_ONLINE)
		rj_live_event(p->live, RJ_EVENT_LOST_ONE);
	else if (!alone && state == RJ_STATE_ALONE)
		rj_live_event(p->live, RJ_EVENT_CAUGHT_UP);
}

/* A NULL: what is pending in the sink. */
static int put(struct rj_pipeline *p, const struct rj_log_append *a,
	struct rj_error *err)
{
	int64_t start = rj_monotonic_ns();
	int rc;

	p->put_since_ns = start;
	rc = a ? p->sink.append(p->sink.arg, a, err)
	       : p->sink.retry(p->sink.arg, err);
	if (may_come_back(rc))
		rc = try_again(p, err);
	p->put_since_ns = 0;
	p->ship_ns += (uint64_t)(rj_monotonic_ns() - start);
	if (rc)
		return fail_for_good(p, err);
	if (p->live->state == RJ_STATE_WAITING ||
		p->live->state == RJ_STATE_DRAINING) {
		rj_live_event(p->live, RJ_EVENT_RETURNED);
		rj_log(RJ_LOG_NOTICE, "the store is back");
	}
	note_alone(p);
	return 0;
}

static void show_pending(struct rj_pipeline *p)
{
	p->pending_shown = p->pending.count + p->away;
}

/* A segment was acknowledged. */
static void account(struct rj_pipeline *p, const struct rj_log_append *a,
	uint32_t blocks, uint64_t sequence, uint64_t oldest)
{
	p->bytes += (uint64_t)blocks * p->ring->block_size;
	p->segments++;
	p->acked = sequence;
	p->oldest = oldest;
	if (a->body.tid_count && (p->live->state == RJ_STATE_ONLINE ||
					 p->live->state == RJ_STATE_ALONE)) {
		p->remote_tid = a->body.last_tid;
		p->remote_ns = rj_realtime_ns();
	}
	if (p->kept) {
		p->kept->acked = sequence;
		p->kept->oldest = oldest;
		p->kept->remote_tid = p->remote_tid;
		p->kept->remote_ns = p->remote_ns;
	}
}

static void nothing_pending(struct rj_pipeline *p)
{
	rj_pending_clear(&p->pending);
	p->waits = false;
	p->partial = false;
	show_pending(p);
}

/* The number that the log has come to. Of two stores a mark may have taken one
 * more than SEQUENCE. */
static uint64_t come_to(const struct rj_pipeline *p, uint64_t sequence)
{
	return p->last ? p->last(p->sink.arg) : sequence;
}

/* Account for what was under way and is there; with WAIT, for all of it. After
 * a failure, which put() has told everybody, there is nothing to account for. */
static void take_back(struct rj_pipeline *p, bool wait)
{
	const struct rj_underway_job *j;
	uint64_t sequence;

	while ((j = rj_underway_done(p->under_way, wait))) {
		p->away -= j->blocks;
		sequence = j->sequence;
		/* nobody else asks the log's writer now */
		if (rj_underway_count(p->under_way) == 1 && !j->rc)
			sequence = come_to(p, sequence);
		if (!j->rc)
			account(p, &j->a, j->blocks, sequence, p->oldest);
		rj_underway_taken(p->under_way);
		show_pending(p);
	}
}

/* Of one run, what was foreseen came exactly when the count is right. */
static void judge_foreseen(struct rj_pipeline *p)
{
	if (p->foreseen && p->foreseen != p->pending.count)
		p->distrust = FORESEE_AFTER;
	else if (p->distrust)
		p->distrust--;
	p->foreseen = 0;
}

/* Nothing was in it but its number. */
static void rejoined(struct rj_pipeline *p)
{
	p->rejoining = false;
	if (p->last)
		p->acked = p->last(p->sink.arg);
	if (p->kept)
		p->kept->acked = p->acked;
}

void rj_pipeline_rejoin(struct rj_pipeline *p)
{
	const struct rj_segbody geometry = {
		.block_size = p->ring->block_size,
		.journal_blocks = p->ring->blocks,
	};
	struct rj_error err;
	int rc;

	take_back(p, false);
	if (p->failed || p->abandoned || !p->sink.rejoin ||
		rj_underway_count(p->under_way))
		return;
	rc = p->sink.rejoin(p->sink.arg, &geometry, &err);
	p->rejoining = may_come_back(rc);
	if (p->rejoining)
		return;
	if (rc) {
		fail_for_good(p, &err);
		return;
	}
	rejoined(p);
	note_alone(p);
}

static struct rj_log_append draft(
	const struct rj_pipeline *p, const struct rj_seg_run *runs)
{
	return (struct rj_log_append){
		.body = {.block_size = p->ring->block_size,
			.journal_blocks = p->ring->blocks},
		.runs = runs,
		.ring = p->ring->data,
	};
}

/* What put() is for the thread of what is under way. */
static int put_away(void *arg, const struct rj_log_append *a)
{
	struct rj_pipeline *p = arg;
	struct rj_error unseen;

	return p->failed ? failed(p, &unseen) : put(p, a, &unseen);
}

/*
 * All that is pending may wait, and it is enough for a segment of its own: it
 * goes to the store while the kernel writes what comes next. Nothing of it is
 * written again before it is there, so what the ring says of it stays true: a
 * worker that takes over finds it by its number, which is above what was
 * acknowledged.
 */
static void send_ahead(struct rj_pipeline *p)
{
	struct rj_underway_job *j;

	take_back(p, false);
	j = rj_underway_room(p->under_way);
	if (!j || p->failed || p->abandoned || p->rejoining)
		return;
	j->a = draft(p, j->runs);
	j->a.run_count = rj_pending_runs(&p->pending, j->runs, p->ring->blocks);
	rj_needed_tids(p->ring, p->sb_block, &j->a);
	judge_foreseen(p);
	j->blocks = p->pending.count;
	j->sequence = p->acked + rj_underway_count(p->under_way) + 1;
	j->a.sequence = j->sequence;
	j->sealed = false;
	rj_needed_number(p->ring, &j->a, j->sequence);
	atomic_thread_fence(memory_order_seq_cst); /* kept.h: first the number */
	p->away += j->blocks;
	nothing_pending(p);
	rj_underway_give(p->under_way);
}

/* One is in its put, another waits for that: seal it meanwhile. */
static void seal_second(struct rj_pipeline *p)
{
	struct rj_underway_job *j = rj_underway_second(p->under_way);

	if (j && !j->sealed && !p->failed && p->sink.seal_next)
		j->sealed = p->sink.seal_next(p->sink.arg, &j->a);
}

static int ship(struct rj_pipeline *p, struct rj_error *err)
{
	struct rj_log_append a = draft(p, p->runs);
	uint64_t sequence, oldest = p->oldest;
	struct rj_error e;
	bool superblock, refresh;
	int rc;

	if (p->abandoned && !p->failed) {
		rj_fail(&e, RJ_E_CANCELLED, "told to stop at once");
		fail_for_good(p, &e);
	}
	superblock = !p->raw && rj_pending_test(&p->pending, p->sb_block);
	if (rj_underway_count(p->under_way) && p->pending.count && !superblock)
		send_ahead(p); /* it is sealed while the others are put */
	seal_second(p);
	take_back(p, true);
	if (p->failed)
		return failed(p, err);
	if (!p->pending.count)
		return 0;
	if (p->rejoining) {
		rc = put(p, NULL, &e);
		if (rc)
			return failed(p, err);
		rejoined(p);
	}
	sequence = p->acked + 1;
	if (superblock)
		rj_needed_with_superblock(p->ring, &p->track, &p->pending);
	refresh = p->raw && rj_needed_refresh(p->ring, &p->pending, sequence);
	a.run_count = rj_pending_runs(&p->pending, p->runs, p->ring->blocks);
	if (!p->raw)
		rj_needed_tids(p->ring, p->sb_block, &a);
	judge_foreseen(p);
	rj_needed_number(p->ring, &a, sequence);
	if (superblock) {
		oldest = rj_needed_oldest(
			p->ring, &p->track, p->oldest, sequence);
		a.oldest = oldest;
		a.base = oldest == sequence;
	}
	if (refresh)
		a.oldest = oldest = rj_needed_oldest_of_all(p->ring, sequence);
	if (a.base)
		rj_needed_from(p->ring, sequence);
	rc = put(p, &a, &e);
	if (rc) {
		if (err)
			*err = e;
		return rc;
	}
	account(p, &a, p->pending.count, come_to(p, sequence), oldest);
	nothing_pending(p);
	return 0;
}

/* May all that is pending wait? */
static bool unfinished(struct rj_pipeline *p)
{
	struct rj_rule_in in = {
		.ring = p->ring,
		.track = &p->track,
		.partial = p->partial,
		.runs = p->runs,
	};

	in.run_count = rj_pending_runs(&p->pending, p->runs, p->ring->blocks);
	p->waits = p->pending.count && !p->raw && p->rule(&in);
	return p->waits;
}

/*
 * What waits is a transaction without its commit block, and the kernel flushes
 * the volume now. The commit block will be the next block of the log: all that
 * comes before it can be hashed meanwhile. (Where the log goes round the block
 * is elsewhere: once in a lap.) A transaction that comes in several writes is
 * foreseen once, wrongly, and then not for some time.
 */
void rj_pipeline_foresee(struct rj_pipeline *p)
{
	struct rj_log_append a = draft(p, p->runs);

	seal_second(p);
	if (!p->sink.begin || !p->waits || p->failed || p->foreseen ||
		p->distrust || !p->pending.count ||
		rj_underway_count(p->under_way) ||
		p->pending.count >= RJ_PIPELINE_FORESEE_BYTES / p->ring->block_size ||
		p->live->state != RJ_STATE_ONLINE ||
		rj_pending_runs(&p->pending, p->runs, p->ring->blocks) != 1 ||
		p->runs[0].block + p->runs[0].count >= p->track.last)
		return;
	a.run_count = 1;
	rj_needed_tids(p->ring, p->sb_block, &a);
	p->runs[0].count++;
	p->foreseen = p->pending.count + 1;
	p->sink.begin(p->sink.arg, &a);
}

int rj_pipeline_write(struct rj_pipeline *p, const void *data, size_t len,
	uint64_t off, struct rj_error *err)
{
	uint32_t size = p->ring->block_size, block, end;
	uint64_t bytes = (uint64_t)p->ring->blocks * size;

	if (p->failed)
		return failed(p, err);
	if (off > bytes || len > bytes - off || len > RJ_PIPELINE_WRITE_BYTES)
		return rj_fail(err, RJ_E_INVAL,
			"a write of %zu bytes at byte %llu does not fit in a "
			"journal of %llu bytes",
			len, (unsigned long long)off,
			(unsigned long long)bytes);
	if (!len)
		return 0;
	block = (uint32_t)(off / size);
	end = (uint32_t)((off + len + size - 1) / size);
	if (rj_underway_holds(p->under_way, block, end - block)) {
		take_back(p, true);
		if (p->failed)
			return failed(p, err);
	}
	p->waits = false;
	if (p->kept)
		rj_kept_begin(p->kept, off, len);
	memcpy(p->ring->data + off, data, len);
	if (off % size || len % size)
		p->partial = true;
	rj_pending_mark(&p->pending, block, end - block);
	show_pending(p);
	if (!p->raw)
		rj_track_written(&p->track, p->ring, block, end - block);
	if (p->kept)
		rj_kept_end(p->kept, &p->track);
	if (!p->write_through)
		return p->pending.count < p->ship_blocks ? 0 : ship(p, err);
	if (!unfinished(p))
		return ship(p, err);
	if (p->under_way && p->pending.count >= p->ahead_blocks)
		send_ahead(p);
	if (p->pending.count >= p->ship_blocks)
		return ship(p, err);
	p->ordered++;
	return 0;
}

int rj_pipeline_flush(struct rj_pipeline *p, struct rj_error *err)
{
	p->flushes++;
	if (p->failed)
		return failed(p, err);
	if (unfinished(p)) {
		p->ordered++;
		return 0;
	}
	return ship(p, err);
}

int rj_pipeline_drain(struct rj_pipeline *p, struct rj_error *err)
{
	return ship(p, err);
}

void rj_pipeline_abandon(struct rj_pipeline *p)
{
	p->abandoned = true;
}

void rj_pipeline_stat(const struct rj_pipeline *p, struct rj_pipeline_stat *out)
{
	out->acked = p->acked;
	out->oldest = p->oldest;
	out->pending = p->pending_shown;
	out->segments = p->segments;
	out->bytes = p->bytes;
	out->flushes = p->flushes;
	out->flushes_ordered = p->ordered;
	out->ship_ns = p->ship_ns;
	out->remote_tid = p->remote_tid;
	out->remote_ns = p->remote_ns;
	out->put_since_ns = p->put_since_ns;
	/* Last: who sees "online" and trims below OLDEST must know that the store
	 * had all of it by then. */
	out->since_ns = p->live->since_ns;
	out->state = (enum rj_state)p->live->state;
}

const char *rj_pipeline_failure(const struct rj_pipeline *p)
{
	/* written before that, and never again */
	return p->failed ? p->failure.msg : NULL;
}

/* What the worker before us left. */
static void resume(struct rj_pipeline *p)
{
	struct rj_kept *k = p->kept;

	p->track = k->track[k->track_turn];
	p->acked = k->acked;
	p->oldest = k->oldest;
	p->remote_tid = k->remote_tid;
	p->remote_ns = k->remote_ns;
	p->pending_shown = p->pending.count;
	/* not known: so nothing of it waits longer than the next write */
	p->partial = p->pending.count != 0;
	rj_live_event(p->live, RJ_EVENT_LOST_BLOCK);
	if (k->failed) {
		p->failure = k->failure;
		over(p);
	}
}

static void begin(struct rj_pipeline *p, const struct rj_log_tail *tail)
{
	p->acked = tail->sequence;
	p->oldest = tail->oldest;
	if (!p->kept)
		return;
	p->kept->acked = tail->sequence;
	p->kept->oldest = tail->oldest;
}

void rj_pipeline_continue(struct rj_pipeline *p, const struct rj_log_tail *tail)
{
	begin(p, tail);
	/* or else it goes on in the fallback file */
	if (p->live->state == RJ_STATE_WAITING)
		rj_live_event(p->live, RJ_EVENT_RETURNED);
	note_alone(p);
}

void rj_pipeline_fail(struct rj_pipeline *p, const struct rj_error *why)
{
	if (!p->failed)
		fail_for_good(p, why);
}

static int start_under_way(struct rj_pipeline *p,
	const struct rj_pipeline_opts *opts, struct rj_error *err)
{
	const struct rj_underway_opts o = {
		.depth = opts->under_way,
		.blocks = p->ring->blocks,
		.thread = opts->thread,
		.put = put_away,
		.arg = p,
	};

	return rj_underway_new(&o, &p->under_way, err);
}

bool rj_pipeline_step(struct rj_pipeline *p)
{
	return rj_underway_step(p->under_way);
}

int rj_pipeline_new(const struct rj_pipeline_opts *opts,
	struct rj_pipeline **out, struct rj_error *err)
{
	struct rj_ring *ring = opts->ring;
	struct rj_pipeline *p = calloc(1, sizeof(*p));
	int rc = 0;

	*out = NULL;
	if (!p)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	p->ring = ring;
	p->sb_block = opts->sb_block;
	p->on_loss = opts->on_loss;
	p->rule = opts->rule;
	p->write_through = opts->write_through;
	p->raw = opts->raw;
	p->sink = opts->sink;
	p->last = opts->last;
	p->kept = opts->kept ? opts->kept->kept : NULL;
	/* a small journal: ship before a batch could go round it */
	p->ship_blocks = RJ_PIPELINE_SHIP_BYTES / ring->block_size;
	if (p->ship_blocks > ring->blocks / 4 + 1)
		p->ship_blocks = ring->blocks / 4 + 1;
	p->ahead_blocks = RJ_PIPELINE_AHEAD_BYTES / ring->block_size;
	if (p->ahead_blocks > ring->blocks / 16 + 1)
		p->ahead_blocks = ring->blocks / 16 + 1;
	p->live = opts->live ? opts->live : &p->own_live;
	if (!opts->live)
		rj_live_init(p->live);
	rj_track_init(&p->track, ring, opts->sb_block);
	if (opts->kept)
		rj_pending_init_over(
			&p->pending, ring->blocks, opts->kept->bits);
	else
		rc = rj_pending_init(&p->pending, ring->blocks, err);
	if (opts->resumed) {
		resume(p);
	} else {
		begin(p, &opts->tail);
		note_alone(p);
	}
	if (p->kept && !opts->resumed)
		rj_kept_end(p->kept, &p->track);
	p->runs = calloc(ring->blocks, sizeof(*p->runs));
	if (!rc && !p->runs)
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	if (!rc && opts->under_way && !p->raw)
		rc = start_under_way(p, opts, err);
	if (rc) {
		rj_pipeline_free(p);
		return rc;
	}
	*out = p;
	return 0;
}

void rj_pipeline_free(struct rj_pipeline *p)
{
	if (!p)
		return;
	rj_underway_free(p->under_way);
	rj_pending_release(&p->pending);
	free(p->runs);
	free(p);
}
