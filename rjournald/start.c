// SPDX-License-Identifier: GPL-2.0-or-later
/* How a worker begins: for a volume that is not served yet, or where another worker
 * ended. */
#include "daemon-priv.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "rjournald/handover/harden.h"
#include "rjournald/load/load-fallback.h"
#include "store/conf.h"
#include "util/environ.h"
#include "util/log.h"

/* rj.conf's ship_early, bytes; 0: it does not say. */
static uint32_t conf_ship_early(const char *url)
{
	struct rj_conf *conf = NULL;
	struct rj_error err;
	uint32_t bytes = 0;

	if (rj_conf_load(url, &conf, &err))
		rj_log(RJ_LOG_WARNING, "ship_early is not used: %s", err.msg);
	else
		bytes = conf->ship_early_bytes < UINT32_MAX
				? (uint32_t)conf->ship_early_bytes
				: UINT32_MAX;
	rj_conf_release(conf);
	return bytes;
}

static int start_pipeline(struct rj_daemon *d, rj_rule_fn rule, bool resumed,
	struct rj_error *err)
{
	struct rj_loaded *l = &d->loaded;
	struct rj_pipeline_opts opts = {
		.ring = l->ring,
		.sb_block = l->sb_block,
		.on_loss = l->facts.sbx.on_loss,
		.rule = rule,
		.sink = rj_daemon_sink(l),
		.write_through = true,
		.map = &l->memory,
		.raw = !l->facts.has_sbx,
		.resumed = resumed,
		.live = &l->live,
		.inflight = 2,
		.thread = true,
	};

	/* a worker that takes over opens no file before it answers reads */
	if (!resumed)
		l->memory.shm->early_bytes = conf_ship_early(l->store->url);
	opts.early_bytes = l->memory.shm->early_bytes;
	if (!opts.raw)
		opts.mark_writer = d->mark_writer = rj_mark_writer_new(l->device, &l->facts);
	if (!resumed && l->facts.mark_at && rj_volume_no_mark(&l->facts))
		rj_log(RJ_LOG_WARNING, "an older copy of %s may be taken for it after a crash: %s",
			l->device, rj_volume_no_mark(&l->facts));
	rj_live_init(&l->live);
	if (l->writer)
		opts.tail = *rj_log_writer_tail(l->writer);
	if (!opts.raw && rj_mount_notes_new(l->device, l->ring,
				 l->memory.shm->served_since, resumed, &l->notes, err))
		rj_log(RJ_LOG_WARNING,
			"a history of the volume will end with the unmount: %s",
			err->msg);
	opts.watch = rj_mount_notes_watch(l->notes);
	return rj_pipeline_new(&opts, &d->pipeline, err);
}

/* RESUMED: what the worker before had; NULL. */
static int start_front(struct rj_daemon *d, const struct rj_worker_fds *resumed,
	struct rj_error *err)
{
	const struct rj_front_opts opts = {
		.ops = d->front_ops,
		.held = d->front_held,
		.owner = d->loaded.dir.owner,
		.volume = d->loaded.device,
		.mountpoint = d->loaded.dir.mnt,
		.shm = d->loaded.memory.shm,
		.raw = d->opts.raw,
		.resumed = resumed,
		.ring = d->loaded.ring,
		.pipeline = d->pipeline,
		.event_fd = d->event_fd,
	};
	struct rj_worker_shm *k = d->loaded.memory.shm;
	int rc = rj_front_start(&opts, &d->front, err);

	if (rc || resumed)
		return rc;
	k->started_ns = rj_monotonic_ns();
	return k->ublk ? rj_claimed_dir_note(&d->loaded.dir, k->ublk - 1, err) : 0;
}

static int start_events(struct rj_daemon *d, struct rj_error *err)
{
	sigset_t set, asked;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&asked);
	sigaddset(&asked, RJ_SIGNAL_ASKED);
	set = asked;
	/* for the supervisor: blocked, and never read here */
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	d->signal_fd = signalfd(-1, &asked, SFD_CLOEXEC | SFD_NONBLOCK);
	d->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (d->signal_fd == -1 || d->event_fd == -1)
		return rj_fail_errno(err, errno, "signalfd or eventfd");
	return 0;
}

