// SPDX-License-Identifier: GPL-2.0-or-later
#include "rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define CLAIM_TRIES 100

static int make_dir(const char *path, mode_t mode, struct rj_error *err)
{
	if (mkdir(path, mode) == -1 && errno != EEXIST)
		return rj_fail_errno(err, errno, "%s", path);
	return 0;
}

/* Is the locked file still the one that the path names? The daemon before us
 * may have removed it between our open and our lock. */
static bool still_there(int fd, const char *path)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && stat(path, &b) == 0 &&
	       a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

/* 1: locked; 0: try again. */
static int try_lock(struct rj_claimed_dir *d, struct rj_error *err)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int rc = make_dir(d->dir, 0700, err);

	if (rc)
		return rc;
	d->lock = open(d->lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (d->lock == -1 && errno == ENOENT)
		return 0;
	if (d->lock == -1)
		return rj_fail_errno(err, errno, "%s", d->lock_path);
	if (fcntl(d->lock, F_OFD_SETLK, &lock) == -1)
		rc = errno == EAGAIN || errno == EACCES
			     ? rj_fail(err, RJ_E_BUSY,
				       "another rjournald serves this volume")
			     : rj_fail_errno(err, errno, "%s", d->lock_path);
	else if (still_there(d->lock, d->lock_path))
		return 1;
	close(d->lock);
	d->lock = -1;
	return rc;
}

static int clear_leftovers(struct rj_claimed_dir *d, struct rj_error *err)
{
	int tries = CLAIM_TRIES;

	/* we hold the lock: whatever is mounted here is a dead daemon's */
	while (umount2(d->mnt, MNT_DETACH) == 0 && --tries)
		;
	if (unlink(d->control) == -1 && errno != ENOENT)
		return rj_fail_errno(err, errno, "%s", d->control);
	return make_dir(d->mnt, 0700, err);
}

int rj_claim_dir(const uint8_t volume_uuid[RJ_UUID_BYTES],
	struct rj_claimed_dir *out, struct rj_error *err)
{
	struct rj_claimed_dir d = {.lock = -1};
	int rc, tries = CLAIM_TRIES;

	if ((rc = rj_rundir_path(volume_uuid, NULL, d.dir, err)) ||
		(rc = rj_rundir_path(volume_uuid, "mnt", d.mnt, err)) ||
		(rc = rj_rundir_path(volume_uuid, "control", d.control, err)) ||
		(rc = rj_rundir_path(volume_uuid, "lock", d.lock_path, err)) ||
		(rc = make_dir(rj_rundir_root(), 0755, err)))
		return rc;
	while (!(rc = try_lock(&d, err)) && --tries)
		;
	if (rc < 0)
		return rc;
	if (!rc)
		return rj_fail(err, RJ_E_BUSY, "%s: cannot be locked", d.dir);
	rc = clear_leftovers(&d, err);
	if (!rc && (ftruncate(d.lock, 0) == -1 ||
			   dprintf(d.lock, "%d\n", (int)getpid()) < 0))
		rc = rj_fail_errno(err, errno, "%s", d.lock_path);
	if (rc) {
		close(d.lock);
		return rc;
	}
	*out = d;
	return 0;
}

void rj_release_dir(struct rj_claimed_dir *d)
{
	if (d->lock == -1)
		return;
	unlink(d->control);
	rmdir(d->mnt);
	/* the lock's name goes first, the lock itself with the close */
	unlink(d->lock_path);
	rmdir(d->dir);
	close(d->lock);
	d->lock = -1;
}
