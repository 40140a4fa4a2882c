// SPDX-License-Identifier: GPL-2.0-or-later
/* --all: the same change of many volumes, each in a process of its own, so that one that fails, or
 * is killed, ends no other. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fileio.h"
#include "rjtune.h"
#include "tools/json.h"
#include "tools/start/device.h"
#include "tools/stop-signal.h"
#include "volumes.h"

struct child {
	pid_t pid; /* 0: none */
	int from;  /* reads its struct result */
	const char *device;
};

struct all {
	const struct options *o;
	FILE *report;	     /* NULL: none */
	struct child *child; /* o->jobs of them */
	unsigned running;
	size_t done, there, failed; /* volumes */
	size_t by_status[STATUS_USAGE + 1];
	bool unsaid; /* a line could not be written */
};

/* ---- in the child ---- */

/* A move was cut off by a crash or a signal: it is finished or taken back first. */
static void go_on(const struct options *o, struct result *r)
{
	bool finished;

	if (o->dry_run) {
		rj_fail(&r->err, r->err.code,
			"%s: a move was cut off, and would be finished or taken back first; what follows can be told only then",
			o->device);
		return;
	}
	*r = (struct result){0};
	change_resume(o, r);
	if (r->failed)
		return;
	finished = r->move.outcome == RJ_MOVED_DONE;
	*r = (struct result){0};
	change(o, r);
	if (finished && r->move.outcome == RJ_MOVED_NOTHING && !r->failed)
		r->move.outcome = RJ_MOVED_DONE;
}

static void change_one(struct options *o, struct result *r)
{
	struct rj_buf words = {0};
	int rc = tool_device(o->device, &o->device, &r->err);

	if (!rc && o->journal_words)
		rc = volumes_expand(o->journal_words, o->device, &words, &r->err);
	if (!rc && o->journal_words)
		rc = rj_journal_opts_parse((const char *)words.data, &o->journal, &r->err);
	rj_buf_free(&words);
	if (rc) {
		r->failed = true;
		r->status = move_status(NULL, rc);
		return;
	}
	change(o, r);
	if (r->failed && r->move.pending && !o->resume)
		go_on(o, r);
}

static void be_child(const struct options *o, const char *device, int to)
{
	static struct result r;
	struct options own = *o;

	/* a move that has begun comes to its end */
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	own.device = device;
	own.quiet = true;
	rj_log_set(report_log, &own);
	change_one(&own, &r);
	fflush(NULL);
	_exit(rj_write_all(to, &r, sizeof(r), "pipe", NULL) != 0);
}

/* ---- in the parent ---- */

static const char *word_of(const struct options *o, const struct result *r)
{
	if (r->failed)
		return status_name(r->status);
	switch (r->move.outcome) {
	case RJ_MOVED_NOTHING:
		return "nothing-to-do";
	case RJ_MOVED_WOULD:
		return "would-move";
	case RJ_MOVED_ROLLED_BACK:
		return "taken-back";
	default:
		return o->resume ? "finished" : "moved";
	}
}

static void tell(struct all *a, const char *device, const struct result *r)
{
	const char *why = r->failed ? r->err.msg : r->move.warning;
	char to[600] = "";

	if (r->failed) {
		a->failed++;
		a->by_status[r->status]++;
	} else if (r->move.outcome == RJ_MOVED_NOTHING) {
		a->there++;
	} else {
		a->done++;
	}
	if (a->report)
		report_json(a->report, device, r, true);
	if (a->o->json)
		report_json(stdout, device, r, true);
	else if (!a->o->quiet || r->failed) {
		if (!r->failed)
			rj_move_end_text(&r->move.to, to, sizeof(to));
		printf("%s\t%s%s%s%s%s\n", device, word_of(a->o, r), to[0] ? "\t" : "", to,
			why[0] ? "\t" : "", why);
	}
	a->unsaid |= fflush(stdout) || (a->report && fflush(a->report));
}

/* The result that the child wrote into its pipe before its end. */
static bool read_result(int fd, struct result *r)
{
	size_t have = 0;
	ssize_t n = 1;

	while (have < sizeof(*r) && n > 0) {
		n = read(fd, (char *)r + have, sizeof(*r) - have);
		have += n > 0 ? (size_t)n : 0;
		n = n == -1 && errno == EINTR ? 1 : n;
	}
	return have == sizeof(*r);
}

/* Wait for a child. NULL: it was none of ours (a shell may leave us one), or there is none. */
static struct child *wait_child(struct all *a, int *status)
{
	unsigned i;
	pid_t pid;

