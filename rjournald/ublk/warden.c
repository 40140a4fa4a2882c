// SPDX-License-Identifier: GPL-2.0-or-later
#include "warden.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "os/ublk/ublkdev.h"
#include "rjournald/front/fs-shutdown.h"
#include "rjournald/handover/harden.h"
#include "util/log.h"

#define PIPE 3 /* its only descriptor but for the standard ones */

/* What goes through the pipe. */
struct word {
	uint64_t owner;
	uint64_t number; /* or RJ_WARDEN_NONE */
};

static void __attribute__((noreturn)) watch(const char *volume)
{
	struct rj_fs_shutdown *s = NULL;
	struct word w = {.number = RJ_WARDEN_NONE};
	struct rj_error err;
	ssize_t n;

	do
		n = read(PIPE, &w, sizeof(w));
	while (n > 0 || (n == -1 && errno == EINTR));
	if (w.number != RJ_WARDEN_NONE && rj_ublk_is_of((unsigned)w.number, w.owner)) {
		if (volume && !rj_fs_shutdown_new(volume, &s, &err))
			rj_fs_shutdown_wait(s);
		rj_ublk_delete((unsigned)w.number, &err);
	}
	_exit(0);
}

/* It runs while memory is short and the disk of its program may wait for it. */
static void __attribute__((noreturn)) be_warden(int from, const char *volume)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), i;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	setsid();
	prctl(PR_SET_NAME, "rjwarden");
	for (i = 0; i < PIPE; i++) /* the caller of mount.rj waits for their end */
		dup2(null, i);
	dup2(from, PIPE);
	close_range(PIPE + 1, ~0u, 0);
	rj_harden();
	if (mlockall(MCL_CURRENT | MCL_FUTURE) == -1)
		rj_log(RJ_LOG_DEBUG, "warden: memory is not locked");
	watch(volume);
}

int rj_warden_start(const char *volume, int *fd, struct rj_error *err)
{
	int pipes[2];
	pid_t child;

	if (pipe2(pipes, O_CLOEXEC) == -1)
		return rj_fail_errno(err, errno, "pipe");
	child = fork();
	if (!child)
		be_warden(pipes[0], volume);
	close(pipes[0]);
	if (child == -1) {
		close(pipes[1]);
		return rj_fail_errno(err, errno, "fork");
	}
	*fd = pipes[1];
	return 0;
}

void rj_warden_tell(int fd, unsigned number, uint64_t owner)
{
	const struct word w = {owner, number};

	if (write(fd, &w, sizeof(w)) != sizeof(w))
		rj_log(RJ_LOG_WARNING, "the warden has gone: should rjournald be killed, its device stays");
}
