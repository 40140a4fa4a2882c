// SPDX-License-Identifier: LGPL-2.1-or-later
/* Turn what a caller appends into a sealed segment. */
#include <string.h>

#include "log/write/writer.h"
#include "util/environ.h"

void rj_writer_draft(const struct rj_log_writer *w, const struct rj_log_append *a,
	struct rj_seg_draft *out)
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
	out->header.oldest = a->oldest ? a->oldest : w->tail.oldest;
	if (out->header.oldest < w->floor)
		out->header.oldest = w->floor;
	if (out->header.oldest && out->header.oldest <= a->marked)
		out->header.flags |= RJ_SEG_F_MARKED;
}

/* Fill in all that the writer knows of the header. */
static void fill_header(const struct rj_log_writer *w, struct rj_seg_draft *draft)
{
	struct rj_seghdr *h = &draft->header;

	h->sequence = w->tail.sequence + 1;
	h->epoch = w->epoch;
	h->time_ns = (uint64_t)rj_realtime_ns();
	memcpy(h->volume_uuid, w->id.volume_uuid, sizeof(h->volume_uuid));
	memcpy(h->journal_uuid, w->id.journal_uuid, sizeof(h->journal_uuid));
	memcpy(h->nonce, w->nonce, sizeof(h->nonce));
	if (!(h->flags & RJ_SEG_F_BREAK))
		memcpy(h->prev_chain, w->tail.chain, sizeof(h->prev_chain));
	if ((h->flags & (RJ_SEG_F_BASE | RJ_SEG_F_BREAK)) || !h->oldest) {
		/* not the number that the mark was made for */
		if (h->oldest != h->sequence)
			h->flags &= ~(uint32_t)RJ_SEG_F_MARKED;
		h->oldest = h->sequence;
	}
	draft->key = w->id.key;
	draft->compress = w->id.compress;
}

int rj_writer_seal(struct rj_log_writer *w, struct rj_seg_draft *draft,
	bool in_place, struct rj_error *err)
{
	const struct rj_seghdr *h = &draft->header;
	int rc;

	fill_header(w, draft);
	w->next.sequence = h->sequence;
	w->next.epoch = h->epoch;
	w->next.oldest = h->oldest;
	rc = rj_segment_seal_in_place(draft, &w->out, w->parts,
		in_place && w->store->ops->put_parts ? RJ_STORE_PARTS : 1,
		&w->part_count, w->next.chain, err);
	/* with nothing pending rj_log_retry() would find all done */
	return rc ? rj_fail_cause(rc, RJ_CAUSE_SEALING, err) : 0;
}
