// SPDX-License-Identifier: GPL-2.0-or-later
/* A worker's life, from what it is started with to its end. */
#include "daemon-priv.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemonize.h"
#include "log.h"
#include "metrics.h"
#include "rjournald/load/load-fallback.h"
#include "os/rundir.h"
#include "util/log.h"

/* --until-unmount: how often to look whether the mount is there. */
#define MOUNT_POLL_MS 20

/* What a worker is started with. */
struct job {
	struct rj_options opts;
	rj_rule_fn rule;
	struct rj_daemon_log say;
	int ready_fd; /* the first worker tells there that it is ready */
};

/* The machine shuts down, and the store is away. */
static void look_at_poweroff(struct rj_daemon *d)
{
	struct rj_pipeline_stat st;

	rj_pipeline_stat(d->pipeline, &st);
	if (rj_poweroff_expired(&d->poweroff, &st, d->opts.stop_timeout,
		    d->loaded.device, d->loaded.store->url))
		rj_daemon_give_up(d);
}

/* The end of mount.rj, before or after it said that the volume is mounted. One that
 * is mounted, or is being mounted, uses the device: it stays until then. */
static void helper_ended(struct rj_daemon *d)
{
	close(d->helper_fd);
	d->helper_fd = -1;
	rj_daemon_mounted(d);
}

/* How long to wait for what happens. */
static int patience_ms(const struct rj_daemon *d)
{
	int ms = d->phase == RJ_PHASE_LEAVING ? rj_front_look_ms(d->front) : -1;

	if (ms != -1)
		return ms;
	return d->phase == RJ_PHASE_ATTACHED && d->opts.until_unmount
		       ? MOUNT_POLL_MS
		       : RJ_POWEROFF_TICK;
}

static void loop(struct rj_daemon *d, struct rj_daemon_log *say)
{
	const bool systemd = rj_poweroff_known();
	struct pollfd fds[] = {
		{.fd = d->signal_fd, .events = POLLIN},
		{.fd = d->listen_fd, .events = POLLIN},
		{.fd = d->event_fd, .events = POLLIN},
		{.fd = d->metrics_fd, .events = POLLIN},
		{.fd = d->helper_fd, .events = POLLIN},
	};
	uint64_t count;

	while (rj_daemon_step(d), d->phase != RJ_PHASE_DONE && !d->forced) {
		rj_daemon_log_late(say);
		if (systemd)
			look_at_poweroff(d);
		if (poll(fds, sizeof(fds) / sizeof(*fds), patience_ms(d)) <= 0)
			continue;
		if (!d->trimming && rj_daemon_writing(d))
			rj_daemon_start_background(d);
		if (fds[0].revents)
			rj_daemon_signal(d);
		if (fds[1].revents)
			rj_control_serve(d);
		if (fds[3].revents)
			rj_metrics_serve(d, d->metrics_fd);
		if (fds[4].revents) {
			helper_ended(d);
			fds[4].fd = -1;
		}
		if (fds[2].revents &&
			read(d->event_fd, &count, sizeof(count)) == -1)
			continue; /* another wake-up ate it */
	}
}

/* A journal without its metrics is still a journal. */
static void start_metrics(struct rj_daemon *d)
{
	struct rj_error err;

	d->metrics_at = d->opts.metrics ? d->opts.metrics : d->loaded.dir.metrics;
	if (strcmp(d->metrics_at, RJ_METRICS_NONE) != 0 &&
		rj_metrics_listen(d->metrics_at, &d->metrics_fd, &err))
		rj_log(RJ_LOG_WARNING, "%s; there are no metrics", err.msg);
}

static void finish(struct rj_daemon *d)
{
	struct rj_error err;

	/* it was the last; what a death leaves, the next start clears away */
	rj_supervisor_tell(d->post, RJ_WORD_FINAL);
	rj_front_let_go(d->front);
	rj_log_yield_stop(d->yield);
	rj_zeroout_stop(d->zeroout);
	rj_place_keeper_stop(d->place_keeper);
	if (rj_daemon_writing(d) && rj_load_fallback_stop(&d->loaded, &err)) {
		rj_log(RJ_LOG_ERROR, "%s", err.msg);
		d->status = 1;
	}
	if (d->phase == RJ_PHASE_DONE && !d->status && !d->opts.raw &&
		rj_unload_note(&d->loaded, &err))
		rj_log(RJ_LOG_WARNING,
			"%s: the log's position was not noted: %s",
			d->loaded.device, err.msg);
	if (d->loaded.left)
		rj_unmount_note_put(&d->loaded, rj_pipeline_marked(d->pipeline));
	rj_floor_recorder_stop(d->floor, d->loaded.left);
	rj_takeover_finish(&d->takeover);
	rj_front_stop(d->front);
	rj_trimmer_stop(d->trimmer);
	rj_pipeline_free(d->pipeline);
	rj_mount_notes_free(d->loaded.notes);
	rj_mark_writer_free(d->mark_writer);
	if (d->listen_fd != -1)
		close(d->listen_fd);
	if (d->metrics_fd != -1)
		close(d->metrics_fd);
	if (d->signal_fd != -1)
		close(d->signal_fd);
	if (d->event_fd != -1)
		close(d->event_fd);
	rj_unload(&d->loaded);
}

