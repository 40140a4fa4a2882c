// SPDX-License-Identifier: GPL-2.0-or-later
/* Open a volume's fallback file, ship what it holds, and start the fallback sink. */
#include "load-fallback.h"

#include "journal/attach.h"
#include "rjournald/handover/harden.h"
#include "rjournald/handover/saved-writer.h"
#include "store/conf.h"
#include "util/log.h"

#define LOSS_TIMEOUT_MS	   5000
#define CONNECT_TIMEOUT_MS 5000

static int open_file(struct rj_loaded *l, const struct rj_log_id *id,
	struct rj_error *err)
{
	const struct rj_sbx *sbx = &l->facts.sbx;
	char kept[RJ_FALLBACK_ASIDE_BYTES];
	int rc = rj_fallback_file_open(
		sbx->fallback, id, l->device, false, &l->fallback, err);
	bool taken = rc == -RJ_E_FOREIGN && err->cause == RJ_CAUSE_TAKEN;

	if ((rc == -RJ_E_CORRUPT || rc == -RJ_E_NOTRJ) && sbx->fallback_empty &&
		rj_fallback_file_put_away(sbx->fallback, id, l->device, sbx->epoch, kept)) {
		rj_log(RJ_LOG_WARNING,
			"%s; it is kept as %s: the volume says that nothing in it is needed",
			err->msg, kept);
		rc = -RJ_E_NOTFOUND;
	}
	if ((rc == -RJ_E_NOTFOUND || taken) && !sbx->fallback_empty)
		return rj_fail(err, RJ_E_REFUSED,
			"%s: its fallback file %s%s is not there, and may hold what the store does not: serve the volume where that file is, or run rjrecover --accept-loss",
			l->device, sbx->fallback, taken ? " (there is one of another journal)" : "");
	if (taken)
		return rj_fail(err, RJ_E_REFUSED,
			"%s: the file %s at the place of its fallback is another journal's: rjtune -J remote=%s,fallback=FILE gives the volume a file of its own",
			l->device, sbx->fallback, sbx->url);
	/* another host, or a move that was cut off: nothing is in it */
	return rc && rc != -RJ_E_NOTFOUND ? rj_fail_prefix(err, "%s", l->device) : 0;
}

int rj_load_fallback_make(struct rj_loaded *l, struct rj_error *err)
{
	const struct rj_sbx *sbx = &l->facts.sbx;
	struct rj_log_id id = {0};
	int rc;

	if (!sbx->fallback[0] || l->fallback.log)
		return 0;
	rj_load_log_id(l, &id);
	rj_log(RJ_LOG_NOTICE, "%s: making the fallback file %s", l->device,
		sbx->fallback);
	rc = rj_fallback_make(sbx->fallback, &id, NULL, l->device,
		rj_attach_fallback_bytes(
			NULL, l->facts.block_size, sbx->journal_blocks),
		err);
	if (!rc)
		rc = rj_fallback_file_open(
			sbx->fallback, &id, l->device, false, &l->fallback, err);
	return rc ? rj_fail_prefix(err, "%s: its fallback", l->device) : 0;
}

int rj_load_fallback_file(struct rj_loaded *l, struct rj_error *err)
{
	struct rj_log_id id = {0};
	int rc;

	rj_load_log_id(l, &id);
	rc = l->fallback.log ? 0 : open_file(l, &id, err);
	return rc ? rc : rj_load_fallback_make(l, err);
}

int rj_load_fallback_open(struct rj_loaded *l, struct rj_error *err)
{
	struct rj_fallback_facts f;
	struct rj_log_id id = {0};
	uint64_t count;
	bool taken;
	int rc;

	if (!l->facts.sbx.fallback[0])
		return 0;
	rj_load_log_id(l, &id);
	rc = open_file(l, &id, err);
	if (rc || !l->fallback.log)
		return rc;
	rj_fallback_facts(l->fallback.log, &f);
	if (f.state == RJ_FALLBACK_GIVEN_UP)
		return rj_fail(err, RJ_E_REFUSED,
			"%s: what %s holds was given up; give the volume another fallback with rjtune -J",
			l->device, l->fallback.path);
	if (!l->facts.sbx.fallback_empty &&
		rj_fallback_was_elsewhere(l->fallback.log, l->facts.sbx.epoch))
		return rj_fail(err, RJ_E_REFUSED,
			"%s: its fallback file %s is not the one that it was last served with (in epoch %llu, this one is of %llu): serve the volume where that file is, or run rjrecover --accept-loss",
			l->device, l->fallback.path,
			(unsigned long long)l->facts.sbx.epoch,
			(unsigned long long)f.epoch);
	rc = rj_fallback_ship(
		l->fallback.log, l->store, &id, 0, &count, &taken, err);
	if (rc && taken)
		return rj_fail_prefix(err,
			"%s: the log went on without segments %llu to %llu, which were acknowledged here and are in %s: nothing was changed; rjrecover --accept-loss gives them up",
			l->device, (unsigned long long)f.next,
			(unsigned long long)f.last, l->fallback.path);
	if (rc)
		return rj_fail_prefix(err, "%s: %s holds segments that the store needs first",
			l->device, l->fallback.path);
	if (count)
		rj_log(RJ_LOG_NOTICE,
			"%s: the store got %llu segment%s that only %s had",
			l->device, (unsigned long long)count,
			count == 1 ? "" : "s", l->fallback.path);
	return 0;
}

