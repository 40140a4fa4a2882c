// SPDX-License-Identifier: LGPL-2.1-or-later
#include "log/past/rate.h"

#include <string.h>

#include "log/hold.h"
#include "log/trim.h"

#define DAY_NS 86400000000000LL

int rj_log_rate(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_listing *l, struct rj_log_rate *out,
	struct rj_error *err)
{
	struct rj_log_rate r = {0};
	struct rj_range end = {0};
	struct rj_seghdr h;
	uint64_t from;
	int64_t at;
	int rc;

	*out = r;
	if (!l->ranges.len)
		return 0;
	memcpy(&end, l->ranges.data + l->ranges.len - sizeof(end), sizeof(end));
	rc = rj_log_fetch_header(store, id, end.last, &h, err);
	if (rc)
		return rc;
	r.last_ns = (int64_t)h.time_ns;
	rc = rj_log_fetch_header(store, id, end.first, &h, err);
	if (rc)
		return rc;
	r.first = end.first;
	r.first_ns = (int64_t)h.time_ns < r.last_ns ? (int64_t)h.time_ns : r.last_ns;
	r.bytes = rj_hold_bytes(l, end.first, UINT64_MAX);
	r.day_ns = r.last_ns - r.first_ns < DAY_NS ? r.last_ns - r.first_ns : DAY_NS;
	rc = rj_log_since(store, id, l, end.last, r.last_ns - r.day_ns, &from, &at, err);
	if (rc)
		return rc;
	r.day_bytes = rj_hold_bytes(l, from > end.first ? from : end.first, UINT64_MAX);
	*out = r;
	return 0;
}

static uint64_t a_day(uint64_t bytes, int64_t ns)
{
	return ns > 0 ? (uint64_t)((double)bytes * ((double)DAY_NS / (double)ns)) : 0;
}

uint64_t rj_log_rate_last(const struct rj_log_rate *r)
{
	return a_day(r->day_bytes, r->day_ns);
}

uint64_t rj_log_rate_average(const struct rj_log_rate *r)
{
	return a_day(r->bytes, r->last_ns - r->first_ns);
}
