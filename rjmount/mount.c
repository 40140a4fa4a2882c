// SPDX-License-Identifier: GPL-2.0-or-later
/* mount.rj: recover if needed, start rjournald, mount. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ext4/volume.h"
#include "journal/move.h"
#include "kernel-options.h"
#include "options.h"
#include "os/fileio.h"
#include "os/mountinfo.h"
#include "os/proc.h"
#include "os/rundir.h"
#include "said.h"
#include "serve.h"
#include "sibling.h"
#include "util/environ.h"

#define ASK_MS 5000
#define MOUNTING_MS 1000 /* without that answer the volume is mounted just the same */
/* A daemon of the mount before may still be on its way out. */
#define LEAVING_NS   10000000000LL
#define LEAVING_TICK 20000000LL
/* e2fsck and blkid open every block device of a machine for a moment, each of
 * them exclusively: the kernel then says that the device is busy. */
#define BUSY_NS   10000000000LL
#define BUSY_TICK 50000000LL

static int fail(const struct rj_error *err)
{
	fprintf(stderr, "mount.rj: %s\n", err->msg);
	return RJ_MOUNT_FAILED;
}

/* Facts, and refusals that need nothing but the superblock. */
static int look(const struct rj_mount_options *o, struct rj_volume_facts *f,
	struct rj_error *err)
{
	struct rj_volume *v = NULL;
	int rc = rj_volume_open(o->device, RJ_VOLUME_SALVAGE, NULL, &v, err);

	if (rc)
		return rc;
	*f = *rj_volume_facts(v);
	rc = rj_volume_close(v, err);
	if (rc)
		return rc;
	if (!f->has_sbx && f->sbx_error.code != RJ_E_NOTRJ) {
		*err = f->sbx_error;
		return rj_fail_prefix(err, "%s", o->device);
	}
	if (!f->has_sbx || f->sbx.placement != RJ_PLACE_REMOTE)
		return rj_fail(err, RJ_E_INVAL,
			"%s: this volume has no remote journal; mount it "
			"without -t rj",
			o->device);
	return 0;
}

/* Opened for writing, nothing written: refuses what is mounted. */
static int check_unused(const struct rj_mount_options *o, struct rj_error *err)
{
	struct rj_volume *v = NULL;
	int rc = rj_volume_open(o->device, RJ_VOLUME_WRITE | RJ_VOLUME_SALVAGE,
		NULL, &v, err);

	if (!rc)
		return rj_volume_close(v, err);
	/* a read-only device: it is not mounted for writing */
	return rc == -RJ_E_DENIED ? 0 : rc;
}

/* Wait for a daemon that is about to end. */
static int wait_for_leaving(const struct rj_volume_facts *f, const char *device,
	struct rj_error *err)
{
	int64_t end = rj_monotonic_ns() + LEAVING_NS;
	struct rj_buf answer = {0};
	bool leaving = true;

	while (leaving && rj_rundir_served(f->uuid)) {
		answer.len = 0;
		/* no answer: it has closed its socket, or not opened it yet */
		if (!rj_rundir_ask(f->uuid, "status", ASK_MS, &answer, NULL) &&
			!strstr((char *)answer.data, "\"stopping\""))
			leaving = false;
		if (rj_monotonic_ns() > end)
			leaving = false;
		rj_sleep_ns(LEAVING_TICK);
	}
	rj_buf_free(&answer);
	if (!leaving)
		return rj_fail(err, RJ_E_BUSY,
			"%s: a running rjournald serves this volume already, or a copy "
			"of it (rjtune -U gives one another UUID); "
			"'rjctl status' shows it, 'rjctl stop' ends it",
			device);
	return 0;
}

/* rjrecover -p: 0 or 1 as fsck(8) mean go on. */
static int recover(const struct rj_mount_options *o, struct rj_error *err)
{
	const char *argv[] = {NULL, "-p", "--", o->device, NULL};
	struct rj_proc_result r = {0};
	struct rj_buf path = {0};
	int rc, status;

	rc = rj_sibling_find("rjrecover", &path, err);
	if (!rc) {
		argv[0] = (char *)path.data;
		fflush(NULL);
		rc = rj_proc_run(argv, 0, &r, err);
	}
	if (!rc) {
		status = rj_proc_exit_status(&r);
		if (status > 1)
			rc = rj_fail(err, RJ_E_REFUSED,
				"%s: not mounted, since rjrecover -p ended "
				"with status %d",
				o->device, status);
	}
	rj_proc_release(&r);
	rj_buf_free(&path);
	return rc;
}

