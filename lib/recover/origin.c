// SPDX-License-Identifier: LGPL-2.1-or-later
/* A log that is read from another place than the volume names (a copy of it, or what rjctl saved):
 * ask the place that the volume names whether a writer went on there. */
#include <string.h>

#include "log/listing.h"
#include "recover/session.h"
#include "store/store.h"
#include "store/url.h"

#define RETRY_MS 1 /* one attempt: that place may be the one that is lost */

/* Get the header of the last segment at the place that the volume names. Without the key, which
 * may be of both: all that is asked for stands in the clear. */
static int last_there(struct rj_recovery *r, struct rj_seghdr *out, struct rj_error *err)
{
	struct rj_store *store = NULL;
	struct rj_listing l = {0};
	int rc = rj_store_open(r->origin, NULL, &store, err);

	if (!rc)
		rc = rj_listing_end(store, &r->id, false, RETRY_MS, &l, err);
	if (!rc && l.last)
		rc = rj_log_fetch_header(store, &r->id, l.last, out, err);
	rj_listing_free(&l);
	rj_store_close(store);
	return rc;
}

void rj_recovery_find_origin(struct rj_recovery *r, struct rj_verdict_facts *f)
{
	const struct rj_log_tail *here = &r->report->log.tail;
	struct rj_seghdr there = {0};
	struct rj_error err;

	if (!r->origin[0] || rj_url_same(r->origin, r->report->url))
		return;
	if (!r->origin_asked && last_there(r, &there, &err))
		rj_recovery_say(r,
			"the log at %s, which the volume names, cannot be asked whether a writer went on there: %s",
			r->origin, err.msg);
	/* what was read here was written there, or in an epoch after all that is there */
	if (there.epoch > here->epoch ||
		(there.epoch == here->epoch &&
			(there.sequence > here->sequence ||
				memcmp(there.nonce, r->last_nonce, sizeof(there.nonce)) != 0)))
		r->went_on = there.epoch;
	r->origin_asked = true;
	f->origin = r->origin;
	f->origin_epoch = r->went_on;
	if (r->went_on)
		f->found |= RJ_FOUND(RJ_IS_WENT_ON);
}
