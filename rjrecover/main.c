// SPDX-License-Identifier: GPL-2.0-or-later
/* rjrecover: bring a volume back from its remote journal. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "os/fileio.h"
#include "raw.h"
#include "recover/recover.h"
#include "report.h"
#include "tools/start/device.h"
#include "tools/json.h"
#include "tools/plan.h"
#include "tools/progress.h"
#include "util/log.h"
#include "xfs.h"
#include "xfs/xfs.h"

struct context {
	struct options options;
	struct progress progress;
	struct plan_list list; /* the plan's transactions, where they are told */
};

static const char *const phase_names[] = {
	[RJ_PHASE_GATHER] = "reading the log",
	[RJ_PHASE_REPLAY] = "replaying",
	[RJ_PHASE_CHECK] = "checking",
};

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	interrupted = 1;
}

static int step(void *arg, enum rj_recover_phase phase, uint64_t done,
	uint64_t total)
{
	struct context *c = arg;

	if (interrupted)
		return 1;
	return progress_step(&c->progress, (int)phase, done, total);
}

static void say(void *arg, const char *line)
{
	struct context *c = arg;

	progress_clear(&c->progress);
	if (!c->options.quiet)
		fprintf(stderr, "rjrecover: %s: %s\n", c->options.device, line);
}

static void planned(void *arg, const struct rj_jbd2_plan *plan)
{
	struct context *c = arg;

	if (c->options.verbose || c->options.dry_run)
		plan_list_take(&c->list, plan);
}

static void log_line(void *arg, enum rj_log_level level, const char *line)
{
	struct context *c = arg;

	if (level > (c->options.verbose ? RJ_LOG_INFO : RJ_LOG_WARNING))
		return;
	progress_clear(&c->progress);
	fprintf(stderr, "rjrecover: %s\n", line);
}

static void catch_signals(void)
{
	struct sigaction sa = {.sa_handler = on_signal};

	/* a second one ends the program at once: every step can be cut */
	sa.sa_flags = SA_RESETHAND;
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sa.sa_handler = SIG_IGN; /* the reader of -C, or of a pipe, went away */
	sigaction(SIGPIPE, &sa, NULL);
}

static int recover_raw(const struct options *o)
{
	struct rj_error err;

	if (!raw_recover(o, &err))
		return fflush(stdout) ? RJ_FSCK_ERROR : 0;
	fprintf(stderr, "rjrecover: %s\n", err.msg);
	return RJ_FSCK_ERROR;
}

static int recover_xfs(const struct options *o)
{
	struct rj_error err;
	int status;

	if (xfs_recover(o, &status, &err))
		fprintf(stderr, "rjrecover: %s\n", err.msg);
	return fflush(stdout) ? status | RJ_FSCK_ERROR : status;
}

/* At boot -f means a check, no more: systemd-fsck gives it for fsck.mode=force, beside -a or
 * -y, to each volume. */
static bool as_fsck(void)
{
	return !strcmp(program_invocation_short_name, "fsck.rj");
}

int main(int argc, char **argv)
{
	static struct context c;
	struct rj_recover_report report;
	struct rj_recover_opts ro;
	uint8_t uuid[RJ_UUID_BYTES];
	struct rj_error err;
	int rc;

	rj_fill_standard_fds();
	switch (options_parse(argc, argv, &c.options)) {
	case OPTIONS_DONE:
		return fflush(stdout) ? RJ_FSCK_ERROR : 0;
	case OPTIONS_BAD:
		return RJ_FSCK_USAGE;
	case OPTIONS_RUN:
		break;
	}
	if (!c.options.raw && tool_device(c.options.device, &c.options.device, &err)) {
		fprintf(stderr, "rjrecover: %s\n", err.msg);
		if (c.options.json)
			json_show_error("device", c.options.device, err.msg);
		return RJ_FSCK_ERROR;
	}
	ro = (struct rj_recover_opts){
		.dry_run = c.options.dry_run,
		.yes = c.options.yes,
		.preen = c.options.preen,
		.check_clean = c.options.force,
		.force = c.options.force && !c.options.preen && !as_fsck(),
		.accept_loss = c.options.accept_loss,
		.quiet = c.options.quiet || c.options.json,
		.verify = c.options.verify,
		.undo_file = c.options.undo_file,
		.url = c.options.url[0] ? c.options.url : NULL,
		.from = c.options.from[0] ? c.options.from : NULL,
		.keyfile = c.options.keyfile[0] ? c.options.keyfile : NULL,
		.journal_device = c.options.journal_device[0]
					  ? c.options.journal_device
					  : NULL,
		.progress = step,
		.say = say,
		.planned = planned,
		.arg = &c,
	};
	progress_init(&c.progress, c.options.device,
		c.options.progress_fd, c.options.quiet, phase_names);
	rj_log_set(log_line, &c);
	catch_signals();
	if (c.options.raw)
		return recover_raw(&c.options);
	if (rj_xfs_uuid(c.options.device, uuid))
		return recover_xfs(&c.options);
	rc = rj_recover(c.options.device, &ro, &report, &err);
	progress_clear(&c.progress);
	if (rc)
		fprintf(stderr, "rjrecover: %s\n", err.msg);
	if (report_print(&c.options, &report, &c.list, rc ? err.msg : NULL))
		report.fsck_status |= RJ_FSCK_ERROR;
	plan_list_free(&c.list);
	return report.fsck_status;
}