static int hand_over(struct rj_daemon *d, struct rj_error *err)
{
	struct rj_worker_fds fds = {{
		[RJ_WORKER_FD_MEMORY] = d->loaded.memory.fd,
		[RJ_WORKER_FD_FRONT] = -1,
		[RJ_WORKER_FD_LOOP] = -1,
		[RJ_WORKER_FD_LOCK] = d->loaded.dir.lock,
		[RJ_WORKER_FD_LISTEN] = d->listen_fd,
	}};

	rj_front_fds(d->front, &fds);
	if (!rj_front_can_resume(d->front))
		rj_supervisor_tell(d->post, RJ_WORD_FINAL);
	rj_supervisor_tell_modules(d->post);
	return rj_supervisor_give_fds(d->post, &fds, err);
}

/* As rj.conf has it. Before an epoch is claimed, and without threads. */
static int choose_front(struct rj_daemon *d, struct rj_error *err)
{
	const char *volume = d->opts.raw ? NULL : d->opts.device;
	struct rj_conf_local local;
	enum rj_conf_front front;
	int rc = rj_conf_local_load(&local, err);

	if (rc)
		return rc;
	front = local.front;
	rj_conf_local_free(&local);
	d->front_ops = &rj_front_ublk;
	if (front != RJ_FRONT_FUSE) {
		rc = rj_front_prepare(d->front_ops, volume, &d->front_held, err);
		if (!rc || front == RJ_FRONT_UBLK)
			return rc;
		rj_log(RJ_LOG_NOTICE, "%s: the journal is served through FUSE", err->msg);
	}
	d->front_ops = &rj_front_fuse;
	return rj_front_prepare(d->front_ops, volume, &d->front_held, err);
}

int rj_daemon_start(
	struct rj_daemon *d, rj_rule_fn rule, struct rj_error *err)
{
	const struct rj_raw_want raw = {
		.url = d->opts.device,
		.size_mb = d->opts.size_mb,
		.xfs = d->opts.xfs,
		.uuid = d->opts.uuid,
	};
	int rc = choose_front(d, err);

	if (rc)
		return rc;
	rc = d->opts.raw ? rj_load_raw(&raw, &d->loaded, err)
			 : rj_load(d->opts.device, &d->loaded, err);
	if (rc)
		return rc;
	rj_harden();
	rj_harden_ring(d->loaded.ring);
	rj_harden_writer(d->loaded.writer, d->loaded.ring);
	rj_load_watch(&d->loaded, d->loaded.store);
	rj_load_spare(&d->loaded);
	rc = start_events(d, err);
	if (!rc)
		rc = start_pipeline(d, rule, false, err);
	if (!rc)
		rc = rj_load_fallback_start(&d->loaded, err);
	if (!rc)
		rc = start_front(d, NULL, err);
	if (!rc && !d->opts.raw)
		rc = rj_load_note(&d->loaded, rj_front_path(d->front), err);
	if (!rc)
		rc = rj_control_listen(
			d->loaded.dir.control, &d->listen_fd, err);
	if (!rc)
		rc = hand_over(d, err);
	return rc;
}

int rj_daemon_start_again(struct rj_daemon *d, rj_rule_fn rule,
	const struct rj_worker_fds *fds, struct rj_error *err)
{
	int rc;

	rc = rj_load_again(d->opts.xfs ? d->opts.xfs : d->opts.device, fds, &d->loaded, err);
	if (rc)
		return rc;
	d->listen_fd = fds->fd[RJ_WORKER_FD_LISTEN];
	d->phase = (enum rj_phase)d->loaded.memory.shm->phase;
	if (d->phase >= RJ_PHASE_DRAINING)
		d->phase = RJ_PHASE_LEAVING; /* it may have a user again; nor is there a writer */
	d->front_ops = d->loaded.memory.shm->ublk ? &rj_front_ublk : &rj_front_fuse;
	rj_harden();
	rj_harden_ring(d->loaded.ring);
	rc = start_events(d, err);
	if (!rc)
		rc = start_pipeline(d, rule, true, err);
	if (!rc)
		rc = start_front(d, fds, err);
	if (rc)
		return rc;
	if (d->phase != RJ_PHASE_ATTACHED)
		rj_front_let_go(d->front);
	d->takeover.loaded = &d->loaded;
	d->takeover.pipeline = d->pipeline;
	d->takeover.front = d->front;
	d->takeover.post = d->post;
	d->takeover.event_fd = d->event_fd;
	return rj_takeover_start(&d->takeover, err);
}
