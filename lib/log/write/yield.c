// SPDX-License-Identifier: LGPL-2.1-or-later
/* The thread that looks for newer claims and delays the writer's puts. */
#include "log/write/yield.h"

#include <stdlib.h>

#include "log/listing.h"
#include "os/thread.h"
#include "util/environ.h"
#include "util/log.h"

#define NS_PER_MS   1000000LL
#define INTERVAL_MS 500
#define PAUSE_MS    2000
/* A claimer needs about six requests to find the end and to put its fence, and
 * may have a longer way to the store than we have. */
#define PAUSE_LOOKS  10
#define PAUSE_MAX_NS (20000 * NS_PER_MS)
/* Claims taken note of in one look. */
#define CLAIMS	  16
#define CLAIM_MAX 4096

struct rj_log_yield {
	struct rj_log_yield_opts o;
	struct rj_store *store; /* our own handle */
	struct rj_ticker ticker;
	uint64_t seen;	 /* the highest epoch known */
	uint64_t passed; /* puts, at the last look */
	struct rj_buf text;
};

/* Is there a claim that we did not know of? */
static bool claimed(struct rj_log_yield *g)
{
	struct rj_key key;
	int i;

	for (i = 0; i < CLAIMS && g->seen < UINT64_MAX; i++) {
		key = rj_log_key(&g->o.id, RJ_KEY_EPOCH, g->seen + 1);
		g->text.len = 0;
		if (rj_store_get(g->store, &key, CLAIM_MAX, &g->text, NULL))
			break;
		g->seen++;
	}
	return i > 0;
}

static void look(void *arg)
{
	struct rj_log_yield *g = arg;
	int64_t begun = rj_monotonic_ns(), pause;
	uint64_t passed = g->o.throttle->passed;

	if (passed == g->passed)
		return;
	g->passed = passed;
	if (!claimed(g))
		return;
	pause = g->o.pause_ms * NS_PER_MS +
		PAUSE_LOOKS * (rj_monotonic_ns() - begun);
	if (pause > PAUSE_MAX_NS)
		pause = PAUSE_MAX_NS;
	rj_log(RJ_LOG_NOTICE,
		"%s: epoch %llu was claimed: giving way for %lld ms",
		g->store->url, (unsigned long long)g->seen,
		(long long)(pause / NS_PER_MS));
	g->o.throttle->until_ns = rj_monotonic_ns() + pause;
}

static void free_yield(struct rj_log_yield *g)
{
	rj_store_close(g->store);
	rj_buf_free(&g->text);
	free(g);
}

int rj_log_yield_start(const struct rj_log_yield_opts *opts,
	struct rj_log_yield **out, struct rj_error *err)
{
	struct rj_log_yield *g;
	int rc, e;

	*out = NULL;
	if (!opts->store->caps.put_new)
		return 0;
	g = calloc(1, sizeof(*g));
	if (!g)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	g->o = *opts;
	if (!g->o.interval_ms)
		g->o.interval_ms = INTERVAL_MS;
	if (!g->o.pause_ms)
		g->o.pause_ms = PAUSE_MS;
	g->seen = opts->epoch;
	rc = rj_store_dup(opts->store, &g->store, err);
	if (!rc) {
		e = rj_ticker_start(&g->ticker,
			g->o.interval_ms * NS_PER_MS, look, g);
		if (e)
			rc = rj_fail_errno(err, e, "cannot start a thread");
	}
	if (rc) {
		free_yield(g);
		return rc;
	}
	*out = g;
	return 0;
}

void rj_log_yield_stop(struct rj_log_yield *g)
{
	if (!g)
		return;
	rj_ticker_stop(&g->ticker);
	g->o.throttle->until_ns = 0;
	free_yield(g);
}
