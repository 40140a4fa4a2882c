// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/latency-hist.h"

#include "store/put-throttle.h"
#include "store/store.h"
#include "util/environ.h"

/* Times below RJ_LATENCY_HIST_STEPS microseconds have a bucket each; above
 * them each power of two has RJ_LATENCY_HIST_STEPS. */
static unsigned bucket_of(uint64_t us)
{
	unsigned power = 0, n;

	if (us < RJ_LATENCY_HIST_STEPS)
		return (unsigned)us;
	while (us >> power >= 2 * RJ_LATENCY_HIST_STEPS)
		power++;
	n = power * RJ_LATENCY_HIST_STEPS + (unsigned)(us >> power);
	return n < RJ_LATENCY_HIST_BUCKETS ? n : RJ_LATENCY_HIST_BUCKETS - 1;
}

/* The largest time that falls into bucket N. */
static uint64_t upper_us(unsigned n)
{
	unsigned power;

	if (n < 2 * RJ_LATENCY_HIST_STEPS)
		return n;
	power = n / RJ_LATENCY_HIST_STEPS - 1;
	return (((uint64_t)n - power * RJ_LATENCY_HIST_STEPS + 1) << power) - 1;
}

static void add(_Atomic uint64_t *to, uint64_t n)
{
	atomic_fetch_add_explicit(to, n, memory_order_relaxed);
}

void rj_latency_hist_add(
	struct rj_latency_hist *m, int rc, uint64_t bytes, int64_t ns)
{
	if (rc) {
		add(&m->failures, 1);
		return;
	}
	add(&m->bytes, bytes);
	add(&m->ns, (uint64_t)ns);
	add(&m->bucket[bucket_of((uint64_t)ns / 1000)], 1);
	add(&m->puts, 1);
	m->acked_ns = rj_realtime_ns();
}

uint64_t rj_latency_hist_quantile_us(
	const struct rj_latency_hist *m, unsigned per_mille)
{
	uint64_t total = 0, want, seen = 0;
	unsigned i;

	for (i = 0; i < RJ_LATENCY_HIST_BUCKETS; i++)
		total += m->bucket[i];
	if (!total)
		return 0;
	want = (total * per_mille + 999) / 1000;
	for (i = 0; i < RJ_LATENCY_HIST_BUCKETS; i++) {
		seen += m->bucket[i];
		if (seen >= want && seen)
			return upper_us(i);
	}
	return upper_us(RJ_LATENCY_HIST_BUCKETS - 1);
}

int rj_store_put_parts(struct rj_store *s, const struct rj_key *key,
	const struct iovec *parts, int count, struct rj_error *err)
{
	bool segment = key->kind == RJ_KEY_LOG;
	int64_t begun;
	size_t len = 0;
	int i, rc = 0;

	if (s->throttle && segment)
		rc = rj_put_throttle_pass(s->throttle, s->url, err);
	if (rc)
		return rc;
	begun = rj_monotonic_ns();
	rc = count == 1 ? s->ops->put_new(s, key, parts->iov_base,
				  parts->iov_len, err)
			: s->ops->put_parts(s, key, parts, count, err);
	for (i = 0; i < count; i++)
		len += parts[i].iov_len;
	if (s->latency && segment)
		rj_latency_hist_add(
			s->latency, rc, len, rj_monotonic_ns() - begun);
	if (!rc && s->throttle && segment)
		s->throttle->acked = key->number;
	return rc;
}

int rj_store_put_new(struct rj_store *s, const struct rj_key *key,
	const void *data, size_t len, struct rj_error *err)
{
	const struct iovec whole = {(void *)data, len};

	return rj_store_put_parts(s, key, &whole, 1, err);
}
