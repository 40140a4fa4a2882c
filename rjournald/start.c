// SPDX-License-Identifier: GPL-2.0-or-later
/* How a worker begins: for a volume that is not served yet, or where another worker
 * ended. */
#include "daemon-priv.h"

#include <errno.h>
#include <fcntl.h>
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

static int start_fuse(struct rj_daemon *d, bool resumed, struct rj_error *err)
{
	struct rj_fuse_opts opts = {
		.volume = d->loaded.device,
		.mountpoint = d->loaded.dir.mnt,
		.fuse_fd = d->fuse_fd,
		.shm = d->loaded.memory.shm,
		.raw = d->opts.raw,
		.resumed = resumed,
		.ring = d->loaded.ring,
		.pipeline = d->pipeline,
		.event_fd = d->event_fd,
	};

	return rj_fuse_start(&opts, &d->fuse, err);
}

/* The loop device takes its own reference of the open file; ours is closed
 * again, so that the last user is the loop device. */
static int start_loop(struct rj_daemon *d, struct rj_error *err)
{
	char path[RJ_RUNDIR_PATH + sizeof(RJ_FUSE_FILE)];
	int fd, rc;

	snprintf(path, sizeof(path), "%s/%s", d->loaded.dir.mnt, RJ_FUSE_FILE);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd == -1)
		return rj_fail_errno(err, errno, "%s", path);
	rc = rj_loop_attach(fd, path, &d->loop, err);
	close(fd);
	d->loaded.memory.shm->started_ns = rj_monotonic_ns();
	snprintf(d->loaded.memory.shm->loop_path, sizeof(d->loop.path), "%s",
		d->loop.path);
	return rc;
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
	const struct rj_worker_fds fds = {{
		[RJ_WORKER_FD_MEMORY] = d->loaded.memory.fd,
		[RJ_WORKER_FD_FUSE] = d->fuse_fd,
		[RJ_WORKER_FD_LOOP] = d->loop.fd,
		[RJ_WORKER_FD_LOCK] = d->loaded.dir.lock,
		[RJ_WORKER_FD_LISTEN] = d->listen_fd,
	}};

	if (!rj_fuse_can_resume(d->fuse))
		rj_supervisor_tell(d->post, RJ_WORD_FINAL);
	return rj_supervisor_give_fds(d->post, &fds, err);
}

/* Before an epoch is claimed. Opening loads the module. */
static int check_kernel(struct rj_error *err)
{
	static const char *const needed[] = {"/dev/fuse", "/dev/loop-control"};
	unsigned i;
	int fd;

	for (i = 0; i < sizeof(needed) / sizeof(*needed); i++) {
		fd = open(needed[i], O_RDWR | O_CLOEXEC);
		if (fd == -1)
			return rj_fail_errno(err, errno,
				"%s (is the module loaded?)", needed[i]);
		close(fd);
	}
	return 0;
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
	int rc = check_kernel(err);

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
		rc = rj_fuse_mount(d->loaded.dir.mnt, d->loaded.device,
			&d->fuse_fd, err);
	if (!rc)
		rc = start_fuse(d, false, err);
	if (!rc)
		rc = start_loop(d, err);
	if (!rc && !d->opts.raw)
		rc = rj_load_note(&d->loaded, d->loop.path, err);
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
	d->fuse_fd = fds->fd[RJ_WORKER_FD_FUSE];
	d->listen_fd = fds->fd[RJ_WORKER_FD_LISTEN];
	d->loop.fd = fds->fd[RJ_WORKER_FD_LOOP];
	d->phase = (enum rj_phase)d->loaded.memory.shm->phase;
	snprintf(d->loop.path, sizeof(d->loop.path), "%s",
		d->loaded.memory.shm->loop_path);
	if (d->phase != RJ_PHASE_ATTACHED)
		rj_loop_let_go(&d->loop);
	rj_harden();
	rj_harden_ring(d->loaded.ring);
	rc = start_events(d, err);
	if (!rc)
		rc = start_pipeline(d, rule, true, err);
	if (!rc)
		rc = start_fuse(d, true, err);
	if (rc)
		return rc;
	d->takeover.loaded = &d->loaded;
	d->takeover.pipeline = d->pipeline;
	d->takeover.fuse = d->fuse;
	d->takeover.post = d->post;
	d->takeover.event_fd = d->event_fd;
	return rj_takeover_start(&d->takeover, err);
}
