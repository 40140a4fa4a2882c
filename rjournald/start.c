// SPDX-License-Identifier: GPL-2.0-or-later
/* How a worker begins: for a volume that nobody serves, or where another worker
 * ended. */
#include "daemon-inside.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "fallback.h"
#include "harden.h"
#include "util/environ.h"
#include "util/log.h"

/* RJ_AHEAD, for tests, bytes: such pieces of a commit, however far the store is. */
static uint32_t ahead_bytes(void)
{
	const char *env = getenv("RJ_AHEAD");

	return env ? (uint32_t)strtoul(env, NULL, 10) : 0;
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
		.last = rj_daemon_last,
		.write_through = true,
		.kept = &l->memory,
		.raw = !l->facts.has_sbx,
		.resumed = resumed,
		.live = &l->live,
		/* of two stores a mark may come in between */
		.under_way = rj_url_second(l->facts.sbx.url) ? 1 : 2,
		.thread = true,
		.ahead_bytes = ahead_bytes(),
	};

	rj_live_init(&l->live);
	if (l->writer)
		opts.tail = *rj_log_writer_tail(l->writer);

	return rj_pipeline_new(&opts, &d->pipeline, err);
}

static int start_front(struct rj_daemon *d, bool resumed, struct rj_error *err)
{
	struct rj_front_opts opts = {
		.volume = d->loaded.device,
		.mountpoint = d->loaded.dir.mnt,
		.fuse_fd = d->fuse_fd,
		.kept = d->loaded.memory.kept,
		.raw = d->opts.raw,
		.resumed = resumed,
		.ring = d->loaded.ring,
		.pipeline = d->pipeline,
		.event_fd = d->event_fd,
	};

	return rj_front_start(&opts, &d->front, err);
}

/* The loop device takes its own reference of the open file; ours is closed
 * again, so that the last user is the loop device. */
static int start_loop(struct rj_daemon *d, struct rj_error *err)
{
	char path[RJ_RUNDIR_PATH + sizeof(RJ_FRONT_FILE)];
	int fd, rc;

	snprintf(path, sizeof(path), "%s/%s", d->loaded.dir.mnt, RJ_FRONT_FILE);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd == -1)
		return rj_fail_errno(err, errno, "%s", path);
	rc = rj_loop_attach(fd, path, &d->loop, err);
	close(fd);
	d->loaded.memory.kept->started_ns = rj_monotonic_ns();
	snprintf(d->loaded.memory.kept->loop_path, sizeof(d->loop.path), "%s",
		d->loop.path);
	return rc;
}

static int start_events(struct rj_daemon *d, struct rj_error *err)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	d->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	d->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (d->signal_fd == -1 || d->event_fd == -1)
		return rj_fail_errno(err, errno, "signalfd or eventfd");
	return 0;
}

static int hand_over(struct rj_daemon *d, struct rj_error *err)
{
	const struct rj_held held = {{
		[RJ_HELD_MEMORY] = d->loaded.memory.fd,
		[RJ_HELD_FUSE] = d->fuse_fd,
		[RJ_HELD_LOOP] = d->loop.fd,
		[RJ_HELD_LOCK] = d->loaded.dir.lock,
		[RJ_HELD_LISTEN] = d->listen_fd,
	}};

	if (!rj_front_can_resume(d->front)) {
		rj_log(RJ_LOG_NOTICE,
			"this kernel is older than Linux 6.9: should rjournald be killed, the journal fails");
		rj_keeper_say(d->post, RJ_WORD_FINAL);
	}
	return rj_keeper_hold(d->post, &held, err);
}

int rj_daemon_start(
	struct rj_daemon *d, rj_rule_fn rule, struct rj_error *err)
{
	int rc;

	rc = d->opts.raw ? rj_load_raw(d->opts.device, d->opts.size_mb,
				   &d->loaded, err)
			 : rj_load(d->opts.device, &d->loaded, err);
	if (rc)
		return rc;
	rj_harden();
	rj_harden_ring(d->loaded.ring);
	rj_harden_writer(d->loaded.writer, d->loaded.ring);
	rj_load_watch(&d->loaded, d->loaded.store);
	rc = start_events(d, err);
	if (!rc)
		rc = start_pipeline(d, rule, false, err);
	if (!rc)
		rc = rj_fallback_start(&d->loaded, err);
	if (!rc)
		rc = rj_front_mount(d->loaded.dir.mnt, d->loaded.device,
			&d->fuse_fd, err);
	if (!rc)
		rc = start_front(d, false, err);
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
	const struct rj_held *held, struct rj_error *err)
{
	int rc;

	rc = rj_load_again(d->opts.device, held, &d->loaded, err);
	if (rc)
		return rc;
	d->fuse_fd = held->fd[RJ_HELD_FUSE];
	d->listen_fd = held->fd[RJ_HELD_LISTEN];
	d->loop.fd = held->fd[RJ_HELD_LOOP];
	d->phase = (enum rj_phase)d->loaded.memory.kept->phase;
	snprintf(d->loop.path, sizeof(d->loop.path), "%s",
		d->loaded.memory.kept->loop_path);
	if (d->phase != RJ_PHASE_HOLDING)
		rj_loop_let_go(&d->loop);
	rj_harden();
	rj_harden_ring(d->loaded.ring);
	rc = start_events(d, err);
	if (!rc)
		rc = start_pipeline(d, rule, true, err);
	if (!rc)
		rc = start_front(d, true, err);
	if (rc)
		return rc;
	d->takeover.loaded = &d->loaded;
	d->takeover.pipeline = d->pipeline;
	d->takeover.front = d->front;
	d->takeover.post = d->post;
	d->takeover.event_fd = d->event_fd;
	return rj_takeover_start(&d->takeover, err);
}
