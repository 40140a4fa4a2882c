// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>
#include <string.h>

#include "log/writer.h"
#include "util/environ.h"

/* A segment that was begun so long ago gets a time of its own. */
#define BEGUN_MAX_NS 1000000000ULL
/* Of a segment beside its blocks: header, body head, and some 4,000 runs. */
#define OVERHEAD_BYTES 32768u

/* All that the writer knows of the header behind BEHIND, but the time. */
static void fill_header(struct rj_log_writer *w,
	const struct rj_log_tail *behind, struct rj_seg_draft *draft)
{
	struct rj_seghdr *h = &draft->header;
	bool due;

	h->flags |= rj_store_flags(w->store, &due);
	h->sequence = behind->sequence + 1;
	h->epoch = w->epoch;
	memcpy(h->volume_uuid, w->id.volume_uuid, sizeof(h->volume_uuid));
	memcpy(h->journal_uuid, w->id.journal_uuid, sizeof(h->journal_uuid));
	memcpy(h->nonce, w->nonce, sizeof(h->nonce));
	if (!(h->flags & RJ_SEG_F_BREAK))
		memcpy(h->prev_chain, behind->chain, sizeof(h->prev_chain));
	if ((h->flags & (RJ_SEG_F_BASE | RJ_SEG_F_BREAK)) || !h->oldest)
		h->oldest = h->sequence;
	draft->key = w->id.key;
	draft->compress = w->id.compress;
}

int rj_writer_seal_behind(struct rj_log_writer *w,
	const struct rj_log_tail *behind, struct rj_seg_draft *draft,
	struct rj_buf *out, struct rj_log_tail *at, struct rj_error *err)
{
	const struct rj_seghdr *h = &draft->header;

	fill_header(w, behind, draft);
	at->sequence = h->sequence;
	at->epoch = h->epoch;
	at->oldest = h->oldest;
	return rj_segment_seal(draft, out, at->chain, err);
}

int rj_writer_seal(struct rj_log_writer *w, struct rj_seg_draft *draft,
	struct rj_error *err)
{
	struct rj_seghdr *h = &draft->header;
	int rc;

	h->time_ns = (uint64_t)rj_realtime_ns();
	if (w->begun.begun && h->time_ns - w->begun_ns < BEGUN_MAX_NS) {
		h->time_ns = w->begun_ns;
		draft->begun = &w->begun;
	}
	rc = rj_writer_seal_behind(w, &w->tail, draft, &w->out, &w->next, err);
	w->begun.begun = false;
	return rc;
}

int rj_writer_put(struct rj_log_writer *w, struct rj_error *err)
{
	int rc = rj_sealed_put(w->store, &w->id, w->next.sequence, w->out.data,
		w->out.len, &w->back, err);

	if (!rc)
		rj_log_kept(w);
	return rc;
}

/* A segment of no blocks, for what its header says. */
static int seal_empty(struct rj_log_writer *w, struct rj_error *err)
{
	struct rj_seg_draft draft = {.header = {.kind = RJ_SEG_DATA,
					     .oldest = w->tail.oldest},
		.body = w->body};
	int rc = rj_writer_seal(w, &draft, err);

	rj_writer_set_pending(w, !rc);
	return rc;
}

/*
 * Of two stores one is lost: what the other holds must say so before it is
 * acknowledged. The mark becomes the pending segment.
 */
static int seal_mark(struct rj_log_writer *w, bool *due, struct rj_error *err)
{
	rj_store_flags(w->store, due);
	return *due && w->body.block_size ? seal_empty(w, err) : 0;
}

static int send_one(struct rj_log_writer *w, struct rj_error *err)
{
	struct rj_error why = {0};
	bool taken;
	int rc;

	rc = rj_log_put_sealed(w->store, &w->id, w->next.sequence, w->epoch,
		w->out.data, w->out.len, &w->back, &taken, &why);
	if (taken) {
		w->dead = rc;
		w->dead_why = why;
		rj_writer_set_pending(w, false);
	}
	if (!rc)
		rj_log_kept(w);
	else if (err)
		*err = why;
	return rc;
}

static int send_pending(struct rj_log_writer *w, struct rj_error *err)
{
	bool due = false;
	int rc;

	rc = send_one(w, err);
	if (!rc)
		rc = seal_mark(w, &due, err);
	if (!rc && due && w->pending)
		rc = send_one(w, err);
	return rc;
}

void rj_log_kept(struct rj_log_writer *w)
{
	pthread_mutex_lock(&w->lock);
	w->tail = w->next;
	if (w->pending && w->must_base) { /* the base that was asked for */
		w->must_base = false;
		w->floor = w->tail.sequence;
	}
	w->pending = false;
	pthread_mutex_unlock(&w->lock);
}

static int still_dead(const struct rj_log_writer *w, struct rj_error *err)
{
	if (err)
		*err = w->dead_why;
	return w->dead;
}