	while ((pid = waitpid(-1, status, 0)) == -1 && errno == EINTR)
		;
	for (i = 0; i < a->o->jobs; i++)
		if (a->child[i].pid && (a->child[i].pid == pid || pid == -1))
			return &a->child[i];
	return NULL;
}

/* Wait for one of the children, and tell of its volume. */
static void reap(struct all *a)
{
	static struct result r;
	int status = 0;
	struct child *c = wait_child(a, &status);
	bool read;

	if (!c)
		return;
	read = read_result(c->from, &r);
	close(c->from);
	if (!read) {
		r = (struct result){.failed = true,
			.status = rj_move_pending(c->device) ? STATUS_PENDING : STATUS_FAILED};
		rj_fail(&r.err, RJ_E_IO,
			"its process was ended by %s %d: the same command goes on from there",
			WIFSIGNALED(status) ? "signal" : "status",
			WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	}
	tell(a, c->device, &r);
	c->pid = 0;
	a->running--;
}

static int begin(struct all *a, const char *device, struct rj_error *err)
{
	struct child *c = a->child;
	int ends[2];

	while (c->pid)
		c++;
	if (pipe2(ends, O_CLOEXEC))
		return rj_fail_errno(err, errno, "pipe");
	fflush(NULL);
	c->pid = fork();
	if (c->pid == 0)
		be_child(a->o, device, ends[1]);
	close(ends[1]);
	if (c->pid == -1) {
		c->pid = 0;
		close(ends[0]);
		return rj_fail_errno(err, errno, "fork");
	}
	c->from = ends[0];
	c->device = device;
	a->running++;
	return 0;
}

static void summary(const struct all *a, size_t left)
{
	const char *would = a->o->dry_run ? "would move" : a->o->resume ? "finished" : "moved";
	const char *not = a->o->dry_run ? "would not" : "did not";
	const char *mark = ": ";
	size_t i;

	fprintf(stderr, "%zu %s", a->done, would);
	if (a->there)
		fprintf(stderr, ", %zu had nothing to do", a->there);
	fprintf(stderr, ", %zu %s", a->failed, not);
	for (i = 0; i <= STATUS_USAGE; i++)
		if (a->by_status[i]) {
			fprintf(stderr, "%s%zu %s", mark, a->by_status[i], status_name((enum status)i));
			mark = ", ";
		}
	if (left)
		fprintf(stderr, "; stopped, %zu not begun", left);
	fputc('\n', stderr);
}

static enum status run(struct all *a, const struct volumes *v)
{
	struct rj_error err;
	size_t next = 0;
	int rc = 0;

	if (v->count > 1 && a->o->journal_words && strstr(a->o->journal_words, "remote=") &&
		!strstr(a->o->journal_words, "%u") && !a->o->quiet)
		fprintf(stderr,
			"rjtune: the logs of %zu volumes get one name: with %%u in the URL each has its own\n",
			v->count);
	stop_signal_catch();
	signal(SIGCHLD, SIG_DFL); /* the program that started this one may have ignored it */
	while (a->running || (next < v->count && !stop_signal() && !rc)) {
		if (next < v->count && a->running < a->o->jobs && !stop_signal() && !rc) {
			rc = begin(a, v->names[next], &err);
			next += !rc;
		} else {
			reap(a);
		}
	}
	if (rc)
		fprintf(stderr, "rjtune: %s\n", err.msg);
	if (a->unsaid)
		fprintf(stderr, "rjtune: a result could not be written\n");
	if (!a->o->quiet)
		summary(a, v->count - next);
	return rc || a->failed || a->unsaid || next < v->count ? STATUS_FAILED : STATUS_OK;
}

enum status change_all(const struct options *o)
{
	struct all a = {.o = o};
	struct volumes v = {0};
	enum status status = STATUS_FAILED;
	struct rj_error err;
	int rc = volumes_read(o->all, &v, &err);

	if (!rc && o->report && !(a.report = fopen(o->report, "ae")))
		rc = rj_fail_errno(&err, errno, "%s", o->report);
	if (!rc && !(a.child = calloc(o->jobs, sizeof(*a.child))))
		rc = rj_fail(&err, RJ_E_NOMEM, "out of memory");
	if (!rc)
		status = run(&a, &v);
	if (a.report && fclose(a.report) && !rc)
		rc = rj_fail_errno(&err, errno, "%s", o->report);
	free(a.child);
	volumes_free(&v);
	if (rc) {
		fprintf(stderr, "rjtune: %s\n", err.msg);
		if (o->json)
			json_show_error(NULL, NULL, err.msg);
		return status == STATUS_OK ? STATUS_FAILED : move_status(NULL, rc);
	}
	return status;
}
