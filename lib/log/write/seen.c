// SPDX-License-Identifier: LGPL-2.1-or-later
/* Tell the judge what a reading of the log has seen. */
#include "log/seen.h"

#include <string.h>

#include "log/listing.h"

void rj_log_seen_take(struct rj_log_seen *seen, const struct rj_segment *seg)
{
	const struct rj_seghdr *h = &seg->header;

	if (h->flags & RJ_SEG_F_CLEAN)
		seen->clean_epoch = h->epoch;
	if (h->flags & RJ_SEG_F_BASE)
		seen->recovered_epoch = h->flags & RJ_SEG_F_RECOVERED ? h->epoch : 0;
	if (!seg->body.run_count)
		return;
	if (!seen->newest.sequence) {
		seen->first = h->sequence;
		seen->first_epoch = h->epoch;
	}
	seen->newest = *h;
	if (seen->latest_ns < h->time_ns)
		seen->latest_ns = h->time_ns;
}

static int since(struct rj_store *store, const struct rj_log_id *id, uint64_t epoch,
	uint64_t known, int retry_ms, uint64_t *out, struct rj_error *err)
{
	*out = epoch;
	return epoch > known ? rj_log_served_since(store, id, epoch, retry_ms, out, err) : 0;
}

int rj_log_judged(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_log_seen *seen, int retry_ms, struct rj_verdict_facts *facts,
	struct rj_error *err)
{
	int rc;

	facts->newest_epoch = seen->newest.epoch;
	facts->newest = seen->newest.sequence;
	facts->oldest = seen->newest.oldest;
	facts->marked = seen->newest.flags & RJ_SEG_F_MARKED;
	facts->first = seen->first;
	facts->first_epoch = seen->first_epoch;
	facts->clean_epoch = seen->clean_epoch;
	facts->recovered_epoch = seen->recovered_epoch;
	rc = since(store, id, seen->newest.epoch, facts->epoch, retry_ms, &facts->newest_since,
		err);
	facts->first_since = facts->newest_since;
	if (!rc && seen->first_epoch != seen->newest.epoch)
		rc = since(store, id, seen->first_epoch, facts->epoch, retry_ms,
			&facts->first_since, err);
	return rc;
}

bool rj_log_renamed(struct rj_store *store, struct rj_log_id *id, int retry_ms)
{
	struct rj_listing l = {0};
	struct rj_seghdr h;
	uint64_t last;
	int rc = rj_listing_end(store, id, false, retry_ms, &l, NULL);

	last = l.last;
	rj_listing_free(&l);
	if (rc || !last || rj_log_fetch_header(store, id, last, &h, NULL) ||
		!rj_uuid_equal(h.journal_uuid, id->journal_uuid) ||
		rj_uuid_equal(h.volume_uuid, id->volume_uuid))
		return false;
	memcpy(id->volume_uuid, h.volume_uuid, RJ_UUID_BYTES);
	return true;
}
