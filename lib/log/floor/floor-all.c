// SPDX-License-Identifier: LGPL-2.1-or-later
/* Read all floors of a log: of this host, of the floor store. */
#include "log/floor/floor-all.h"

#include <stdio.h>
#include <string.h>

#include "log/floor/floor.h"
#include "log/listing.h"
#include "util/log.h"

void rj_floors_take(struct rj_floors *f, const struct rj_log_tail *saw,
	uint64_t epoch, const char *by)
{
	if (saw->epoch < epoch || saw->epoch < f->seen.epoch ||
		(saw->epoch == f->seen.epoch &&
			saw->sequence <= f->seen.sequence))
		return;
	f->seen = *saw;
	snprintf(f->by, sizeof(f->by), "%s", by);
}

void rj_floors_ask(struct rj_floors *f, const char *device, bool needs,
	const char *log_url, const struct rj_log_id *id, uint64_t epoch,
	int retry_ms, struct rj_floor_answer *a)
{
	struct rj_log_tail saw;
	char by[sizeof(f->by)];

	memset(f, 0, sizeof(*f));
	memset(a, 0, sizeof(*a));
	rj_floor_load(id->journal_uuid, epoch, &saw);
	rj_floors_take(f, &saw, epoch, "this host");
	if (!needs)
		return;
	/* one that is away does not hold up a recovery for ever, and is not
	 * passed over in silence */
	rj_floor_url_load(log_url, id, epoch, retry_ms, a);
	if (a->why[0])
		rj_log(RJ_LOG_WARNING,
			"%s: the floor store cannot be asked, so a log that lost its end may pass for whole: %s",
			device, a->why);
	else if (a->url[0] && !a->saw.sequence)
		rj_log(RJ_LOG_WARNING,
			"%s: the floor store %s has no note of the last mount, so a log that lost its end may pass for whole (was floor= set then, and is that store what it was?)",
			device, a->url);
	snprintf(by, sizeof(by), "the floor at %s", a->url);
	rj_floors_take(f, &a->saw, epoch, by);
}

/* Is what F saw still there as it was? A segment that was trimmed was not lost. */
static int check_seen(const struct rj_floors *f, struct rj_store *store,
	const struct rj_log_id *id, bool *same, struct rj_error *err)
{
	struct rj_log_tail at;
	int rc = rj_log_fetch_place(store, id, f->seen.sequence, 0, &at, err);

	*same = rc == -RJ_E_GAP || (!rc && at.epoch == f->seen.epoch &&
		!memcmp(at.chain, f->seen.chain, sizeof(at.chain)));
	return rc == -RJ_E_GAP ? 0 : rc;
}

int rj_floors_check(const struct rj_floors *f, struct rj_store *store, const struct rj_log_id *id,
	int retry_ms, const char *advice, struct rj_error *err)
{
	struct rj_listing l = {0};
	struct rj_seghdr last = {0};
	bool same = false;
	int rc;

	if (!f->seen.sequence)
		return 0;
	rc = rj_listing_end(store, id, false, retry_ms, &l, err);
	if (!rc && l.last)
		rc = rj_log_fetch_header(store, id, l.last, &last, err);
	rj_listing_free(&l);
	if (rc || last.epoch > f->seen.epoch ||
		rj_log_was_left(store, id, last.sequence, 0, &f->seen))
		return rc;
	if (last.epoch == f->seen.epoch && last.sequence >= f->seen.sequence)
		rc = check_seen(f, store, id, &same, err);
	if (rc || same)
		return rc;
	return rj_fail(err, RJ_E_REFUSED,
		"%s: the log ends with segment %llu of epoch %llu, but %s saw segment %llu of epoch %llu acknowledged: the store has lost the end of the log, or hides it, or the log went on at another place%s",
		store->url, (unsigned long long)last.sequence, (unsigned long long)last.epoch,
		f->by, (unsigned long long)f->seen.sequence, (unsigned long long)f->seen.epoch,
		advice);
}