void rj_writer_draft(const struct rj_log_writer *w, const struct rj_log_append *a,
	const struct rj_log_tail *behind, struct rj_seg_draft *out)
{
	*out = (struct rj_seg_draft){
		.header = {.kind = RJ_SEG_DATA},
		.body = a->body,
		.runs = a->runs,
		.run_count = a->run_count,
		.ring = a->ring,
	};
	if (a->base)
		out->header.flags |= RJ_SEG_F_BASE;
	if (a->recovered)
		out->header.flags |= RJ_SEG_F_RECOVERED;
	out->header.oldest = a->oldest ? a->oldest : behind->oldest;
	if (out->header.oldest < w->floor)
		out->header.oldest = w->floor;
}

void rj_log_seal_begin(struct rj_log_writer *w, const struct rj_log_append *a)
{
	struct rj_seg_draft draft;

	/* with two stores a mark may come in between */
	if (w->dead || w->pending || w->must_base ||
		rj_store_is_pair(w->store))
		return;
	rj_writer_draft(w, a, &w->tail, &draft);
	fill_header(w, &w->tail, &draft);
	w->begun_ns = draft.header.time_ns = (uint64_t)rj_realtime_ns();
	/* what fails here fails again, and is told, when it is sealed */
	rj_segment_seal_begin(&draft, &w->begun, NULL);
}

int rj_log_seal(struct rj_log_writer *w, const struct rj_log_append *a,
	struct rj_error *err)
{
	struct rj_seg_draft draft;
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
	w->body = (struct rj_segbody){.block_size = a->body.block_size,
		.journal_blocks = a->body.journal_blocks};
	if (rj_writer_take_second(w, a)) {
		rj_writer_set_pending(w, true);
		return 0;
	}
	rj_writer_draft(w, a, &w->tail, &draft);
	rc = rj_writer_seal(w, &draft, err);
	rj_writer_set_pending(w, !rc);
	return rc;
}

int rj_log_append(struct rj_log_writer *w, const struct rj_log_append *a,
	struct rj_error *err)
{
	int rc = rj_log_seal(w, a, err);

	return rc ? rc : send_pending(w, err);
}

int rj_log_retry(struct rj_log_writer *w, struct rj_error *err)
{
	if (w->dead)
		return still_dead(w, err);
	if (!w->pending)
		return 0;
	return send_pending(w, err);
}

/* Room for BYTES, each page of it written to. What B holds is kept. */
static int reserve(struct rj_buf *b, size_t bytes)
{
	if (rj_buf_reserve(b, bytes > b->len ? bytes - b->len : 0))
		return -RJ_E_NOMEM;
	memset(b->data + b->len, 0, b->cap - b->len);
	return 0;
}

int rj_log_writer_reserve(struct rj_log_writer *w, size_t bytes, size_t begun,
	struct rj_error *err)
{
	if (reserve(&w->out, bytes + OVERHEAD_BYTES) ||
		reserve(&w->second.out, bytes + OVERHEAD_BYTES) ||
		reserve(&w->begun.bytes, begun + OVERHEAD_BYTES))
		return rj_fail(err, RJ_E_NOMEM,
			"out of memory for a segment of %zu bytes", bytes);
	return 0;
}

int rj_log_rejoin(struct rj_log_writer *w, const struct rj_segbody *geometry,
	struct rj_error *err)
{
	struct rj_twin twin;
	int rc;

	if (w->dead || w->pending)
		return rj_log_retry(w, err);
	if (w->must_base || !rj_store_twin(w->store, &twin) || !twin.caught_up)
		return 0;
	w->body = (struct rj_segbody){.block_size = geometry->block_size,
		.journal_blocks = geometry->journal_blocks};
	rc = seal_empty(w, err);
	return rc ? rc : send_pending(w, err);
}

bool rj_log_pending(const struct rj_log_writer *w)
{
	return w->pending;
}

bool rj_log_sealed(const struct rj_log_writer *w, struct rj_log_sealed *out)
{
	if (!w->pending)
		return false;
	out->at = w->next;
	out->bytes = w->out.data;
	out->len = w->out.len;
	return true;
}

void rj_log_writer_use(struct rj_log_writer *w, struct rj_store *store)
{
	w->store = store;
}

bool rj_log_writer_dead(const struct rj_log_writer *w)
{
	return w->dead != 0;
}

const struct rj_log_tail *rj_log_writer_tail(const struct rj_log_writer *w)
{
	return &w->tail;
}

uint64_t rj_log_writer_epoch(const struct rj_log_writer *w)
{
	return w->epoch;
}

struct rj_log_writer *rj_writer_new(void)
{
	struct rj_log_writer *w = calloc(1, sizeof(*w));

	if (w) {
		pthread_mutex_init(&w->lock, NULL);
		pthread_mutex_init(&w->second.lock, NULL);
	}
	return w;
}

void rj_log_writer_free(struct rj_log_writer *w)
{
	if (!w)
		return;
	rj_buf_free(&w->second.out);
	pthread_mutex_destroy(&w->second.lock);
	pthread_mutex_destroy(&w->lock);
	rj_buf_free(&w->out);
	rj_buf_free(&w->back);
	rj_digest_release(&w->begun);
	free(w);
}