/* Did mount(8), which said TEXT, find the device in use, and nothing of the
 * volume is mounted? */
static bool busy(const struct rj_mount_options *o, const char *text)
{
	char dir[PATH_MAX];
	dev_t dev;

	return strstr(text, "already mounted or") &&
	       !rj_mountinfo_of_volume(o->device, dir, sizeof(dir), &dev);
}

/* Show what mount(8) said; WITH: the journal is there. */
static void show_said(const struct rj_mount_options *o, int status, bool with, char *text)
{
	const char *why = status && with ? rj_said(text, "mount", o->device) : NULL;

	if (why)
		fprintf(stderr, "mount.rj: %s: not mounted: %s; the kernel's log may say more\n",
			o->device, why);
	else
		fputs(text, status ? stderr : stdout);
}

/* The daemon looks whether the volume is still as it is served: a history goes on over
 * an unmount only if it is, and the mount comes at once. */
static void announce(const struct rj_volume_facts *f)
{
	struct rj_buf answer = {0};

	rj_rundir_ask(f->uuid, "mounting", MOUNTING_MS, &answer, NULL);
	rj_buf_free(&answer);
}

/* Run mount(8) as ARGV says until the device is not in use any more, and show
 * what it said at last. WITH: the volume whose journal is there; NULL: it is not. */
static int try_mount(const struct rj_mount_options *o, const char *const *argv,
	const struct rj_volume_facts *with, int *status, struct rj_error *err)
{
	int64_t end = rj_monotonic_ns() + BUSY_NS;
	struct rj_proc_result r = {0};
	bool again;
	int rc;

	fflush(NULL);
	do {
		rj_proc_release(&r);
		if (with)
			announce(with);
		rc = rj_proc_run(argv, RJ_PROC_CAPTURE, &r, err);
		if (rc)
			return rc;
		*status = rj_proc_exit_status(&r);
		again = *status && busy(o, (char *)r.out.data) &&
			rj_monotonic_ns() < end;
		if (again)
			rj_sleep_ns(BUSY_TICK);
	} while (again);
	show_said(o, *status, with != NULL, (char *)r.out.data);
	rj_proc_release(&r);
	return 0;
}

static const char *type_of(const struct rj_volume_facts *f)
{
	return f->ext4_features ? "ext4" : "ext3";
}

/*
 * Run the real mount(8), without helpers. LOOP NULL: without the journal.
 * umount(8) runs umount.rj for root because of helper=, and for other users
 * because of uhelper=. By _netdev systemd sees that the mounted ext3 or ext4
 * needs the network: at shutdown it unmounts the volume first.
 */
static int run_mount(const struct rj_mount_options *o,
	const struct rj_volume_facts *f, const char *loop, int *status,
	struct rj_error *err)
{
	const char *argv[13 + RJ_PASS_MAX];
	struct rj_buf path = {0}, words = {0};
	unsigned n = 0, i;
	int rc;

	rc = rj_proc_find("mount", &path, err);
	if (rc)
		goto out;
	if ((loop && rj_buf_printf(&words,
			     "journal_path=%s,_netdev,helper=rj,uhelper=rj",
			     loop)) ||
		(o->words.len &&
			rj_buf_printf(&words, "%s%s", words.len ? "," : "",
				(char *)o->words.data))) {
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
		goto out;
	}
	argv[n++] = (char *)path.data;
	argv[n++] = "-i";
	for (i = 0; i < o->pass_count; i++)
		argv[n++] = o->pass[i];
	argv[n++] = "-t";
	argv[n++] = type_of(f);
	if (words.len) {
		argv[n++] = "-o";
		argv[n++] = (char *)words.data;
	}
	argv[n++] = "--";
	argv[n++] = o->device;
	argv[n++] = o->dir;
	argv[n] = NULL;
	setenv("LC_ALL", "C", 1); /* its messages are read */
	rc = try_mount(o, argv, loop ? f : NULL, status, err);
out:
	rj_buf_free(&words);
	rj_buf_free(&path);
	return rc;
}

