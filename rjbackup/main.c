// SPDX-License-Identifier: GPL-2.0-or-later
/* rjbackup: any moment of a volume, from a base and its log. */
#include <signal.h>
#include <stdio.h>

#include "at-store.h"
#include "rjbackup/changes/diff.h"
#include "rjbackup/changes/find.h"
#include "rjbackup/changes/log.h"
#include "rjbackup/changes/undelete.h"
#include "rjbackup/drill/bisect.h"
#include "rjbackup/drill/drill.h"
#include "rjbackup/drill/every.h"
#include "expire.h"
#include "follow.h"
#include "history/base.h"
#include "history/restore.h"
#include "log/past/point.h"
#include "mount.h"
#include "options.h"
#include "os/fileio.h"
#include "print.h"
#include "tools/ask-daemon.h"
#include "tools/json.h"
#include "tools/progress.h"
#include "tools/stop-signal.h"
#include "util/environ.h"

#define SHIPPED_NS 300000000000LL
#define SLICE_MS   1000

static int stopped(struct rj_error *err)
{
	return rj_fail(err, RJ_E_CANCELLED, "stopped by signal %d", stop_signal());
}

/* In slices: a signal ends it. */
static int wait_shipped(void *arg, const uint8_t volume[RJ_UUID_BYTES],
	struct rj_error *err)
{
	int64_t end = rj_monotonic_ns() + SHIPPED_NS;
	int rc;

	(void)arg;
	do
		rc = stop_signal() ? stopped(err) : shipped_wait(volume, SLICE_MS, err);
	while (rc == -RJ_E_UNREACHABLE && rj_monotonic_ns() < end);
	return rc;
}

static const char *const base_passes[] = {[1] = "copying", [2] = "reading the log"};
static const char *const restore_passes[] = {[1] = "copying", [2] = "applying the log"};

static int step(void *arg, int pass, uint64_t done, uint64_t total)
{
	return progress_step(arg, pass, done, total) || stop_signal();
}

/* ls and dry runs are short, and show none. */
static void show_progress(struct progress *p, const struct options *o, const char *device,
	const char *const *names)
{
	if (o->progress_fd > 0) /* its reader may go away */
		signal(SIGPIPE, SIG_IGN);
	progress_init(p, device, o->progress_fd,
		o->json || o->dry_run || o->command == COMMAND_LS, names);
}

/* What keeps the log, and its marks. */
static int look_at_log(struct result *r)
{
	const struct options *o = r->o;
	struct rj_listing l = {0};
	struct rj_base_log log;
	unsigned bad;
	int rc = rj_base_log_open(&r->facts, o->url, o->keyfile, &log, &r->err);

	if (!rc)
		rc = kept_look(log.store, &log.id, r->facts.record.from, &l, &r->kept, &r->err);
	if (!rc)
		rc = rj_point_list(log.store, &log.id, 0, &r->marks, &bad, &r->err);
	rj_listing_free(&l);
	rj_base_log_close(&log);
	return rc;
}

static int run_base(struct result *r)
{
	struct progress progress;
	const struct rj_base_opts opts = {
		.dry_run = r->o->dry_run,
		.keyfile = r->o->keyfile,
		.hold_s = r->o->hold,
		.rate = r->o->rate,
		.shipped = wait_shipped,
		.progress = step,
		.arg = &progress,
	};
	int rc;

	show_progress(&progress, r->o, r->o->dir, base_passes);
	stop_signal_catch(); /* what was begun is removed then, with the hold */
	rc = rj_base_make(r->o->dir, r->o->out, &opts, &r->facts, &r->report, &r->err);
	progress_clear(&progress);
	return rc;
}

/* ls is a restore that goes nowhere, to the end of the history. */
static int run_restore(struct result *r)
{
	const struct options *o = r->o;
	struct progress progress;
	const struct rj_restore_opts opts = {
		.base = o->base,
		.out = o->dry_run ? NULL : o->out,
		.url = o->url,
		.keyfile = o->keyfile,
		.at = o->at,
		.until_break = o->command == COMMAND_LS,
		.verify = o->verify,
		.progress = step,
		.arg = &progress,
		.journal = o->journal_given ? &o->journal : NULL,
	};
	int rc;

	show_progress(&progress, o, o->out ? o->out : o->base, restore_passes);
	if (opts.out)
		stop_signal_catch();
	rc = rj_history_restore(&opts, &r->facts, &r->report, &r->err);
	progress_clear(&progress);
	return rc;
}

/* What is said of the logs at a URL, or of several bases. */
static int run_holds(const struct options *o)
{
	struct json_object *top = o->json ? json_object_new_object() : NULL;
	struct rj_error err = {0};
	int rc = o->command == COMMAND_LS ? holds_ls(o, top, &err)
		 : o->keep && !o->url ? expire_bases(o, top, &err)
					  : holds_expire(o, top, &err);

	if (rc)
		complain(err.msg);
	if (rc && top)
		add_text(top, "error", err.msg);
	if (top)
		json_show(top, JSON_C_TO_STRING_PRETTY);
	return rc;
}

/* For rjctl. */
static void note_history(const struct result *r)
{
	bool to_end = !r->rc && r->o->at.kind == RJ_AT_LATEST;

	note_end(r->o->base, &r->facts, to_end, ended_why(&r->report, r->rc, &r->err));
}

static int run(struct result *r)
{
	switch (r->o->command) {
	case COMMAND_DRILL:
		return r->o->every ? every(r->o) : drill(r->o);
	case COMMAND_EXPIRE:
		return run_holds(r->o);
	case COMMAND_FOLLOW:
	case COMMAND_FOLD:
		return follow(r->o);
	case COMMAND_PROMOTE:
		return promote(r->o);
	case COMMAND_BISECT:
		return bisect(r->o);
	case COMMAND_LOG:
		return log_changes(r->o);
	case COMMAND_FIND:
		return find_names(r->o);
	case COMMAND_UNDELETE:
		return undelete(r->o);
	case COMMAND_DIFF:
		return diff_moments(r->o);
	case COMMAND_LS:
		if (!r->o->base)
			return run_holds(r->o);
		r->rc = run_restore(r);
		note_history(r);
		if (!r->rc)
			r->rc = look_at_log(r);
		break;
	case COMMAND_BASE:
		r->rc = run_base(r);
		if (!r->rc && r->o->dry_run)
			r->rc = look_at_log(r);
		else if (!r->rc)
			note_base(r->o->out, &r->facts);
		break;
	case COMMAND_RESTORE:
		r->rc = run_restore(r);
		note_history(r);
		break;
	case COMMAND_MOUNT:
		r->rc = mount_moment(r);
		note_history(r);
		break;
	}
	print_result(r);
	rj_buf_free(&r->marks);
	kept_free(&r->kept);
	return r->rc;
}

int main(int argc, char **argv)
{
	struct options o;
	struct result r = {.o = &o};
	int rc;

	rj_fill_standard_fds();
	switch (options_parse(argc, argv, &o)) {
	case OPTIONS_DONE:
		return fflush(stdout) ? STATUS_FAILED : STATUS_GOOD;
	case OPTIONS_BAD:
		return STATUS_USAGE;
	case OPTIONS_RUN:
		break;
	}
	rc = run(&r);
	if (fflush(stdout) || ferror(stdout)) {
		complain("cannot write the results to standard output");
		return STATUS_FAILED;
	}
	return rc == -RJ_E_REFUSED ? STATUS_REFUSED : status_of(rc);
}
