// SPDX-License-Identifier: GPL-2.0-or-later
/* Make, lock and clear the runtime directory of a volume. */
#include "rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/proc.h"
#include "os/ublk/ublkdev.h"
#include "place.h"
#include "rjournald/front/fs-shutdown.h"
#include "util/bytes.h"
#include "util/environ.h"
#include "util/log.h"

#define CLAIM_TRIES   100
#define DYING_NS      5000000000LL
#define DYING_TICK_NS 5000000LL

/* Whose is what is there already? A link, or what others own, is not ours. */
static int make_dir(const char *path, mode_t mode, struct rj_error *err)
{
	struct stat st;

	if (!mkdir(path, mode))
		return 0;
	if (errno != EEXIST || lstat(path, &st))
		return rj_fail_errno(err, errno, "%s", path);
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid())
		return rj_fail(err, RJ_E_REFUSED,
			"%s: not a directory of ours: remove it", path);
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
	d->lock = open(d->lock_path,
		O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
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

/* All processes of a daemon were killed, the warden too (we hold the lock): what waits for its
 * device fails now, as if the warden had lived. */
static void clear_ublk(const struct rj_claimed_dir *d, const char *device)
{
	struct rj_fs_shutdown *s = NULL;
	FILE *f = fopen(d->ublk, "re");
	struct rj_error err;
	unsigned number;
	int n = f ? fscanf(f, "%u", &number) : 0;

	if (f)
		fclose(f);
	if (n != 1 || !rj_ublk_is_of(number, d->owner))
		return;
	if (device && !rj_fs_shutdown_new(device, &s, &err))
		rj_fs_shutdown_wait(s);
	rj_fs_shutdown_free(s);
	if (rj_ublk_delete(number, &err))
		rj_log(RJ_LOG_WARNING, "%s", err.msg);
}

static int clear_leftovers(struct rj_claimed_dir *d, const char *device,
	struct rj_error *err)
{
	int tries = CLAIM_TRIES;

	clear_ublk(d, device);
	rj_place_clear(d);
	/* we hold the lock: whatever is mounted here is a dead daemon's */
	while (umount2(d->mnt, MNT_DETACH | UMOUNT_NOFOLLOW) == 0 && --tries)
		;
	if (unlink(d->control) == -1 && errno != ENOENT)
		return rj_fail_errno(err, errno, "%s", d->control);
	if (unlink(d->metrics) == -1 && errno != ENOENT)
		return rj_fail_errno(err, errno, "%s", d->metrics);
	return make_dir(d->mnt, 0700, err);
}

int rj_claimed_dir_again(const uint8_t volume_uuid[RJ_UUID_BYTES], int lock,
	struct rj_claimed_dir *out, struct rj_error *err)
{
	struct rj_claimed_dir d = {.lock = lock};
	int rc;

	if ((rc = rj_rundir_path(volume_uuid, NULL, d.dir, err)) ||
		(rc = rj_rundir_path(volume_uuid, "mnt", d.mnt, err)) ||
		(rc = rj_rundir_path(volume_uuid, "control", d.control, err)) ||
		(rc = rj_rundir_path(volume_uuid, "metrics", d.metrics, err)) ||
		(rc = rj_rundir_path(volume_uuid, "ublk", d.ublk, err)) ||
		(rc = rj_rundir_path(volume_uuid, "lock", d.lock_path, err)))
		return rc;
	d.owner = rj_get_le64(volume_uuid);
	*out = d;
	return 0;
}

/* Is the process that wrote itself into the lock file gone, or all but? */
static bool holder_is_dead(const struct rj_claimed_dir *d)
{
	FILE *f = fopen(d->lock_path, "re");
	long pid = 0;

	if (f && fscanf(f, "%ld", &pid) != 1)
		pid = 0;
	if (f)
		fclose(f);
	return pid > 0 && strchr("ZX", rj_proc_state(pid)); /* or 0 */
}

/* Write which daemon serves which device, a line each. */
static int sign(const struct rj_claimed_dir *d, pid_t pid, const char *device,
	struct rj_error *err)
{
	char *real = device ? realpath(device, NULL) : NULL;
	int rc = 0;

	if (ftruncate(d->lock, 0) == -1 ||
		dprintf(d->lock, "%d\n", (int)pid) < 0 ||
		(device && dprintf(d->lock, "%s\n", real ? real : device) < 0))
		rc = rj_fail_errno(err, errno, "%s", d->lock_path);
	free(real);
	return rc;
}

int rj_claim_dir(const uint8_t volume_uuid[RJ_UUID_BYTES], pid_t pid,
	const char *device, struct rj_claimed_dir *out, struct rj_error *err)
{
	int64_t until = rj_monotonic_ns() + DYING_NS;
	struct rj_claimed_dir d = {0};
	int rc, tries = CLAIM_TRIES;

	rc = rj_claimed_dir_again(volume_uuid, -1, &d, err);
	if (!rc)
		rc = make_dir(rj_rundir_root(), 0755, err);
	if (rc)
		return rc;
	/* a daemon that was just killed takes a moment to let go */
	while (!(rc = try_lock(&d, err)) ||
		(rc == -RJ_E_BUSY && rj_monotonic_ns() < until &&
			holder_is_dead(&d))) {
		if (rc)
			rj_sleep_ns(DYING_TICK_NS);
		else if (!--tries)
			break;
	}
	if (rc < 0)
		return rc;
	if (!rc)
		return rj_fail(err, RJ_E_BUSY, "%s: cannot be locked", d.dir);
	rc = clear_leftovers(&d, device, err);
	if (!rc)
		rc = sign(&d, pid, device, err);
	if (rc) {
		close(d.lock);
		return rc;
	}
	*out = d;
	return 0;
}

int rj_claimed_dir_note(
	const struct rj_claimed_dir *d, unsigned number, struct rj_error *err)
{
	FILE *f = fopen(d->ublk, "we");

	if (f)
		fprintf(f, "%u\n", number);
	return !f || fclose(f) ? rj_fail_errno(err, errno, "%s", d->ublk) : 0;
}

void rj_release_dir(struct rj_claimed_dir *d)
{
	if (d->lock == -1)
		return;
	rj_place_clear(d);
	unlink(d->control);
	unlink(d->metrics);
	unlink(d->ublk);
	rmdir(d->mnt);
	/* the lock's name goes first, the lock itself with the close */
	unlink(d->lock_path);
	rmdir(d->dir);
	close(d->lock);
	d->lock = -1;
}
