// SPDX-License-Identifier: GPL-2.0-or-later
/* mount.rj: recover if needed, start rjournald, mount. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ext4/check.h"
#include "ext4/volume.h"
#include "journal/move.h"
#include "kernel-options.h"
#include "options.h"
#include "os/fileio.h"
#include "os/proc.h"
#include "run.h"
#include "serve.h"
#include "tools/start/device.h"
#include "tools/start/sibling.h"
#include "xfs.h"
#include "xfs/xfs.h"

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
	if (o->log_url.len)
		return rj_fail(err, RJ_E_INVAL,
			"%s: logdev= is for XFS; this volume itself says where its journal is",
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

static const char *type_of(const struct rj_volume_facts *f)
{
	return f->ext4_features ? "ext4" : "ext3";
}

/* Refuse what mount(2) would refuse, before an epoch is claimed and a daemon
 * started for it. */
static int look_ahead(const struct rj_mount_options *o, const char *type,
	struct rj_error *err)
{
	int rc = run_check_dir(o->dir, err);

	if (!rc)
		rc = rj_mount_check_words(
			o->device, type, (char *)o->words.data, err);
	return rc ? rc : check_unused(o, err);
}

static int prepare(const struct rj_mount_options *o, struct rj_volume_facts *f,
	struct rj_error *err)
{
	int rc;

	if ((rc = run_wait_for_leaving(f->uuid, o->device, err)))
		return rc;
	if (rj_volume_verdict(f) == RJ_VERDICT_CLEAN)
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

static int mount_xfs(const struct rj_mount_options *o)
{
	struct rj_error err;
	int status = RJ_MOUNT_FAILED;

	return rj_mount_xfs(o, &status, &err) ? fail(&err) : status;
}

static int mount_volume(const struct rj_mount_options *o)
{
	struct rj_volume_facts f;
	struct run_what what = {.path_word = "journal_path", .uuid = f.uuid};
	struct rj_error err;
	char loop[64];
	int status = RJ_MOUNT_FAILED, rc;

	if (o->no_journal && !o->read_only && !o->remount) {
		rj_fail(&err, RJ_E_REFUSED,
			"%s: noload without ro would write past the journal: a crash then leaves what e2fsck has to repair; give -o ro,noload",
			o->device);
		return fail(&err);
	}
	if (finish_move(o, &err) || look(o, &f, &err))
		return fail(&err);
	what.type = type_of(&f);
	if (o->no_journal || o->remount)
		return run_mount(o, &what, &status, &err) ? fail(&err) : status;
	if (look_ahead(o, what.type, &err))
		return fail(&err);
	if (o->fake)
		return RJ_MOUNT_OK;
	rc = prepare(o, &f, &err);
	if (!rc)
		rc = rj_serve_until_unmount(o, f.uuid, loop, sizeof(loop), &err);
	/* that its UUID was changed, the log of a clean volume alone tells */
	if (rc && err.cause == RJ_CAUSE_RECOVER && !recover(o, &err) && !look(o, &f, &err))
		rc = rj_serve_until_unmount(o, f.uuid, loop, sizeof(loop), &err);
	if (rc)
		return fail(&err);
	if (o->verbose)
		printf("mount.rj: the journal of %s is %s\n", o->device, loop);
	what.loop = loop;
	rc = run_mount(o, &what, &status, &err);
	run_tell(o, f.uuid, rc || status ? "stop" : "mounted");
	return rc ? fail(&err) : status;
}

int main(int argc, char **argv)
{
	uint8_t uuid[RJ_UUID_BYTES];
	struct rj_mount_options o;
	struct rj_error err;
	int status;

	rj_fill_standard_fds();
	status = rj_mount_options_parse(argc, argv, &o);
	if (status == -1 && geteuid() != 0) {
		fprintf(stderr, "mount.rj: only root can mount\n");
		status = RJ_MOUNT_USAGE;
	}
	if (status == -1 && tool_device(o.device, &o.device, &err)) {
		fprintf(stderr, "mount.rj: %s\n", err.msg);
		status = RJ_MOUNT_FAILED;
	}
	if (status == -1)
		status = rj_xfs_uuid(o.device, uuid) ? mount_xfs(&o) : mount_volume(&o);
	rj_mount_options_release(&o);
	if (fflush(stdout) && status == RJ_MOUNT_OK)
		status = RJ_MOUNT_SYSTEM;
	return status;
}
