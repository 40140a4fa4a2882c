// SPDX-License-Identifier: GPL-2.0-or-later
/* Run mount(8), and speak with the daemon around it. */
#include "run.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "os/mountinfo.h"
#include "os/proc.h"
#include "os/rundir.h"
#include "tools/drill-note.h"
#include "tools/start/said.h"
#include "util/environ.h"

#define ASK_MS 5000
/* The daemon, which has just begun, first notes its floor: on a busy disk that takes seconds.
 * Without that answer the volume is mounted just the same, and its history ends. */
#define MOUNTING_MS 30000
/* A daemon of the mount before may still be on its way out. */
#define LEAVING_NS   10000000000LL
#define LEAVING_TICK 20000000LL
/* e2fsck and blkid open every block device of a machine for a moment, each of
 * them exclusively: the kernel then says that the device is busy. */
#define BUSY_NS   10000000000LL
#define BUSY_TICK 50000000LL

int run_wait_for_leaving(const uint8_t volume_uuid[RJ_UUID_BYTES], const char *device,
	struct rj_error *err)
{
	uint8_t uuid[RJ_UUID_BYTES];
	int64_t end = rj_monotonic_ns() + LEAVING_NS;
	struct rj_buf answer = {0};
	bool leaving = true;

	while (leaving && rj_rundir_of(device, volume_uuid, uuid)) {
		answer.len = 0;
		/* no answer: it has closed its socket, or not opened it yet */
		if (!rj_rundir_ask(uuid, "status", ASK_MS, &answer, NULL) &&
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
static void announce(const uint8_t uuid[RJ_UUID_BYTES])
{
	int64_t end = rj_monotonic_ns() + MOUNTING_MS * 1000000LL;
	struct rj_buf answer = {0};

	while (rj_rundir_ask(uuid, "mounting", MOUNTING_MS, &answer, NULL) == -RJ_E_UNREACHABLE &&
		rj_monotonic_ns() < end)
		answer.len = 0;
	rj_buf_free(&answer);
}

/* Run mount(8) as ARGV says until the device is not in use any more, and show
 * what it said at last. WITH: the UUID of the volume whose journal is there; NULL: it is not. */
static int try_mount(const struct rj_mount_options *o, const char *const *argv,
	const uint8_t *with, int *status, struct rj_error *err)
{
	struct rj_proc_result r = {0};
	int64_t end = 0;
	bool again;
	int rc;

	fflush(NULL);
	do {
		rj_proc_release(&r);
		if (with)
			announce(with);
		if (!end)
			end = rj_monotonic_ns() + BUSY_NS;
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

/*
 * umount(8) runs umount.rj for root because of helper=, and for other users because of
 * uhelper=. By _netdev systemd sees that what is mounted needs the network: at shutdown it
 * unmounts the volume first.
 */
int run_mount(const struct rj_mount_options *o, const struct run_what *what,
	int *status, struct rj_error *err)
{
	const char *argv[13 + RJ_PASS_MAX];
	struct rj_buf path = {0}, words = {0};
	unsigned n = 0, i;
	int rc;

	rc = rj_proc_find("mount", &path, err);
	if (rc)
		goto out;
	if ((what->loop && rj_buf_printf(&words,
				   "%s=%s,_netdev,helper=rj,uhelper=rj",
				   what->path_word, what->loop)) ||
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
	argv[n++] = what->type;
	if (words.len) {
		argv[n++] = "-o";
		argv[n++] = (char *)words.data;
	}
	argv[n++] = "--";
	argv[n++] = o->device;
	argv[n++] = o->dir;
	argv[n] = NULL;
	setenv("LC_ALL", "C", 1); /* its messages are read */
	rc = try_mount(o, argv, what->loop ? what->uuid : NULL, status, err);
out:
	rj_buf_free(&words);
	rj_buf_free(&path);
	return rc;
}

void run_tell(const struct rj_mount_options *o, const uint8_t uuid[RJ_UUID_BYTES],
	const char *what)
{
	static const char no_history[] = "no history: ";
	char base[PATH_MAX] = "";
	struct rj_buf answer = {0};
	struct rj_error err;
	int rc = rj_rundir_ask(uuid, what, ASK_MS, &answer, &err);

	if (!rc && !strncmp((char *)answer.data, no_history, strlen(no_history)))
		rc = drill_note_end(
			uuid, (char *)answer.data + strlen(no_history), base, &err);
	if (base[0])
		fprintf(stderr,
			"mount.rj: warning: %s: the history of its base %s has ended: %s: make a new base\n",
			o->device, base, (char *)answer.data + strlen(no_history));
	/* one that has ended needs not be told to stop */
	if (rc && !strcmp(what, "mounted"))
		fprintf(stderr, "mount.rj: warning: %s\n", err.msg);
	rj_buf_free(&answer);
}

int run_check_dir(const char *dir, struct rj_error *err)
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
