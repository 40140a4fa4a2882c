// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The child that freezes is the one that thaws: it ignores the signals that end the parent,
 * leaves its process group, which timeout(1) kills as a whole, and sees by its pipe that the
 * parent is gone. Should the child be killed, the parent sees
 * that and thaws.
 */
#include "freeze.h"

#include <errno.h>
#include <linux/fs.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THAWED, LATE, NOT_THAWED };

static int thaw(int fd)
{
	int rc;

	do
		rc = ioctl(fd, FITHAW, 0);
	while (rc && errno == EINTR);
	return rc ? errno : 0;
}

/* Until DATA or the end comes on FD; false: not within LIMIT_MS. */
static bool comes(int fd, int limit_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int n;

	do /* no signal is handled here */
		n = poll(&p, 1, limit_ms);
	while (n < 0 && errno == EINTR);
	return n != 0;
}

static int child(int dir_fd, int from, int to, int limit_ms)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP};
	int failed = 0;
	bool late;
	size_t i;

	for (i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	setsid(); /* a forked process leads no group, so that this does not fail */
	if (ioctl(dir_fd, FIFREEZE, 0))
		failed = errno;
	/* a parent that is gone has closed its end */
	if (write(to, &failed, sizeof(failed)) < 0 && failed)
		return NOT_THAWED;
	if (failed)
		return THAWED;
	late = !comes(from, limit_ms);
	if (thaw(dir_fd))
		return NOT_THAWED;
	return late ? LATE : THAWED;
}

static void close_both(int fd[2])
{
	close(fd[0]);
	close(fd[1]);
}

static int start(struct freeze *f, int limit_ms, struct rj_error *err)
{
	int down[2], up[2];

	if (pipe(down))
		return rj_fail_errno(err, errno, "cannot make a pipe");
	if (pipe(up)) {
		close_both(down);
		return rj_fail_errno(err, errno, "cannot make a pipe");
	}
	f->child = fork();
	if (!f->child) {
		close(down[1]);
		close(up[0]);
		_exit(child(f->dir_fd, down[0], up[1], limit_ms));
	}
	close(down[0]);
	close(up[1]);
	f->to = down[1];
	f->from = up[0];
	return f->child < 0 ? rj_fail_errno(err, errno, "cannot fork") : 0;
}

/* Its child is told, and not waited for: it may hang in the freeze. */
static void let_go(struct freeze *f)
{
	close(f->to);
	close(f->from);
	f->to = f->from = -1;
}

int freeze_begin(struct freeze *f, int dir_fd, const char *dir, int limit_ms,
	struct rj_error *err)
{
	int failed = EIO, rc;

	*f = (struct freeze){.dir = dir, .dir_fd = dir_fd, .to = -1, .from = -1};
	rc = start(f, limit_ms, err);
	if (rc) {
		let_go(f);
		return rc;
	}
	if (!comes(f->from, limit_ms)) {
		let_go(f);
		return rj_fail(err, RJ_E_UNREACHABLE,
			"%s: cannot be frozen within %d s (does the store answer?): it is thawed as soon as it is frozen",
			dir, limit_ms / 1000);
	}
	if (read(f->from, &failed, sizeof(failed)) != sizeof(failed)) {
		let_go(f);
		thaw(dir_fd); /* the child was killed */
		return rj_fail(err, RJ_E_IO, "%s: not frozen: a process was killed", dir);
	}
	if (!failed)
		return 0;
	let_go(f);
	waitpid(f->child, NULL, 0);
	if (failed == EBUSY)
		return rj_fail(err, RJ_E_BUSY, "%s: is frozen already", dir);
	return rj_fail_errno(err, failed, "%s: cannot freeze", dir);
}

int freeze_end(struct freeze *f, struct rj_error *err)
{
	int status = 0, e;
	pid_t got;

	let_go(f);
	do
		got = waitpid(f->child, &status, 0);
	while (got < 0 && errno == EINTR);
	if (got == f->child && WIFEXITED(status)) {
		if (WEXITSTATUS(status) == THAWED)
			return 0;
		if (WEXITSTATUS(status) == LATE)
			return rj_fail(err, RJ_E_UNREACHABLE,
				"%s: was frozen for the longest time that is allowed, and is thawed: try again when the store is faster",
				f->dir);
	}
	e = thaw(f->dir_fd);
	return rj_fail(err, RJ_E_IO,
		e && e != EINVAL ? "%s: cannot be thawed: %s (fsfreeze -u)"
				 : "%s: was thawed by another process: try again",
		f->dir, strerror(e));
}
