// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A child with a mount namespace of its own mounts the restored volume: the mount and its
 * loop device end with the child, whatever ends it.
 */
#include "rjbackup/drill/drill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "history/restore.h"
#include "os/proc.h"
#include "rjbackup/drill/child.h"
#include "rjbackup/print.h"
#include "tools/progress.h"
#include "tools/stop-signal.h"
#include "util/environ.h"

static const char *const passes[] = {[1] = "copying", [2] = "applying the log"};

static int step(void *arg, int pass, uint64_t done, uint64_t total)
{
	return progress_step(arg, pass, done, total) || stop_signal();
}

static int restore(struct drill *d, const char *out, struct rj_moment at)
{
	struct progress progress;
	const struct rj_restore_opts opts = {
		.base = d->o->base,
		.out = out,
		.url = d->o->url,
		.keyfile = d->o->keyfile,
		.at = at,
		.until_break = d->o->at_random,
		.verify = RJ_VERIFY_FULL,
		.progress = step,
		.arg = &progress,
	};
	int rc;

	progress_init(&progress, d->o->base, -1, d->o->json, passes);
	rc = rj_history_restore(&opts, &d->facts, &d->report, &d->err);
	progress_clear(&progress);
	return rc;
}

/* A moment between the first and the last one. */
static int draw(struct drill *d, struct rj_moment *at)
{
	int rc = restore(d, NULL, *at);
	int64_t from = d->report.earliest.time_ns, to = d->report.reached.time_ns;
	uint64_t r = 0;

	d->latest_ns = to;
	if (!rc && rj_random_bytes(&r, sizeof(r)))
		rc = rj_fail(&d->err, RJ_E_IO, "cannot get random bytes");
	/* without two commits there is only the latest moment */
	if (rc || !from || from >= to)
		return rc;
	at->kind = RJ_AT_TIME;
	at->time_ns = from + (int64_t)(r % (uint64_t)(to - from));
	return 0;
}

static int mount_volume(const char *volume, const char *dir)
{
	struct rj_error err;
	struct rj_buf program = {0};
	int status = 128;

	if (rj_proc_find("mount", &program, &err)) {
		complain(err.msg);
	} else {
		/* ext3 without a journal is ext2 to mount(8), and no ext3 to the kernel */
		const char *const argv[] = {(char *)program.data, "-i", "-t", "ext4", "-o",
			"loop,ro,noload,nosuid,nodev", volume, dir, NULL};

		status = child_program(argv);
	}
	rj_buf_free(&program);
	return status;
}

/* In the child. */
static int look(void *arg)
{
	struct drill *d = arg;

	if (mount_volume(d->volume, d->dir))
		return 1;
	d->looked->mounted_ns = rj_monotonic_ns();
	if (d->o->compare)
		d->looked->unread = compare(d->o->compare, d->dir, d->report.settled_ns,
			&d->looked->files);
	if (d->o->exec)
		d->looked->exec_status = child_shell(d->o->exec, d->dir);
	return 0;
}

/* No file that could have differed was looked at: that proves nothing. */
static int nothing_compared(struct drill *d)
{
	if (!d->report.settled_ns)
		return rj_fail(&d->err, RJ_E_REFUSED,
			"--compare=%s: nothing was compared: before the restored commit the log has no other one, so that of no file it is known that it is older: restore a later moment",
			d->o->compare);
	return rj_fail(&d->err, RJ_E_REFUSED,
		"--compare=%s: nothing was compared: all %llu files there have changed since the restored moment: restore a later one",
		d->o->compare, (unsigned long long)d->looked->files.newer);
}

static int judge(struct drill *d, int status)
{
	const struct looked *l = d->looked;

	if (status || !l->mounted_ns)
		return rj_fail(&d->err, RJ_E_IO,
			"the restored volume could not be mounted and looked at");
	if (l->unread)
		return rj_fail(&d->err, RJ_E_IO, "--compare=%s: not compared", d->o->compare);
	if (l->files.different)
		return rj_fail(&d->err, RJ_E_CORRUPT,
			"%llu files differ from %s, where they have not changed since",
			(unsigned long long)l->files.different, d->o->compare);
	if (l->exec_status > 0)
		return rj_fail(&d->err, RJ_E_CORRUPT, "the command ended with status %d: %s",
			l->exec_status, d->o->exec);
	return d->o->compare && !l->files.same ? nothing_compared(d) : 0;
}

/* What a loss of the volume would have cost, by what the log says; < 0: not known. */
static int64_t rpo(const struct rj_history_report *r, int64_t now)
{
	int64_t age = now - r->reached.time_ns;

	if (!r->later || age < 0)
		return 0;
	return r->reached.time_ns ? age : -1;
}

static int restore_and_look(struct drill *d)
{
	struct rj_moment at = d->o->at;
	int64_t began = rj_monotonic_ns(), now = rj_realtime_ns();
	int rc = 0, status = 0;
	char volume[4096];
	struct stat st;

	snprintf(volume, sizeof(volume), "%s/volume", d->dir);
	d->volume = volume;
	if (d->o->at_random)
		rc = draw(d, &at);
	if (!rc)
		rc = restore(d, volume, at);
	if (rc)
		return rc;
	if (d->latest_ns < d->report.reached.time_ns)
		d->latest_ns = d->report.reached.time_ns;
	d->rpo_ns = rpo(&d->report, now);
	d->bytes = stat(volume, &st) ? 0 : (uint64_t)st.st_blocks * 512;
	rc = child_run(look, d, &status, &d->err);
	if (!rc)
		rc = judge(d, status);
	d->rto_ns = (d->looked->mounted_ns ? d->looked->mounted_ns : rj_monotonic_ns()) - began;
	unlink(volume);
	return rc;
}

int drill(const struct options *o)
{
	struct drill d = {.o = o, .rpo_ns = -1};
	char dir[3072];

	d.dir = dir;
	d.looked = mmap(NULL, sizeof(*d.looked), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (d.looked == MAP_FAILED) {
		complain("out of memory");
		return -RJ_E_NOMEM;
	}
	d.looked->exec_status = -1;
	stop_signal_catch();
	snprintf(dir, sizeof(dir), "%s/rjbackup-drill.XXXXXX", o->scratch);
	if (!mkdtemp(dir)) {
		d.rc = rj_fail_errno(&d.err, errno, "%s: cannot make a folder there",
			o->scratch);
	} else {
		d.rc = restore_and_look(&d);
		if (rmdir(dir) && !d.rc)
			d.rc = rj_fail_errno(&d.err, errno, "%s: cannot remove", dir);
	}
	/* what was stopped says nothing */
	if (d.rc != -RJ_E_CANCELLED) {
		note_drill(&d);
		note_end(o->base, &d.facts, !d.rc && !o->at_random && o->at.kind == RJ_AT_LATEST,
			ended_why(&d.report, d.rc, &d.err));
	}
	drill_print(&d);
	munmap(d.looked, sizeof(*d.looked));
	return d.rc;
}
