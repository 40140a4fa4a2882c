// SPDX-License-Identifier: GPL-2.0-or-later
/* Look each second whether the volume names the place of its log, and write that again. */
#include "place-keeper.h"

#include <stdlib.h>
#include <string.h>

#include "os/thread.h"
#include "rjournald/commit/volume-mark.h"
#include "util/log.h"

#define PERIOD_NS 1000000000LL

struct rj_place_keeper {
	const struct rj_loaded *l;
	struct rj_ticker ticker;
	bool failed;
};

static void look(void *arg)
{
	struct rj_place_keeper *k = arg;
	const struct rj_loaded *l = k->l;
	struct rj_error err;
	int rc;

	if (rj_volume_names_place(l->device, &l->facts))
		return;
	rc = rj_mark_place(l->device, &l->facts, &err);
	if (rc && !k->failed)
		rj_log(RJ_LOG_ERROR,
			"after a crash the volume would not name %s, where its log is: %s",
			l->facts.sbx.url, err.msg);
	if (!rc)
		rj_log(RJ_LOG_NOTICE, "%s names %s again, where its log is", l->device,
			l->facts.sbx.url);
	k->failed = rc != 0;
}

struct rj_place_keeper *rj_place_keeper_start(const struct rj_loaded *l)
{
	struct rj_place_keeper *k;
	int e;

	if (rj_volume_no_mark(&l->facts) || !l->facts.placed)
		return NULL;
	k = calloc(1, sizeof(*k));
	if (!k) {
		rj_log(RJ_LOG_WARNING, "out of memory for a thread");
		return NULL;
	}
	k->l = l;
	e = rj_ticker_start(&k->ticker, PERIOD_NS, look, k);
	if (!e)
		return k;
	rj_log(RJ_LOG_WARNING, "cannot start a thread: %s", strerror(e));
	free(k);
	return NULL;
}

void rj_place_keeper_stop(struct rj_place_keeper *k)
{
	if (k)
		rj_ticker_stop(&k->ticker);
	free(k);
}
