// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A read lease (fcntl(2)) on the old file: the kernel refuses it while a process has the file open
 * for writing, and lets a process that opens it later for writing wait. If one waits when the copy
 * has the name, the names are exchanged back before the lease ends, so that what the process writes
 * goes to the file that keeps the name.
 */
#include "rewrite.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/fileio.h"
#include "os/proc.h"
#include "util/environ.h"

#define NEW_NAME ".rjctl-XXXXXX"
/* A process that looked the name up before the exchange has this time to come to the lease. */
#define GRACE_NS 20000000LL

struct rewriting {
	const char *path;
	char copy[4096 + sizeof(NEW_NAME)]; /* beside PATH; "" if there is none */
	int fd; /* PATH, with a read lease */
	int flags; /* of chattr(1) */
};

static int check(struct rewriting *r, struct rj_error *err)
{
	struct stat st;

	if (fstat(r->fd, &st) || ioctl(r->fd, FS_IOC_GETFLAGS, &r->flags))
		return rj_fail_errno(err, errno, "%s", r->path);
	if (st.st_nlink != 1)
		return rj_fail(err, RJ_E_INVAL,
			"%s: it has %lu names, and a copy would be another file: copy it by hand", r->path,
			(unsigned long)st.st_nlink);
	if (r->flags & (FS_IMMUTABLE_FL | FS_APPEND_FL))
		return rj_fail(err, RJ_E_INVAL,
			"%s: immutable or append-only: chattr -ia first", r->path);
	if (fcntl(r->fd, F_SETLEASE, F_RDLCK))
		return errno == EAGAIN
			? rj_fail(err, RJ_E_BUSY, "%s: a process has it open for writing", r->path)
			: rj_fail_errno(err, errno, "%s: no lease", r->path);
	return 0;
}

/* Those that each owner may set; "j" is as in its directory. */
static int copy_flags(const struct rewriting *r, int fd, struct rj_error *err)
{
	int flags;

	if (ioctl(fd, FS_IOC_GETFLAGS, &flags))
		return rj_fail_errno(err, errno, "%s", r->copy);
	flags = (flags & ~FS_FL_USER_MODIFIABLE) | (r->flags & FS_FL_USER_MODIFIABLE);
	if (ioctl(fd, FS_IOC_SETFLAGS, &flags))
		return rj_fail_errno(err, errno, "%s: cannot change its flags", r->copy);
	return 0;
}

/* With cp: it knows all that a file has but the flags. */
static int copy(struct rewriting *r, struct rj_error *err)
{
	const char *argv[] = {NULL, "--archive", "--reflink=never", "--sparse=always", "-T", "--",
		r->path, r->copy, NULL};
	struct rj_proc_result result = {0};
	struct rj_buf cp = {0};
	int fd, rc, rc2;

	rc = rj_proc_find("cp", &cp, err);
	if (rc)
		return rc;
	argv[0] = (const char *)cp.data;
	rc = rj_proc_run(argv, RJ_PROC_CAPTURE | RJ_PROC_STDIN_NULL, &result, err);
	if (!rc && rj_proc_exit_status(&result))
		rc = rj_fail(err, RJ_E_IO, "%s: %.*s", r->path, (int)result.out.len,
			(const char *)result.out.data);
	rj_proc_release(&result);
	rj_buf_free(&cp);
	if (rc)
		return rc;
	fd = open(r->copy, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return rj_fail_errno(err, errno, "%s", r->copy);
	rc = copy_flags(r, fd, err);
	if (!rc)
		rc = rj_fsync(fd, r->copy, err);
	rc2 = rj_close(&fd, r->copy, rc ? NULL : err);
	return rc ? rc : rc2;
}

/* Make the name of the copy, which cp then fills. */
static int name_copy(struct rewriting *r, struct rj_error *err)
{
	const char *slash = strrchr(r->path, '/');
	int dir = slash ? (int)(slash + 1 - r->path) : 0, fd;

	if (snprintf(r->copy, sizeof(r->copy), "%.*s" NEW_NAME, dir, r->path) >=
		(int)sizeof(r->copy)) {
		r->copy[0] = 0;
		return rj_fail(err, RJ_E_INVAL, "%s: the path is too long", r->path);
	}
	fd = mkostemp(r->copy, O_CLOEXEC);
	if (fd < 0) {
		r->copy[0] = 0;
		return rj_fail_errno(err, errno, "%s: cannot make a copy beside it", r->path);
	}
	return rj_close(&fd, r->copy, err);
}

/* Does no process wait for the lease? */
static bool alone(const struct rewriting *r)
{
	return fcntl(r->fd, F_GETLEASE) == F_RDLCK;
}

static int exchange(struct rewriting *r, struct rj_error *err)
{
	if (renameat2(AT_FDCWD, r->copy, AT_FDCWD, r->path, RENAME_EXCHANGE))
		return rj_fail_errno(err, errno, "%s: cannot exchange it with its copy", r->path);
	return 0;
}

/* The copy takes the name, if no process wants to write to the old file. */
static int take_name(struct rewriting *r, struct rj_error *err)
{
	int rc;

	if (alone(r)) {
		rc = exchange(r, err);
		if (rc)
			return rc;
		rj_sleep_ns(GRACE_NS);
		if (alone(r))
			return 0;
		rc = exchange(r, err);
		if (rc) { /* the copy has the name, and the process the old file */
			rj_fail_suffix(err, "; the old file is %s", r->copy);
			r->copy[0] = 0;
			return rc;
		}
	}
	return rj_fail(err, RJ_E_BUSY, "%s: a process opened it for writing", r->path);
}

int rewrite_file(const char *path, struct rj_error *err)
{
	struct rewriting r = {.path = path,
		.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
	int rc;

	if (r.fd < 0)
		return rj_fail_errno(err, errno, "%s", path);
	signal(SIGIO, SIG_IGN); /* what a process that waits for the lease sends */
	rc = check(&r, err);
	if (!rc)
		rc = name_copy(&r, err);
	if (!rc)
		rc = copy(&r, err);
	if (!rc)
		rc = take_name(&r, err);
	if (r.copy[0] && unlink(r.copy) && !rc)
		rc = rj_fail_errno(err, errno, "%s: cannot remove", r.copy);
	close(r.fd); /* only read */
	return rc ? rc : rj_fsync_parent(path, err);
}
