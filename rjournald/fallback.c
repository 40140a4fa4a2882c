// SPDX-License-Identifier: GPL-2.0-or-later
#include "fallback.h"

#include "harden.h"
#include "inhand.h"
#include "journal/attach.h"
#include "store/conf.h"
#include "util/log.h"

#define LOSS_TIMEOUT_MS	   5000
#define CONNECT_TIMEOUT_MS 5000

static int open_file(struct rj_loaded *l, const struct rj_log_id *id,
	struct rj_error *err)
{
	const struct rj_sbx *sbx = &l->facts.sbx;
	int rc = rj_spool_file_open(
		sbx->fallback, id, l->device, false, &l->spool, err);

	if (rc == -RJ_E_NOTFOUND && !sbx->fallback_empty)
		return rj_fail(err, RJ_E_REFUSED,
			"%s: its fallback file %s is not there, and may hold what the store does not: serve the volume where that file is, or run rjrecover --accept-loss",
			l->device, sbx->fallback);
	if (rc != -RJ_E_NOTFOUND)
		return rc ? rj_fail_prefix(err, "%s", l->device) : 0;
	/* another host, or a move that was cut off: nothing is in it */
	rj_log(RJ_LOG_NOTICE, "%s: making the fallback file %s", l->device,
		sbx->fallback);
	rc = rj_spool_make(sbx->fallback, id, l->device,
		rj_attach_fallback_bytes(
			NULL, l->facts.block_size, sbx->journal_blocks),
		err);
	if (!rc)
		rc = rj_spool_file_open(
			sbx->fallback, id, l->device, false, &l->spool, err);
	return rc ? rj_fail_prefix(err, "%s: its fallback", l->device) : 0;
}

int rj_fallback_file(struct rj_loaded *l, struct rj_error *err)
{
	struct rj_log_id id = {0};

	rj_load_log_id(l, &id);
	return l->spool.spool ? 0 : open_file(l, &id, err);
}

int rj_fallback_open(struct rj_loaded *l, struct rj_error *err)
{
	struct rj_spool_facts f;
	struct rj_log_id id = {0};
	uint64_t count;
	bool taken;
	int rc;

	if (!l->facts.sbx.fallback[0])
		return 0;
	rj_load_log_id(l, &id);
	rc = rj_fallback_file(l, err);
	if (rc)
		return rc;
	rj_spool_facts(l->spool.spool, &f);
	if (f.state == RJ_SPOOL_GIVEN_UP)
		return rj_fail(err, RJ_E_REFUSED,
			"%s: what %s holds was given up; give the volume another fallback with rjtune -J",
			l->device, l->spool.path);
	if (!l->facts.sbx.fallback_empty &&
		rj_spool_missed(l->spool.spool, l->facts.sbx.epoch))
		return rj_fail(err, RJ_E_REFUSED,
			"%s: its fallback file %s is not the one that it was last served with (in epoch %llu, this one is of %llu): serve the volume where that file is, or run rjrecover --accept-loss",
			l->device, l->spool.path,
			(unsigned long long)l->facts.sbx.epoch,
			(unsigned long long)f.epoch);
	rc = rj_spool_ship(
		l->spool.spool, l->store, &id, 0, &count, &taken, err);
	if (rc && taken)
		return rj_fail_prefix(err,
			"%s: the log went on without segments %llu to %llu, which were acknowledged here and are in %s: nothing was changed; rjrecover --accept-loss gives them up",
			l->device, (unsigned long long)f.next,
			(unsigned long long)f.last, l->spool.path);
	if (rc)
		return rj_fail_prefix(err, "%s: %s holds segments that the store needs first",
			l->device, l->spool.path);
	if (count)
		rj_log(RJ_LOG_NOTICE,
			"%s: the store got %llu segment%s that only %s had",
			l->device, (unsigned long long)count,
			count == 1 ? "" : "s", l->spool.path);
	return 0;
}

int rj_fallback_serve(struct rj_loaded *l, struct rj_error *err)
{
	int rc = l->spool.spool
			 ? rj_spool_serve(l->spool.spool,
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
			l->memory.kept->log.fence, err);
	}
	return rc;
}

static int start_chooser(
	struct rj_loaded *l, enum rj_prefer prefer, struct rj_error *err)
{
	struct rj_chooser_opts o = {
		.shipper = l->shipper,
		.prefer = prefer,
		.url = l->facts.sbx.url,
		.file = l->spool.path,
		.link_down = &l->link_down,
	};

	return rj_chooser_start(&o, &l->chooser, err);
}

/* As CONF, rj.conf's words on the store, has it. */
static int start(struct rj_loaded *l, struct rj_conf *conf, bool again,
	struct rj_error *err)
{
	struct rj_shipper_opts o = {
		.writer = l->writer,
		.fence = l->memory.kept->log.fence,
		.id = &l->id,
		.spool = l->spool.spool,
		.live = &l->live,
		.kept = &l->memory,
	};
	enum rj_prefer prefer = (enum rj_prefer)l->memory.kept->log.prefer;
	int rc;

	rc = open_handle(l, conf, &l->put, err);
	if (!rc)
		rc = open_handle(l, conf, &l->ship, err);
	if (rc)
		return rc;
	rj_log_writer_use(l->writer, l->put);
	o.store = l->ship;
	rc = rj_shipper_new(&o, &l->shipper, err);
	if (rc)
		return rc;
	if (again)
		rj_shipper_resume(l->shipper);
	rc = rj_shipper_start(l->shipper, err);
	if (rc)
		return rc;
	return start_chooser(
		l, prefer != RJ_PREFER_UNSET ? prefer : conf->prefer, err);
}

int rj_fallback_start(struct rj_loaded *l, struct rj_error *err)
{
	struct rj_kept_log *k = &l->memory.kept->log;
	struct rj_conf *conf = NULL;
	bool again = k->turn != 0;
	int rc;

	if (!l->spool.spool)
		return 0;
	rj_load_log_id(l, &l->id);
	rj_harden_outbox(&l->memory);
	if (!again) {
		k->fence = rj_log_writer_tail(l->writer)->sequence;
		rj_inhand_note(&l->memory, l->writer);
	}
	rc = rj_conf_load(l->store->url, &conf, err);
	if (!rc)
		rc = start(l, conf, again, err);
	rj_conf_release(conf);
	return rc;
}

int rj_fallback_stop(struct rj_loaded *l, struct rj_error *err)
{
	rj_chooser_stop(l->chooser);
	l->chooser = NULL;
	return l->shipper ? rj_shipper_stop(l->shipper, err) : 0;
}

bool rj_fallback_idle(const struct rj_loaded *l)
{
	struct rj_spool_facts f;

	if (!l->spool.spool)
		return true;
	rj_spool_facts(l->spool.spool, &f);
	return f.state == RJ_SPOOL_IDLE;
}

void rj_fallback_close(struct rj_loaded *l)
{
	rj_chooser_stop(l->chooser);
	l->chooser = NULL;
	rj_shipper_free(l->shipper);
	l->shipper = NULL;
	rj_store_close(l->ship);
	rj_store_close(l->put);
	l->ship = l->put = NULL;
	rj_spool_file_close(&l->spool);
}
