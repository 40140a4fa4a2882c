// SPDX-License-Identifier: GPL-2.0-or-later
/* What runs beside the journal, and without which it is still one: trimming,
 * giving way to others, looking for the second store. */
#include "daemon-inside.h"

#include <stdlib.h>
#include <string.h>

#include "store/conf.h"
#include "util/log.h"

/* How often to look whether the second store is caught up. */
#define REJOIN_NS 500000000LL

/* How often old segments are deleted, in seconds; RJ_TRIM_INTERVAL is for
 * tests. */
#define TRIM_INTERVAL_S 60

/* A journal that grows because it cannot be trimmed is still a journal. */
static void start_trimmer(struct rj_daemon *d)
{
	const char *interval = getenv("RJ_TRIM_INTERVAL");
	struct rj_trimmer_opts opts = {
		.store = d->loaded.store,
		.pipeline = d->pipeline,
		.interval_s = interval ? (unsigned)atoi(interval) : 0,
	};
	const char *url = d->loaded.store->url, *second = rj_url_second(url);
	struct rj_conf *conf = NULL;
	struct rj_error err;
	int rc;

	if (!opts.interval_s)
		opts.interval_s = TRIM_INTERVAL_S;
	d->trimming = true;
	rj_load_log_id(&d->loaded, &opts.id);
	rc = rj_conf_load(second ? second : url, &conf, &err);
	if (!rc) {
		opts.retain_s = conf->retain_s;
		rc = rj_trimmer_start(&opts, &d->trimmer, &err);
	}
	rj_conf_release(conf);
	if (rc)
		rj_log(RJ_LOG_WARNING, "old segments will not be deleted: %s",
			err.msg);
}

/* One that nobody can take over from at full speed is still a journal. */
static void start_giveway(struct rj_daemon *d)
{
	struct rj_log_giveway_opts opts = {
		.store = d->loaded.store,
		.epoch = rj_log_writer_epoch(d->loaded.writer),
		.gate = &d->loaded.gate,
	};
	struct rj_error err;

	rj_load_log_id(&d->loaded, &opts.id);
	if (rj_log_giveway_start(&opts, &d->giveway, &err))
		rj_log(RJ_LOG_WARNING, "will not give way to others: %s",
			err.msg);
}

/* Nobody may write for long, and until then one store is not needed that could
 * be. */
static void look_for_other(void *arg)
{
	struct rj_daemon *d = arg;
	struct rj_twin twin;

	if (rj_store_twin(d->loaded.store, &twin) && twin.caught_up)
		rj_front_rejoin(d->front);
}

static void start_rejoiner(struct rj_daemon *d)
{
	int e;

	if (!rj_store_is_pair(d->loaded.store))
		return;
	e = rj_ticker_start(&d->rejoiner, REJOIN_NS, look_for_other, d);
	d->rejoins = !e;
	if (e)
		rj_log(RJ_LOG_WARNING,
			"a store that was away is used again with the next write only: %s",
			strerror(e));
}

void rj_daemon_start_helpers(struct rj_daemon *d)
{
	start_trimmer(d);
	start_giveway(d);
	start_rejoiner(d);
}
