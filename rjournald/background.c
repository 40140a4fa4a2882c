// SPDX-License-Identifier: GPL-2.0-or-later
/* What runs beside the journal, and without which it is still one: trimming,
 * giving way to others, no zeroing by the kernel. */
#include "daemon-priv.h"

#include <limits.h>
#include <string.h>

#include "store/conf.h"
#include "util/log.h"

/* How often old segments are deleted unless rj.conf says it, in seconds. */
#define TRIM_INTERVAL_S 60

/* A journal that grows because it cannot be trimmed is still a journal. */
static void start_trimmer(struct rj_daemon *d)
{
	struct rj_trimmer_opts opts = {
		.store = d->loaded.spare,
		.pipeline = d->pipeline,
		.live = &d->loaded.live,
		.throttle = &d->loaded.throttle,
		.epoch = d->loaded.memory.shm->epoch,
		.confirmed_s = d->loaded.memory.shm->confirmed_s,
		.started_ns = d->loaded.memory.shm->started_ns,
		.interval_s = TRIM_INTERVAL_S,
	};
	struct rj_conf *conf = NULL;
	struct rj_error err;
	int rc;

	d->trimming = true;
	rj_load_log_id(&d->loaded, &opts.id);
	rc = rj_conf_load(d->loaded.store->url, &conf, &err);
	if (!rc) {
		opts.retain_s = conf->retain_s;
		if (conf->trim_interval_s)
			opts.interval_s = conf->trim_interval_s < UINT_MAX
						  ? (unsigned)conf->trim_interval_s
						  : UINT_MAX;
		rc = rj_trimmer_start(&opts, &d->trimmer, &err);
	}
	rj_conf_release(conf);
	if (rc)
		rj_log(RJ_LOG_WARNING, "old segments will not be deleted: %s",
			err.msg);
}

/* Best effort: without it a takeover from a busy writer only takes longer. */
static void start_yield(struct rj_daemon *d)
{
	struct rj_log_yield_opts opts = {
		.store = d->loaded.spare,
		.epoch = rj_log_writer_epoch(d->loaded.writer),
		.throttle = &d->loaded.throttle,
	};
	struct rj_error err;

	rj_load_log_id(&d->loaded, &opts.id);
	if (rj_log_yield_start(&opts, &d->yield, &err))
		rj_log(RJ_LOG_WARNING, "will not give way to others: %s",
			err.msg);
}

static void start_zeroout(struct rj_daemon *d)
{
	struct rj_error err;

	if (!d->opts.xfs &&
		rj_zeroout_start(d->loaded.device, &d->zeroout, &err))
		rj_log(RJ_LOG_WARNING,
			"extent_max_zeroout_kb is left as it is: %s", err.msg);
}

void rj_daemon_start_background(struct rj_daemon *d)
{
	/* a raw log of which nothing says how far it must go has no floor */
	if (d->loaded.facts.has_sbx || d->opts.xfs)
		rj_floor_recorder_start(&d->loaded, &d->floor);
	if (d->loaded.spare) {
		start_trimmer(d);
		start_yield(d);
	}
	start_zeroout(d);
	d->place_keeper = rj_place_keeper_start(&d->loaded);
}
