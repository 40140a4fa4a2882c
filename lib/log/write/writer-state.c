// SPDX-License-Identifier: LGPL-2.1-or-later
/* Save a writer's state, and restore a writer from it. */
#include "log/write/writer-state.h"

#include <stdlib.h>
#include <string.h>

#include "log/verify.h"
#include "log/write/writer.h"

void rj_log_writer_save(
	const struct rj_log_writer *w, struct rj_log_writer_state *out)
{
	*out = (struct rj_log_writer_state){
		.epoch = w->epoch,
		.tail = w->tail,
		.next = w->next,
		.pending = w->pending,
		.must_base = w->must_base,
		.floor = w->floor,
	};
	memcpy(out->nonce, w->nonce, sizeof(out->nonce));
}

/* The pending bytes must be what they are said to be: the next put of them may
 * be acknowledged to the kernel. */
static int check_pending(const struct rj_log_writer *w, struct rj_error *err)
{
	const struct rj_log_tail *n = &w->next;
	struct rj_segment seg = {0};
	struct rj_verify v;
	int rc;

	rj_verify_resume(&v, w->store->url, &w->id, &w->tail);
	rc = rj_verify_next(&v, w->out.data, w->out.len, &seg, err);
	rj_segment_release(&seg);
	if (rc)
		return rc;
	if (v.tail.sequence != n->sequence || v.tail.epoch != w->epoch ||
		v.tail.epoch != n->epoch || v.tail.oldest != n->oldest ||
		memcmp(v.tail.chain, n->chain, sizeof(n->chain)) ||
		memcmp(v.nonce, w->nonce, sizeof(w->nonce)))
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: segment %llu, which was under way, is not what was sealed",
			w->store->url, (unsigned long long)n->sequence);
	return 0;
}

int rj_log_writer_restore(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_log_writer_state *at, const void *pending, size_t len,
	struct rj_log_writer **out, struct rj_error *err)
{
	struct rj_log_writer *w = rj_writer_new();
	int rc = 0;

	*out = NULL;
	if (!w)
		return rj_fail(err, RJ_E_NOMEM, "out of memory for a log");
	w->store = store;
	w->id = *id;
	w->epoch = at->epoch;
	w->tail = at->tail;
	w->next = at->next;
	w->pending = at->pending;
	w->must_base = at->must_base;
	w->floor = at->floor;
	memcpy(w->nonce, at->nonce, sizeof(w->nonce));
	if (at->pending && rj_buf_append(&w->out, pending, len))
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory for a log");
	w->parts[0] = (struct iovec){w->out.data, w->out.len};
	w->part_count = 1;
	if (!rc && at->pending)
		rc = check_pending(w, err);
	if (rc)
		rj_log_writer_free(w);
	else
		*out = w;
	return rc;
}