static int announce(struct rj_daemon *d, struct job *job, struct rj_error *err)
{
	const char *path = rj_front_path(d->front);
	char line[64];
	int rc;

	snprintf(line, sizeof(line), "%s\n", path);
	if (d->opts.foreground) {
		fputs(line, stdout);
		if (fflush(stdout))
			return rj_fail_errno(err, errno, "stdout");
	} else {
		rc = rj_background_ready(&job->ready_fd, line, err);
		if (rc)
			return rc;
		rj_daemon_log_to_syslog(&job->say);
	}
	rj_log(RJ_LOG_NOTICE, "serving the journal of %s from %s as %s",
		d->loaded.device, d->loaded.store->url, path);
	if (!rj_front_can_resume(d->front))
		rj_log(RJ_LOG_NOTICE,
			"this kernel is older than Linux 6.9: should rjournald be killed, the journal fails");
	return 0;
}

/* A worker's whole life. */
static int work(void *arg, int post, const struct rj_worker_fds *fds)
{
	struct job *job = arg;
	struct rj_daemon d = {
		.opts = job->opts,
		.loaded.dir.lock = -1,
		.post = post,
		.event_fd = -1,
		.signal_fd = -1,
		.listen_fd = -1,
		.metrics_fd = -1,
		.helper_fd = job->opts.helper_fd,
	};
	struct rj_error err;
	int rc;

	if (fds)
		rc = rj_daemon_start_again(&d, job->rule, fds, &err);
	else
		rc = rj_daemon_start(&d, job->rule, &err);
	if (!rc && !fds)
		rc = announce(&d, job, &err);
	if (!rc && !fds)
		rj_daemon_start_background(&d);
	if (rc) {
		rj_log(RJ_LOG_ERROR, "%s", err.msg);
		if (fds)
			_exit(1); /* another one may do better */
		d.status = err.cause == RJ_CAUSE_RECOVER ? RJ_SERVE_RECOVER : 1;
	} else {
		start_metrics(&d);
		loop(&d, &job->say);
	}
	rj_daemon_log_end(&job->say);
	if (d.forced)
		rj_daemon_exit_now(&d);
	finish(&d);
	return d.status;
}

/* The supervisor lets go of the terminal when the first worker does. */
static void detach(void *arg)
{
	struct job *job = arg;
	struct rj_error err;

	if (job->opts.foreground)
		return;
	if (rj_background_detach(&err))
		rj_log(RJ_LOG_WARNING, "%s", err.msg);
	rj_daemon_log_to_syslog(&job->say);
}

int rj_daemon_run(const struct rj_options *opts, rj_rule_fn rule)
{
	struct job job = {.opts = *opts, .rule = rule, .ready_fd = -1};
	struct rj_supervisor_opts supervisor = {
		.work = work,
		.arg = &job,
		.program = opts->program,
		.args = opts->args,
		.detach = detach,
		.ready_fd = -1,
	};
	struct rj_worker_fds fds;
	struct rj_error err;
	int post, status;

	rj_daemon_log_setup(&job.say, opts->quiet     ? RJ_LOG_WARNING
			       : opts->verbose ? RJ_LOG_DEBUG
					       : RJ_LOG_NOTICE);
	if (opts->take_over) {
		if (!rj_supervisor_parse(opts->take_over, &post, &fds)) {
			rj_log(RJ_LOG_ERROR, "--take-over is for rjournald alone");
			return 2;
		}
		if (!opts->foreground)
			rj_daemon_log_to_syslog(&job.say);
		status = work(&job, post, &fds);
		rj_supervisor_tell(post, RJ_WORD_BYE);
		return status;
	}
	if (!opts->foreground && rj_background(&job.ready_fd, &err)) {
		rj_log(RJ_LOG_ERROR, "%s", err.msg);
		return 1;
	}
	supervisor.ready_fd = job.ready_fd;
	return rj_supervisor_run(&supervisor);
}