int rj_load_fallback_serve(struct rj_loaded *l, struct rj_error *err)
{
	int rc = l->fallback.log
			 ? rj_fallback_serve(l->fallback.log,
				   rj_log_writer_epoch(l->writer), err)
			 : 0;

	return rc ? rj_fail_prefix(err, "%s: its fallback", l->device) : 0;
}

static int open_handle(struct rj_loaded *l, struct rj_conf *conf,
	struct rj_store **out, struct rj_error *err)
{
	struct rj_store_opts o = {.conf = conf};
	int rc;

	o.give_up = &l->link_down;
	o.request_timeout_ms = conf->loss_timeout_ms ? conf->loss_timeout_ms
						     : LOSS_TIMEOUT_MS;
	o.connect_timeout_ms = conf->connect_timeout_ms
				       ? conf->connect_timeout_ms
				       : CONNECT_TIMEOUT_MS;
	if (o.connect_timeout_ms > o.request_timeout_ms)
		o.connect_timeout_ms = o.request_timeout_ms;
	rc = rj_store_open(l->facts.sbx.url, &o, out, err);
	if (!rc) {
		rj_load_watch(l, *out);
		rc = rj_store_adopt(*out, l->facts.sbx.journal_uuid,
			rj_log_writer_epoch(l->writer),
			l->memory.shm->log.fence, err);
	}
	return rc;
}

static int start_arbiter_thread(
	struct rj_loaded *l, const struct rj_conf *conf, struct rj_error *err)
{
	enum rj_prefer prefer = (enum rj_prefer)l->memory.shm->log.prefer;
	struct rj_arbiter_thread_opts o = {
		.fallback_sink = l->fallback_sink,
		.prefer = prefer != RJ_PREFER_UNSET ? prefer : conf->prefer,
		.disk_energy = conf->disk_energy,
		.link_energy = conf->link_energy,
		.url = l->facts.sbx.url,
		.file = l->fallback.path,
		.link_down = &l->link_down,
	};

	return rj_arbiter_thread_start(&o, &l->arbiter_thread, err);
}

/* As CONF, rj.conf's words on the store, has it. */
static int start(struct rj_loaded *l, struct rj_conf *conf, bool again,
	struct rj_error *err)
{
	struct rj_fallback_sink_opts o = {
		.writer = l->writer,
		.fence = l->memory.shm->log.fence,
		.id = &l->id,
		.fallback = l->fallback.log,
		.live = &l->live,
		.map = &l->memory,
	};
	int rc;

	rc = open_handle(l, conf, &l->put, err);
	if (!rc)
		rc = open_handle(l, conf, &l->ship, err);
	if (rc)
		return rc;
	rj_log_writer_use(l->writer, l->put);
	o.store = l->ship;
	rc = rj_fallback_sink_new(&o, &l->fallback_sink, err);
	if (rc)
		return rc;
	if (again)
		rj_fallback_sink_resume(l->fallback_sink);
	rc = rj_fallback_sink_start(l->fallback_sink, err);
	if (rc)
		return rc;
	return start_arbiter_thread(l, conf, err);
}

int rj_load_fallback_start(struct rj_loaded *l, struct rj_error *err)
{
	struct rj_worker_shm_log *k = &l->memory.shm->log;
	struct rj_conf *conf = NULL;
	bool again = k->turn != 0;
	int rc;

	if (!l->fallback.log)
		return 0;
	rj_load_log_id(l, &l->id);
	rj_harden_outbox(&l->memory);
	if (!again) {
		k->fence = rj_log_writer_tail(l->writer)->sequence;
		rj_saved_writer_note(&l->memory, l->writer);
	}
	rc = rj_conf_load(l->store->url, &conf, err);
	if (!rc)
		rc = start(l, conf, again, err);
	rj_conf_release(conf);
	return rc;
}

int rj_load_fallback_stop(struct rj_loaded *l, struct rj_error *err)
{
	rj_arbiter_thread_stop(l->arbiter_thread);
	l->arbiter_thread = NULL;
	return l->fallback_sink ? rj_fallback_sink_stop(l->fallback_sink, err)
				: 0;
}

bool rj_load_fallback_idle(const struct rj_loaded *l)
{
	struct rj_fallback_facts f;

	if (!l->fallback.log)
		return true;
	rj_fallback_facts(l->fallback.log, &f);
	return f.state == RJ_FALLBACK_IDLE;
}

void rj_load_fallback_close(struct rj_loaded *l)
{
	rj_arbiter_thread_stop(l->arbiter_thread);
	l->arbiter_thread = NULL;
	rj_fallback_sink_free(l->fallback_sink);
	l->fallback_sink = NULL;
	rj_store_close(l->ship);
	rj_store_close(l->put);
	l->ship = l->put = NULL;
	rj_fallback_file_close(&l->fallback);
}
