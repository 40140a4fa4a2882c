// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "background.h"
#include "fallback.h"
#include "harden.h"
#include "metrics.h"
#include "say.h"
#include "store/conf.h"
#include "util/environ.h"
#include "util/log.h"
#include "util/thread.h"

/* --until-unmount: how often to look whether the mount is there, and how long
 * to wait for it. */
#define MOUNT_POLL_MS 20
#define MOUNT_WAIT_NS 60000000000LL

/* How often to look whether the second store is caught up. */
#define REJOIN_NS 500000000LL

/* rjctl restart: how long to wait for a request that is being answered. */
#define HOLD_MS 500

/* What a worker is started with. */
struct job {
	struct rj_options opts;
	rj_rule_fn rule;
	struct rj_say say;
	int ready_fd; /* the first worker tells there that it is ready */
};

static int log_append(
	void *arg, const struct rj_log_append *a, struct rj_error *err)
{
	const struct rj_loaded *l = arg;

	return l->shipper ? rj_shipper_append(l->shipper, a, err)
			  : rj_log_append(l->writer, a, err);
}

static int log_retry(void *arg, struct rj_error *err)
{
	const struct rj_loaded *l = arg;

	return l->shipper ? rj_shipper_retry(l->shipper, err)
			  : rj_log_retry(l->writer, err);
}

static void log_begin(void *arg, const struct rj_log_append *a)
{
	const struct rj_loaded *l = arg;

	if (l->shipper)
		rj_shipper_begin(l->shipper, a);
	else
		rj_log_seal_begin(l->writer, a);
}

static bool log_seal_next(void *arg, const struct rj_log_append *a)
{
	const struct rj_loaded *l = arg;

	return rj_log_seal_next(l->writer, a);
}

/* The last number that was acknowledged. */
static uint64_t log_last(void *arg)
{
	const struct rj_loaded *l = arg;

	return rj_log_writer_tail(l->writer)->sequence;
}

static int log_rejoin(void *arg, const struct rj_segbody *geometry,
	struct rj_error *err)
{
	const struct rj_loaded *l = arg;

	return l->shipper ? 0 : rj_log_rejoin(l->writer, geometry, err);
}

