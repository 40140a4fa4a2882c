// SPDX-License-Identifier: LGPL-2.1-or-later
/* Seal the next segment and put it; put the same bytes again after a failure. */
#include <stdlib.h>
#include <string.h>

#include "log/retry.h"
#include "log/write/writer.h"

/* Of a segment beside its blocks: header, body head, and some 4,000 runs. */
#define OVERHEAD_BYTES 32768u

int rj_writer_put(struct rj_log_writer *w, struct rj_error *err)
{
	int rc = rj_log_put_parts(w->store, &w->id, w->next.sequence, w->parts,
		w->part_count, &w->back, err);

	if (!rc)
		rj_log_mark_stored(w);
	return rc;
}

static int send_pending(struct rj_log_writer *w, struct rj_error *err)
{
	struct rj_error why = {0};
	bool taken;
	int rc;

	rc = rj_log_put_sealed(w->store, &w->id, w->next.sequence, w->epoch,
		w->parts, w->part_count, &w->back, &taken, &why);
	if (taken) {
		w->dead = rc;
		w->dead_why = why;
		w->dead_why.cause = why.cause = RJ_CAUSE_TAKEN;
		w->pending = false;
	}
	if (!rc)
		rj_log_mark_stored(w);
	else if (err)
		*err = why;
	return rc;
}

void rj_log_writer_seen(struct rj_log_writer *w, struct rj_log_tail *out)
{
	pthread_mutex_lock(&w->lock);
	*out = w->tail;
	pthread_mutex_unlock(&w->lock);
}

void rj_log_mark_stored(struct rj_log_writer *w)
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

static int seal(struct rj_log_writer *w, const struct rj_log_append *a,
	bool in_place, struct rj_error *err)
{
	struct rj_seg_draft draft;
	int rc;

	if (w->dead)
		return still_dead(w, err);
	if (w->pending)
		return rj_fail(err, RJ_E_INVAL,
			"segment %llu is not acknowledged yet: nothing can be "
			"appended after it",
			(unsigned long long)w->next.sequence);
	if (w->must_base && !a->base)
		return rj_fail(err, RJ_E_INVAL,
			"segment %llu must be a base: the log was broken off "
			"before it",
			(unsigned long long)w->tail.sequence + 1);
	rj_writer_draft(w, a, &draft);
	rc = rj_writer_seal(w, &draft, in_place, err);
	w->pending = !rc;
	return rc;
}

int rj_log_seal(struct rj_log_writer *w, const struct rj_log_append *a,
	struct rj_error *err)
{
	return seal(w, a, false, err);
}

int rj_log_append(struct rj_log_writer *w, const struct rj_log_append *a,
	struct rj_error *err)
{
	int rc = seal(w, a, a->in_place, err);

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

int rj_log_append_within(struct rj_log_writer *w, const struct rj_log_append *a, int retry_ms,
	struct rj_error *err)
{
	struct rj_retry retry;
	int rc;

	rj_retry_start(&retry, retry_ms);
	rc = rj_log_append(w, a, err);
	while (rj_log_pending(w) && rj_retry_again(&retry, rc))
		rc = rj_log_retry(w, err);
	return rc;
}

/* Space for BYTES, each page of it written to. What B holds is kept. */
static int reserve(struct rj_buf *b, size_t bytes)
{
	if (rj_buf_reserve(b, bytes > b->len ? bytes - b->len : 0))
		return -RJ_E_NOMEM;
	memset(b->data + b->len, 0, b->cap - b->len);
	return 0;
}

int rj_log_writer_reserve(
	struct rj_log_writer *w, size_t bytes, struct rj_error *err)
{
	if (reserve(&w->out, bytes + OVERHEAD_BYTES))
		return rj_fail(err, RJ_E_NOMEM,
			"out of memory for a segment of %zu bytes", bytes);
	w->parts[0].iov_base = w->out.data;
	return 0;
}

bool rj_log_pending(const struct rj_log_writer *w)
{
	return w->pending;
}

bool rj_log_sealed(const struct rj_log_writer *w, struct rj_log_sealed *out)
{
	if (!w->pending || w->part_count > 1)
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

	if (w)
		pthread_mutex_init(&w->lock, NULL);
	return w;
}

void rj_log_writer_free(struct rj_log_writer *w)
{
	if (!w)
		return;
	pthread_mutex_destroy(&w->lock);
	rj_buf_free(&w->out);
	rj_buf_free(&w->back);
	free(w);
}