/* Tell the daemon that the mount is there (it lets go of the loop device, and
 * ends with the unmount), or is not to be. */
static void tell(const struct rj_volume_facts *f, const char *what)
{
	struct rj_buf answer = {0};
	struct rj_error err;

	/* one that has ended needs not be told to stop */
	if (rj_rundir_ask(f->uuid, what, ASK_MS, &answer, &err) &&
		!strcmp(what, "mounted"))
		fprintf(stderr, "mount.rj: warning: %s\n", err.msg);
	rj_buf_free(&answer);
}

static int check_dir(const char *dir, struct rj_error *err)
{
	struct stat st;

	if (stat(dir, &st) == -1)
		return rj_fail(err, RJ_E_INVAL, "%s: mount point: %s", dir,
			strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return rj_fail(err, RJ_E_INVAL,
			"%s: this mount point is not a directory", dir);
	return 0;
}

/* Refuse what mount(2) would refuse, before an epoch is claimed and a daemon
 * started for it. */
static int look_ahead(const struct rj_mount_options *o, const char *type,
	struct rj_error *err)
{
	int rc = check_dir(o->dir, err);

	if (!rc)
		rc = rj_mount_check_words(
			o->device, type, (char *)o->words.data, err);
	return rc ? rc : check_unused(o, err);
}

static int prepare(const struct rj_mount_options *o, struct rj_volume_facts *f,
	struct rj_error *err)
{
	int rc;

	if ((rc = wait_for_leaving(f, o->device, err)))
		return rc;
	if (f->super == RJ_SUPER_GOOD && !f->needs_recovery &&
		!f->broken_unmount &&
		!(f->sbx.incompat & RJ_SBX_INCOMPAT_LOG_VOID))
		return 0;
	if (o->verbose)
		printf("mount.rj: recovering %s\n", o->device);
	rc = recover(o, err);
	return rc ? rc : look(o, f, err);
}

/* A move of the journal that was cut off: rjrecover finishes it, before
 * anything else is believed of the superblock. */
static int finish_move(const struct rj_mount_options *o, struct rj_error *err)
{
	if (o->no_journal || o->remount || o->fake ||
		!rj_move_pending(o->device))
		return 0;
	if (o->verbose)
		printf("mount.rj: a move of the journal of %s was cut off\n",
			o->device);
	return recover(o, err);
}

static int mount_volume(const struct rj_mount_options *o)
{
	struct rj_volume_facts f;
	struct rj_error err;
	char loop[64];
	int status = RJ_MOUNT_FAILED, rc;

	if (finish_move(o, &err) || look(o, &f, &err))
		return fail(&err);
	if (o->no_journal || o->remount)
		return run_mount(o, &f, NULL, &status, &err) ? fail(&err)
							       : status;
	if (look_ahead(o, type_of(&f), &err))
		return fail(&err);
	if (o->fake)
		return RJ_MOUNT_OK;
	if (prepare(o, &f, &err) ||
		rj_serve_until_unmount(o, f.uuid, loop, sizeof(loop), &err))
		return fail(&err);
	if (o->verbose)
		printf("mount.rj: the journal of %s is %s\n", o->device, loop);
	rc = run_mount(o, &f, loop, &status, &err);
	tell(&f, rc || status ? "stop" : "mounted");
	return rc ? fail(&err) : status;
}

int main(int argc, char **argv)
{
	struct rj_mount_options o;
	int status;

	rj_fill_standard_fds();
	status = rj_mount_options_parse(argc, argv, &o);
	if (status == -1 && geteuid() != 0) {
		fprintf(stderr, "mount.rj: only root can mount\n");
		status = RJ_MOUNT_USAGE;
	}
	if (status == -1)
		status = mount_volume(&o);
	rj_mount_options_release(&o);
	if (fflush(stdout) && status == RJ_MOUNT_OK)
		status = RJ_MOUNT_SYSTEM;
	return status;
}