static bool log_alone(void *arg)
{
	const struct rj_loaded *l = arg;
	struct rj_twin twin;

	return l->store && rj_store_twin(l->store, &twin) && twin.alone >= 0;
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
		.sink = {log_append, log_retry, log_begin, l, log_seal_next,
			log_rejoin, log_alone},
		.last = log_last,
		.write_through = true,
		.kept = &l->memory,
		.raw = !l->facts.has_sbx,
		.resumed = resumed,
		.live = &l->live,
		/* of two stores a mark may come in between */
		.under_way = rj_url_second(l->facts.sbx.url) ? 1 : 2,
		.thread = true,
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

static void *drain(void *arg)
{
	struct rj_daemon *d = arg;
	char answer[RJ_ERROR_BYTES + 16] = "ok";
	struct rj_error err;
	uint64_t one = 1;

	d->drain_rc = rj_front_drain(d->front, &err);
	if (d->drain_rc)
		snprintf(answer, sizeof(answer), "error: %s", err.msg);
	if (d->drain_client != -1)
		rj_control_answer(d->drain_client, answer);
	d->drained = true;
	if (write(d->event_fd, &one, sizeof(one)) == -1)
		return NULL; /* full: it is awake anyway */
	return NULL;
}

bool rj_daemon_drain(struct rj_daemon *d, int client)
{
	int e;

	if (d->draining)
		return false;
	d->drain_client = client;
	d->drained = false;
	e = rj_thread_start(&d->drainer, drain, d);
	if (e) {
		rj_log(RJ_LOG_ERROR, "cannot start a thread: %s", strerror(e));
		return false;
	}
	d->draining = true;
	return true;
}

/* Remembered for the next worker. */
static void set_phase(struct rj_daemon *d, enum rj_phase phase)
{
	d->phase = phase;
	d->loaded.memory.kept->phase = phase;
}

bool rj_daemon_writing(const struct rj_daemon *d)
{
	return d->takeover.running ? d->takeover.done && d->loaded.writer
				   : d->loaded.writer != NULL;
}

static void let_go(struct rj_daemon *d)
{
	if (d->phase != RJ_PHASE_HOLDING)
		return;
	set_phase(d, RJ_PHASE_LEAVING);
	rj_loop_let_go(&d->loop);
	rj_keeper_say(d->post, RJ_WORD_LET_GO);
}

bool rj_daemon_stop(struct rj_daemon *d)
{
	bool held = d->phase <= RJ_PHASE_LEAVING && rj_loop_held(&d->loop);

	if (held) {
		rj_log(RJ_LOG_WARNING,
			"%s is mounted: unmount it; then rjournald stops",
			d->loaded.device);
		rj_daemon_drain(d, -1);
	}
	let_go(d);
	return !held;
}

void rj_daemon_mounted(struct rj_daemon *d)
{
	if (d->opts.until_unmount)
		let_go(d);
}

void rj_daemon_force(struct rj_daemon *d)
{
	rj_log(RJ_LOG_ERROR, "told to stop at once");
	d->forced = true;
	d->status = 1;
	rj_keeper_say(d->post, RJ_WORD_FINAL);
	rj_takeover_cancel(&d->takeover);
	rj_pipeline_abandon(d->pipeline);
}

bool rj_daemon_restart(struct rj_daemon *d, int client)
{
	if (!rj_front_can_resume(d->front))
		return false;
	/* it makes no difference to the kernel, but for a request less to be
	 * handed out again */
	rj_front_hold(d->front, HOLD_MS);
	rj_control_answer(client, "ok");
	rj_keeper_say(d->post, RJ_WORD_RESTART);
	_exit(0);
}

/* The first signal asks; another one, when the store is lost, insists. */
static void take_signal(struct rj_daemon *d)
{
	struct signalfd_siginfo info;
	struct rj_pipeline_stat st;

	if (read(d->signal_fd, &info, sizeof(info)) != sizeof(info))
		return;
	rj_pipeline_stat(d->pipeline, &st);
	if (d->phase != RJ_PHASE_HOLDING &&
		(st.state == RJ_STATE_WAITING || st.state == RJ_STATE_FULL))
		rj_daemon_force(d);
	else
		rj_daemon_stop(d);
}

/* Is it time for the next phase? */
static void step(struct rj_daemon *d)
{
	int64_t waited =
		rj_monotonic_ns() - d->loaded.memory.kept->started_ns;

	if (d->draining && d->drained) {
		pthread_join(d->drainer, NULL);
		d->draining = false;
		if (d->phase == RJ_PHASE_DRAINING) {
			set_phase(d, RJ_PHASE_DONE);
			if (d->drain_rc)
				d->status = 1;
		}
	}
	if (d->phase == RJ_PHASE_HOLDING && d->opts.until_unmount &&
		(rj_loop_mounted(&d->loop) || waited > MOUNT_WAIT_NS))
		let_go(d);
	if (rj_front_ended(d->front) && d->phase < RJ_PHASE_DRAINING) {
		rj_log(RJ_LOG_ERROR, "%s: somebody unmounted it",
			d->loaded.dir.mnt);
		d->status = 1;
		let_go(d);
		set_phase(d, RJ_PHASE_DRAINING);
		rj_daemon_drain(d, -1);
	}
	if (d->phase == RJ_PHASE_LEAVING && !rj_front_users(d->front))
		set_phase(d, RJ_PHASE_DRAINING);
	if (d->phase == RJ_PHASE_DRAINING && !d->draining &&
		!rj_daemon_drain(d, -1))
		set_phase(d, RJ_PHASE_DONE); /* no thread to be had: give up */
}

/* Told to stop at once: threads may hang in the store or hold the pipeline.
 * With the process goes /dev/fuse, and the kernel fails what still waits. */
static void __attribute__((noreturn)) force_exit(struct rj_daemon *d)
{
	umount2(d->loaded.dir.mnt, MNT_DETACH);
	rj_release_dir(&d->loaded.dir);
	rj_keeper_say(d->post, RJ_WORD_BYE);
	_exit(d->status);
}

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

static void start_helpers(struct rj_daemon *d)
{
	start_trimmer(d);
	start_giveway(d);
	start_rejoiner(d);
}

static void loop(struct rj_daemon *d)
{
	struct pollfd fds[] = {
		{.fd = d->signal_fd, .events = POLLIN},
		{.fd = d->listen_fd, .events = POLLIN},
		{.fd = d->event_fd, .events = POLLIN},
		{.fd = d->metrics_fd, .events = POLLIN},
	};
	uint64_t count;
	int ms;

	while (step(d), d->phase != RJ_PHASE_DONE && !d->forced) {
		ms = d->phase == RJ_PHASE_HOLDING && d->opts.until_unmount
			     ? MOUNT_POLL_MS
			     : -1;
		if (poll(fds, 4, ms) <= 0)
			continue;
		if (!d->trimming && rj_daemon_writing(d))
			start_helpers(d);
		if (fds[0].revents)
			take_signal(d);
		if (fds[1].revents)
			rj_control_serve(d);
		if (fds[3].revents)
			rj_metrics_serve(d, d->metrics_fd);
		if (fds[2].revents &&
			read(d->event_fd, &count, sizeof(count)) == -1)
			continue; /* another wake-up ate it */
	}
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

static int start(struct rj_daemon *d, rj_rule_fn rule, struct rj_error *err)
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

/* Go on where another worker ended. */
static int start_again(struct rj_daemon *d, rj_rule_fn rule,
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

/* A journal without its metrics is still a journal. */
static void start_metrics(struct rj_daemon *d)
{
	struct rj_error err;

	if (d->opts.metrics &&
		rj_metrics_listen(d->opts.metrics, &d->metrics_fd, &err))
		rj_log(RJ_LOG_WARNING, "%s; there are no metrics", err.msg);
}

static void finish(struct rj_daemon *d)
{
	struct rj_error err;

	/* it was the last; what a death leaves, the next start clears away */
	rj_keeper_say(d->post, RJ_WORD_FINAL);
	rj_loop_let_go(&d->loop);
	rj_log_giveway_stop(d->giveway);
	if (d->rejoins)
		rj_ticker_stop(&d->rejoiner);
	if (rj_daemon_writing(d) && rj_fallback_stop(&d->loaded, &err)) {
		rj_log(RJ_LOG_ERROR, "%s", err.msg);
		d->status = 1;
	}
	if (d->phase == RJ_PHASE_DONE && !d->status && !d->opts.raw &&
		rj_unload_note(&d->loaded, &err))
		rj_log(RJ_LOG_WARNING,
			"%s: the log's position was not noted: %s",
			d->loaded.device, err.msg);
	rj_takeover_finish(&d->takeover);
	rj_front_stop(d->front);
	rj_trimmer_stop(d->trimmer);
	rj_pipeline_free(d->pipeline);
	if (d->listen_fd != -1)
		close(d->listen_fd);
	if (d->metrics_fd != -1)
		close(d->metrics_fd);
	if (d->signal_fd != -1)
		close(d->signal_fd);
	if (d->event_fd != -1)
		close(d->event_fd);
	if (d->fuse_fd != -1)
		close(d->fuse_fd);
	rj_unload(&d->loaded);
}

static int announce(struct rj_daemon *d, struct job *job, struct rj_error *err)
{
	char line[sizeof(d->loop.path) + 1];
	int rc;

	snprintf(line, sizeof(line), "%s\n", d->loop.path);
	if (d->opts.foreground) {
		fputs(line, stdout);
		if (fflush(stdout))
			return rj_fail_errno(err, errno, "stdout");
	} else {
		rc = rj_background_ready(&job->ready_fd, line, err);
		if (rc)
			return rc;
		rj_say_to_syslog(&job->say);
	}
	rj_log(RJ_LOG_NOTICE, "serving the journal of %s from %s as %s",
		d->loaded.device, d->loaded.store->url, d->loop.path);
	return 0;
}

/* A worker's whole life. */
static int work(void *arg, int post, const struct rj_held *held)
{
	struct job *job = arg;
	struct rj_daemon d = {
		.opts = job->opts,
		.loaded.dir.lock = -1,
		.loop.fd = -1,
		.post = post,
		.fuse_fd = -1,
		.event_fd = -1,
		.signal_fd = -1,
		.listen_fd = -1,
		.metrics_fd = -1,
	};
	struct rj_error err;
	int rc;

	if (held)
		rc = start_again(&d, job->rule, held, &err);
	else
		rc = start(&d, job->rule, &err);
	if (!rc && !held)
		rc = announce(&d, job, &err);
	if (!rc && !held)
		start_helpers(&d);
	if (rc) {
		rj_log(RJ_LOG_ERROR, "%s", err.msg);
		if (held)
			_exit(1); /* another one may do better */
		d.status = 1;
	} else {
		start_metrics(&d);
		loop(&d);
	}
	if (d.forced)
		force_exit(&d);
	finish(&d);
	return d.status;
}

/* The keeper lets go of the terminal when the first worker does. */
static void detach(void *arg)
{
	struct job *job = arg;
	struct rj_error err;

	if (job->opts.foreground)
		return;
	if (rj_background_detach(&err))
		rj_log(RJ_LOG_WARNING, "%s", err.msg);
	rj_say_to_syslog(&job->say);
}

int rj_daemon_run(const struct rj_options *opts, rj_rule_fn rule)
{
	struct job job = {.opts = *opts, .rule = rule, .ready_fd = -1};
	struct rj_keeper_opts keeper = {
		.work = work,
		.arg = &job,
		.program = opts->program,
		.args = opts->args,
		.detach = detach,
		.ready_fd = -1,
	};
	struct rj_held held;
	struct rj_error err;
	int post, status;

	rj_say_setup(&job.say, opts->quiet     ? RJ_LOG_WARNING
			       : opts->verbose ? RJ_LOG_DEBUG
					       : RJ_LOG_NOTICE);
	if (opts->take_over) {
		if (!rj_keeper_parse(opts->take_over, &post, &held)) {
			rj_log(RJ_LOG_ERROR, "--take-over is for rjournald alone");
			return 2;
		}
		if (!opts->foreground)
			rj_say_to_syslog(&job.say);
		status = work(&job, post, &held);
		rj_keeper_say(post, RJ_WORD_BYE);
		return status;
	}
	if (!opts->foreground && rj_background(&job.ready_fd, &err)) {
		rj_log(RJ_LOG_ERROR, "%s", err.msg);
		return 1;
	}
	keeper.ready_fd = job.ready_fd;
	return rj_keeper_run(&keeper);
}
