// SPDX-License-Identifier: GPL-2.0-or-later
#include "xfs.h"

#include <stdio.h>
#include <string.h>

#include "kernel-options.h"
#include "run.h"
#include "serve.h"
#include "xfs/xfs.h"

static int look(const struct rj_mount_options *o, struct rj_xfs_facts *f,
	struct rj_error *err)
{
	int rc = rj_xfs_look(o->device, f, err);

	if (!rc)
		rc = rj_xfs_check(o->device, f, err);
	if (!rc && !o->remount && !o->log_url.len)
		rc = rj_fail(err, RJ_E_INVAL,
			"%s: where is the log of this XFS volume? -o logdev=URL says it, here or in fstab",
			o->device);
	return rc;
}

int rj_mount_xfs(const struct rj_mount_options *o, int *status, struct rj_error *err)
{
	struct rj_xfs_facts f;
	struct run_what what = {.type = "xfs", .path_word = "logdev", .uuid = f.uuid};
	char loop[64];
	int rc = look(o, &f, err);

	if (rc)
		return rc;
	if (o->remount)
		return run_mount(o, &what, status, err);
	rc = run_check_dir(o->dir, err);
	if (!rc)
		rc = rj_mount_check_words(
			o->device, what.type, (char *)o->words.data, err);
	if (!rc)
		rc = run_wait_for_leaving(f.uuid, o->device, err);
	if (!rc && o->fake)
		*status = RJ_MOUNT_OK;
	if (rc || o->fake)
		return rc;
	rc = rj_serve_until_unmount(o, f.uuid, loop, sizeof(loop), err);
	if (rc)
		return rc;
	if (o->verbose)
		printf("mount.rj: the log of %s is %s\n", o->device, loop);
	what.loop = loop;
	rc = run_mount(o, &what, status, err);
	run_tell(o, f.uuid, rc || *status ? "stop" : "mounted");
	return rc;
}
