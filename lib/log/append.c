// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>
#include <string.h>

#include "log/listing.h"
#include "log/verify.h"
#include "log/writer.h"
#include "util/environ.h"

int rj_writer_seal(struct rj_log_writer *w, struct rj_seg_draft *draft,
	struct rj_error *err)
{
	struct rj_seghdr *h = &draft->header;

	h->sequence = w->tail.sequence + 1;
	h->epoch = w->epoch;
	memcpy(h->volume_uuid, w->id.volume_uuid, sizeof(h->volume_uuid));
	memcpy(h->journal_uuid, w->id.journal_uuid, sizeof(h->journal_uuid));
	memcpy(h->nonce, w->nonce, sizeof(h->nonce));
	if (!(h->flags & RJ_SEG_F_BREAK))
		memcpy(h->prev_chain, w->tail.chain, sizeof(h->prev_chain));
	if ((h->flags & (RJ_SEG_F_BASE | RJ_SEG_F_BREAK)) || !h->oldest)
		h->oldest = h->sequence;
	h->time_ns = (uint64_t)rj_realtime_ns();
	draft->key = w->id.key;
	draft->compress = w->id.compress;
	w->next.sequence = h->sequence;
	w->next.epoch = h->epoch;
	w->next.oldest = h->oldest;
	return rj_segment_seal(draft, &w->out, w->next.chain, err);
}

/* The number is taken: by our own bytes (an answer was lost), or by others'? */
static int read_back(
	struct rj_log_writer *w, const struct rj_key *key, struct rj_error *err)
{
	int rc;

	w->back.len = 0;
	rc = rj_store_get(w->store, key, RJ_SEG_MAX_BYTES, &w->back, err);
	if (rc == -RJ_E_NOTFOUND)
		return rj_fail(err, RJ_E_PROTOCOL,
			"%s: segment %llu: the store says that it exists, and "
			"then that it does not",
			w->store->url, (unsigned long long)key->number);
	if (rc)
		return rc;
	if (w->back.len == w->out.len &&
		!memcmp(w->back.data, w->out.data, w->out.len))
		return 0;
	return rj_fail(err, RJ_E_EXISTS, "another segment has that number");
}

int rj_writer_put(struct rj_log_writer *w, struct rj_error *err)
{
	struct rj_key key = rj_log_key(&w->id, RJ_KEY_LOG, w->next.sequence);
	int rc;

	rc = rj_store_put_new(w->store, &key, w->out.data, w->out.len, err);
	if (rc == -RJ_E_EXISTS)
		rc = read_back(w, &key, err);
	if (rc && rc != -RJ_E_EXISTS)
		rj_log_fail_store(w->store, "cannot append segment",
			w->next.sequence, err);
	if (!rc) {
		w->tail = w->next;
		w->pending = false;
	}
	return rc;
}

/* Another's bytes stand where ours should: whose? This writer is finished. */
static int taken_over(struct rj_log_writer *w, struct rj_error *err)
{
	struct rj_segment seg = {0};
	struct rj_verify v;
	int rc;

	rj_verify_start(&v, w->store->url, &w->id, w->next.sequence);
	rc = rj_verify_next(&v, w->back.data, w->back.len, &seg, err);
	if (!rc && seg.header.epoch > w->epoch)
		rc = rj_fail(err, RJ_E_FENCED,
			"%s: segment %llu: another writer took over with epoch "
			"%llu (ours was %llu)",
			w->store->url, (unsigned long long)w->next.sequence,
			(unsigned long long)seg.header.epoch,
			(unsigned long long)w->epoch);
	else if (!rc)
		rc = rj_fail(err, RJ_E_FENCED,
			"%s: segment %llu: epoch %llu stands where epoch %llu "
			"was to write: this log has two writers",
			w->store->url, (unsigned long long)w->next.sequence,
			(unsigned long long)seg.header.epoch,
			(unsigned long long)w->epoch);
	rj_segment_release(&seg);
	return rc;
}

static int send_pending(struct rj_log_writer *w, struct rj_error *err)
{
	struct rj_error why = {0};
	bool over;
	int rc;

	rc = rj_writer_put(w, &why);
	/* in mode B it is the store that says so */
	over = rc == -RJ_E_EXISTS || rc == -RJ_E_FENCED;
	if (rc == -RJ_E_EXISTS)
		rc = taken_over(w, &why);
	if (over) {
		w->dead = rc;
		w->dead_why = why;
		w->pending = false;
	}
	if (!rc && w->must_base) { /* the base that was asked for */
		w->must_base = false;
		w->floor = w->tail.sequence;
	}
	if (rc && err)
		*err = why;
	return rc;
}

static int still_dead(const struct rj_log_writer *w, struct rj_error *err)
{
	if (err)
		*err = w->dead_why;
	return w->dead;
}

int rj_log_append(struct rj_log_writer *w, const struct rj_log_append *a,
	struct rj_error *err)
{
	struct rj_seg_draft draft = {
		.header = {.kind = RJ_SEG_DATA},
		.body = a->body,
		.runs = a->runs,
		.run_count = a->run_count,
		.ring = a->ring,
	};
	int rc;

	if (w->dead)
		return still_dead(w, err);
	if (w->pending)
		return rj_fail(err, RJ_E_INVAL,
			"segment %llu is not acknowledged yet: nothing can be "
			"appended behind it",
			(unsigned long long)w->next.sequence);
	if (w->must_base && !a->base)
		return rj_fail(err, RJ_E_INVAL,
			"segment %llu must be a base: the log was broken off "
			"before it",
			(unsigned long long)w->tail.sequence + 1);
	if (a->base)
		draft.header.flags |= RJ_SEG_F_BASE;
	if (a->recovered)
		draft.header.flags |= RJ_SEG_F_RECOVERED;
	draft.header.oldest = a->oldest ? a->oldest : w->tail.oldest;
	if (draft.header.oldest < w->floor)
		draft.header.oldest = w->floor;
	rc = rj_writer_seal(w, &draft, err);
	if (rc)
		return rc;
	w->pending = true;
	return send_pending(w, err);
}

int rj_log_retry(struct rj_log_writer *w, struct rj_error *err)
{
	if (w->dead)
		return still_dead(w, err);
	if (!w->pending)
		return 0;
	return send_pending(w, err);
}

bool rj_log_pending(const struct rj_log_writer *w)
{
	return w->pending;
}

const struct rj_log_tail *rj_log_writer_tail(const struct rj_log_writer *w)
{
	return &w->tail;
}

uint64_t rj_log_writer_epoch(const struct rj_log_writer *w)
{
	return w->epoch;
}

void rj_log_writer_free(struct rj_log_writer *w)
{
	if (!w)
		return;
	rj_buf_free(&w->out);
	rj_buf_free(&w->back);
	free(w);
}
