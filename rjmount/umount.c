// SPDX-License-Identifier: GPL-2.0-or-later
/* umount.rj: unmount, and wait until rjournald has shipped the last of it. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ext4/volume.h"

#include "options.h"
#include "os/holder.h"
#include "os/mountinfo.h"
#include "os/proc.h"
#include "os/rundir.h"
#include "util/environ.h"
#include "xfs/xfs.h"

#define NS_PER_S     1000000000LL
#define WAIT_NS      (30 * NS_PER_S)
#define WAIT_SAY_NS  (2 * NS_PER_S)
#define WAIT_TICK_NS 5000000LL

static int fail(const struct rj_error *err)
{
	fprintf(stderr, "umount.rj: %s\n", err->msg);
	return RJ_MOUNT_FAILED;
}

static int run_umount(
	const struct rj_mount_options *o, int *status, struct rj_error *err)
{
	const char *argv[5 + RJ_PASS_MAX];
	struct rj_proc_result r = {0};
	struct rj_buf path = {0};
	unsigned n = 0, i;
	int rc = rj_proc_find("umount", &path, err);

	if (!rc) {
		argv[n++] = (char *)path.data;
		argv[n++] = "-i";
		for (i = 0; i < o->pass_count; i++)
			argv[n++] = o->pass[i];
		argv[n++] = "--";
		argv[n++] = o->dir;
		argv[n] = NULL;
		fflush(NULL);
		rc = rj_proc_run(argv, 0, &r, err);
	}
	if (!rc)
		*status = rj_proc_exit_status(&r);
	rj_proc_release(&r);
	rj_buf_free(&path);
	return rc;
}

/* The volume SOURCE is unmounted; its daemon ends by itself, unless a copy of the mount
 * is left in another namespace. */
static void wait_for_daemon(const uint8_t uuid[RJ_UUID_BYTES],
	const char *source, const char *dir)
{
	int64_t start = rj_monotonic_ns(), waited = 0;
	char held[RJ_HOLDER_TEXT];
	struct rj_holder h;
	bool said = false;

	while (waited < WAIT_NS && rj_rundir_served(uuid)) {
		rj_sleep_ns(WAIT_TICK_NS);
		waited = rj_monotonic_ns() - start;
		if (!said && waited > WAIT_SAY_NS) {
			if (rj_holder_find(source, &h)) {
				fprintf(stderr,
					"umount.rj: %s is unmounted, but rjournald serves the volume on: it is %s\n",
					dir, rj_holder_text(&h, held));
				return;
			}
			fprintf(stderr,
				"umount.rj: %s: waiting until rjournald has "
				"shipped the rest of the journal\n",
				dir);
			said = true;
		}
	}
	if (waited >= WAIT_NS)
		fprintf(stderr,
			"umount.rj: %s is unmounted, but rjournald is still "
			"busy; see 'rjctl status'\n",
			dir);
}

static int unmount(const struct rj_mount_options *o)
{
	struct rj_volume_facts facts = {0};
	struct rj_volume *v = NULL;
	struct rj_error err;
	char source[4096] = "";
	int status, rc;

	/* whatever it is, umount(8) says best what is wrong with it */
	if (rj_mountinfo_source(o->dir, source, sizeof(source)) &&
		!rj_volume_open(source, 0, NULL, &v, &err)) {
		facts = *rj_volume_facts(v);
		rj_rundir_of(source, facts.uuid, facts.uuid);
		if (rj_volume_close(v, &err))
			facts.has_sbx = false;
	} else if (rj_xfs_uuid(source, facts.uuid)) {
		facts.has_sbx = true; /* the wait for its daemon, if it has one, needs no more */
	}
	rc = run_umount(o, &status, &err);
	if (rc)
		return fail(&err);
	if (!status && facts.has_sbx && !o->lazy &&
		!rj_mountinfo_mounted(source))
		wait_for_daemon(facts.uuid, source, o->dir);
	return status;
}

int main(int argc, char **argv)
{
	struct rj_mount_options o;
	int status = rj_umount_options_parse(argc, argv, &o);

	if (status == -1)
		status = unmount(&o);
	rj_mount_options_release(&o);
	if (fflush(stdout) && status == RJ_MOUNT_OK)
		status = RJ_MOUNT_SYSTEM;
	return status;
}
