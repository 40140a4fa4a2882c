// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A read lease (fcntl(2)) on the old file: the kernel refuses it while a process has the file open
 * for writing, and lets a process that opens it later for writing wait. If one waits when the copy
 * has the name, the names are exchanged back before the lease ends, so that what the process writes
 * goes to the file that keeps the name. A rename does not break the lease: so what each exchange
 * took from the name is looked at, and another program's file goes back and is never removed.
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
	int old; /* PATH, with a read lease */
	int new; /* the copy */
	ino_t old_number, new_number; /* no other file's: both are open */
	int flags; /* of chattr(1) */
};

static int check(struct rewriting *r, struct rj_error *err)
{
	struct stat st;

	if (fstat(r->old, &st) || ioctl(r->old, FS_IOC_GETFLAGS, &r->flags))
		return rj_fail_errno(err, errno, "%s", r->path);
	r->old_number = st.st_ino;
	if (st.st_nlink != 1)
		return rj_fail(err, RJ_E_INVAL,
			"%s: it has %lu names, and a copy would be another file: copy it by hand", r->path,
			(unsigned long)st.st_nlink);
	if (r->flags & (FS_IMMUTABLE_FL | FS_APPEND_FL))
		return rj_fail(err, RJ_E_INVAL,
			"%s: immutable or append-only: chattr -ia first", r->path);
	if (fcntl(r->old, F_SETLEASE, F_RDLCK))
		return errno == EAGAIN
			? rj_fail(err, RJ_E_BUSY, "%s: a process has it open for writing", r->path)
			: rj_fail_errno(err, errno, "%s: no lease", r->path);
	return 0;
}

/* Those that each owner may set; "j" is as in its directory. */
static int copy_flags(const struct rewriting *r, struct rj_error *err)
{
	int flags;

	if (ioctl(r->new, FS_IOC_GETFLAGS, &flags))
		return rj_fail_errno(err, errno, "%s", r->copy);
	flags = (flags & ~FS_FL_USER_MODIFIABLE) | (r->flags & FS_FL_USER_MODIFIABLE);
	if (ioctl(r->new, FS_IOC_SETFLAGS, &flags))
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
	struct stat st;
	int rc = rj_proc_find("cp", &cp, err);

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
	r->new = open(r->copy, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (r->new < 0 || fstat(r->new, &st))
		return rj_fail_errno(err, errno, "%s", r->copy);
	r->new_number = st.st_ino;
	rc = copy_flags(r, err);
	return rc ? rc : rj_fsync(r->new, r->copy, err);
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

/* Of the inode that NAME has; 0: none. */
static ino_t number(const char *name)
{
	struct stat st;

	return lstat(name, &st) ? 0 : st.st_ino;
}

/* Does no process wait for the lease? */
static bool alone(const struct rewriting *r)
{
	return fcntl(r->old, F_GETLEASE) == F_RDLCK;
}

static int disturbed(const struct rewriting *r, struct rj_error *err)
{
	return rj_fail(err, RJ_E_BUSY,
		"%s: a process opened it for writing or replaced it; run this again", r->path);
}

/*
 * PATH gets what the copy's name has, which gets the file WANT of PATH. If PATH had another one,
 * which a program has put there since, that goes back. RJ_E_BUSY: PATH has what a
 * program put there last.
 */
static int exchange(struct rewriting *r, ino_t want, struct rj_error *err)
{
	ino_t put;
	int rc = 0;

	for (;;) {
		put = number(r->copy);
		if (renameat2(AT_FDCWD, r->copy, AT_FDCWD, r->path, RENAME_EXCHANGE)) {
			rc = rj_fail_errno(
				err, errno, "%s: cannot exchange it with %s", r->path, r->copy);
			break;
		}
		if (number(r->copy) == want)
			break;
		rc = disturbed(r, err);
		want = put;
	}
	if (rc && number(r->copy) != r->new_number) {
		rj_fail_suffix(err, "; the file that was there before is %s", r->copy);
		r->copy[0] = 0;
	}
	return rc;
}

/* The copy takes the name, if no process wants to write to the old file or replaced it. */
static int take_name(struct rewriting *r, struct rj_error *err)
{
	int rc;

	if (number(r->path) != r->old_number || !alone(r))
		return disturbed(r, err);
	rc = exchange(r, r->old_number, err);
	if (rc)
		return rc;
	rj_sleep_ns(GRACE_NS);
	if (number(r->path) == r->new_number) {
		if (alone(r))
			return 0;
		rc = exchange(r, r->new_number, err);
	}
	return rc ? rc : disturbed(r, err);
}

/* The copy's name, if it is not "", has the copy at the end, or the file that was copied. */
static int replace(struct rewriting *r, struct rj_error *err)
{
	int rc = name_copy(r, err);

	if (!rc)
		rc = copy(r, err);
	if (!rc)
		rc = take_name(r, err);
	if (r->copy[0] && unlink(r->copy) && !rc)
		rc = rj_fail_errno(err, errno, "%s: cannot remove", r->copy);
	if (r->new >= 0)
		close(r->new); /* fsynced */
	return rc;
}

int rewrite_file(const char *path, struct rj_error *err)
{
	struct rewriting r = {.path = path, .new = -1,
		.old = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
	sigset_t all, before;
	int rc, rc2;

	if (r.old < 0)
		return rj_fail_errno(err, errno, "%s", path);
	signal(SIGIO, SIG_IGN); /* what a process that waits for the lease sends */
	/* Ctrl-C ends cp; rjctl only when the copy's name is gone */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	rc = check(&r, err);
	if (!rc)
		rc = replace(&r, err);
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(r.old); /* only read */
	rc2 = rj_fsync_parent(path, rc ? NULL : err); /* also of what went back */
	return rc ? rc : rc2;
}
