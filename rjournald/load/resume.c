// SPDX-License-Identifier: GPL-2.0-or-later
/* Go on as the writer of the worker that died, with the fallback file. */
#include "resume.h"

#include <string.h>

#include "load-fallback.h"
#include "log/verify.h"
#include "place.h"
#include "rjournald/handover/saved-writer.h"
#include "util/log.h"

/* The file's last record is the last segment that was acknowledged. */
static int check_last(const struct rj_fallback *s, const struct rj_log_id *id,
	const struct rj_log_tail *tail, struct rj_error *err)
{
	const char *name = rj_fallback_name(s);
	struct rj_segment seg = {0};
	struct rj_fallback_place at;
	struct rj_buf bytes = {0};
	struct rj_verify v;
	int rc;

	rj_fallback_find(s, tail->sequence, &at);
	rj_verify_start(&v, name, id, tail->sequence);
	rc = rj_fallback_fetch(s, &at, &bytes, err);
	if (!rc)
		rc = rj_verify_next(&v, bytes.data, bytes.len, &seg, err);
	rj_segment_release(&seg);
	rj_buf_free(&bytes);
	if (!rc && memcmp(v.tail.chain, tail->chain, sizeof(tail->chain)))
		rc = rj_fail(err, RJ_E_CORRUPT,
			"%s: segment %llu is another one than was acknowledged",
			name, (unsigned long long)tail->sequence);
	return rc;
}

/* Nothing in the file is needed any more. Should it not say so: that is tried again
 * (rj_fallback_sink_note_tail()). */
static void make_idle(struct rj_fallback *s)
{
	struct rj_error err;

	if (rj_fallback_idle(s, &err))
		rj_log(RJ_LOG_ERROR, "%s", err.msg);
}

/*
 * The fallback file against what the worker knew of it. *HAS_PENDING: the
 * segment under way is its last record.
 */
static int check_file(const struct rj_worker_shm_log *k, struct rj_fallback *s,
	const struct rj_log_id *id, const struct rj_log_writer_state *at,
	bool *has_pending, struct rj_error *err)
{
	uint64_t in_file = k->in_file, shipped = k->shipped;
	struct rj_fallback_facts f;
	bool lacking;

	rj_fallback_facts(s, &f);
	if (f.state == RJ_FALLBACK_GIVEN_UP ||
		(f.state == RJ_FALLBACK_LOCAL &&
			(f.epoch != at->epoch || f.fence != k->fence)))
		return rj_fail_cause(
			rj_fail(err, RJ_E_REFUSED,
				"%s: it was given up, or another writer has used it, while no worker ran",
				rj_fallback_name(s)),
			RJ_CAUSE_TAKEN, err);
	rj_fallback_shipped(s, shipped);
	rj_fallback_facts(s, &f);
	lacking = f.state == RJ_FALLBACK_LOCAL && f.last >= f.next;
	if (in_file > shipped && (!lacking || f.last < in_file))
		return rj_fail(err, RJ_E_GAP,
			"%s: segments up to %llu were acknowledged from it, and are not there any more",
			rj_fallback_name(s), (unsigned long long)in_file);
	*has_pending = lacking && at->pending &&
		       f.last == at->next.sequence;
	if (!lacking)
		make_idle(s);
	if (!lacking || *has_pending)
		return 0;
	if (f.last != at->tail.sequence)
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: it ends with segment %llu, and the last one acknowledged was %llu",
			rj_fallback_name(s), (unsigned long long)f.last,
			(unsigned long long)at->tail.sequence);
	return check_last(s, id, &at->tail, err);
}

/* The worker died between keeping a segment and knowing it. */
static int take_pending(struct rj_worker_map *memory, struct rj_fallback *s,
	struct rj_log_writer *w, struct rj_error *err)
{
	struct rj_log_sealed seg;
	int rc;

	rj_log_sealed(w, &seg);
	rc = rj_fallback_append_again(s, &seg, err);
	if (rc)
		return rc;
	rj_saved_writer_in_file(memory, seg.at.sequence);
	rj_log_mark_stored(w);
	rj_saved_writer_note(memory, w);
	return 0;
}

int rj_resume_writer(struct rj_worker_map *memory, struct rj_fallback *s,
	struct rj_store *store, const struct rj_log_id *id,
	struct rj_log_writer **out, struct rj_error *err)
{
	struct rj_log_writer_state at = {0};
	struct rj_log_writer *w = NULL;
	const uint8_t *pending = NULL;
	bool has_pending = false;
	size_t len = 0;
	int rc;

	*out = NULL;
	if (!rj_saved_writer_read(memory, &at, &pending, &len))
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: the worker before this one was no writer yet",
			store->url);
	rc = check_file(&memory->shm->log, s, id, &at, &has_pending, err);
	if (!rc)
		rc = rj_log_writer_restore(
			store, id, &at, pending, len, &w, err);
	if (!rc && has_pending)
		rc = take_pending(memory, s, w, err);
	if (rc) {
		rj_log_writer_free(w);
		return rc;
	}
	*out = w;
	return 0;
}

/* The log was moved: it needs nothing of what the fallback file has. */
static int begin_anew(struct rj_loaded *l, struct rj_error *err)
{
	struct rj_worker_shm_log *k = &l->memory.shm->log;
	int rc = rj_load_claim_again(l, err);

	l->facts.sbx.fallback_empty = true;
	if (!rc)
		rc = rj_load_fallback_file(l, err);
	if (!rc)
		rc = rj_fallback_idle(l->fallback.log, err);
	if (rc)
		return rc;
	k->shipped = k->in_file;
	k->turn = 0;
	return 0;
}

/* Is the writer that was saved one of the log as it is since it was moved? */
static bool moved_since(const struct rj_loaded *l)
{
	struct rj_log_writer_state at;
	const uint8_t *pending;
	struct rj_place p;
	size_t len;

	return rj_place_get(&l->dir, &p) && p.base &&
	       (!rj_saved_writer_read(&l->memory, &at, &pending, &len) || at.epoch <= p.epoch);
}

static int go_on(struct rj_loaded *l, struct rj_error *err)
{
	const struct rj_worker_shm_log *k = &l->memory.shm->log;
	int rc = rj_load_store_again(l, err);

	if (rc)
		return rc;
	rj_load_watch(l, l->store);
	rj_load_log_id(l, &l->id);
	/* only a file that nothing is in may be missing */
	l->facts.sbx.fallback_empty = k->in_file <= k->shipped;
	rc = rj_load_fallback_file(l, err);
	if (!rc)
		rc = rj_resume_writer(&l->memory, l->fallback.log, l->store,
			&l->id, &l->writer, err);
	return rc ? rc
		  : rj_store_adopt(l->store, l->id.journal_uuid,
			    rj_log_writer_epoch(l->writer), k->fence, err);
}

static int prepare(struct rj_loaded *l, struct rj_error *err)
{
	int rc;

	rc = moved_since(l) ? begin_anew(l, err) : go_on(l, err);
	if (!rc)
		rc = rj_load_fallback_serve(
			l, err); /* one that was made again */
	return rc ? rc : rj_load_fallback_start(l, err);
}

int rj_resume(struct rj_loaded *l, struct rj_error *err)
{
	int rc;

	if (!l->fallback_sink) {
		rc = prepare(l, err);
		if (rc) {
			rj_load_fallback_close(l);
			rj_log_writer_free(l->writer);
			l->writer = NULL;
			return rc;
		}
	}
	return rj_fallback_sink_retry(l->fallback_sink, err);
}
