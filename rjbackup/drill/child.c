// SPDX-License-Identifier: GPL-2.0-or-later
#include "rjbackup/drill/child.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/proc.h"
#include "rjbackup/print.h"
#include "tools/stop-signal.h"
#include "util/environ.h"

#define LOOK_NS 20000000LL
#define NOT_RUN 128
#define LEAVE_TRIES 100
#define LEAVE_NS    50000000LL

/* The child: its group ends with it, and gets no more than the signals that we pass on. */
static int be_child(int (*fn)(void *arg), void *arg, pid_t parent)
{
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	if (setpgid(0, 0) || prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		return NOT_RUN;
	/* stdout is for the result */
	if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return NOT_RUN;
	/* no mount gets out of here, and what is unmounted outside is not kept mounted in here */
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL)) {
		perror("rjbackup: cannot make a mount namespace");
		return NOT_RUN;
	}
	return fn(arg);
}

int child_run(int (*fn)(void *arg), void *arg, int *status, struct rj_error *err)
{
	pid_t parent = getpid(), child;
	int ended = 0;

	fflush(NULL);
	child = fork();
	if (!child)
		_exit(be_child(fn, arg, parent));
	if (child < 0)
		return rj_fail_errno(err, errno, "cannot fork");
	setpgid(child, child); /* as the child does: the first one has it done */
	while (!waitpid(child, &ended, WNOHANG)) {
		if (stop_signal())
			kill(-child, SIGKILL);
		rj_sleep_ns(LOOK_NS);
	}
	/* what a command left behind would keep the mount */
	kill(-child, SIGKILL);
	if (stop_signal())
		return rj_fail(err, RJ_E_CANCELLED, "stopped by signal %d", stop_signal());
	*status = WIFEXITED(ended) ? WEXITSTATUS(ended) : NOT_RUN;
	return 0;
}

int child_unmount(const char *dir)
{
	int i;

	for (i = 0; umount2(dir, 0) && errno == EBUSY && i < LEAVE_TRIES; i++)
		rj_sleep_ns(LEAVE_NS);
	return i == LEAVE_TRIES;
}

int child_program(const char *const argv[])
{
	struct rj_proc_result result;
	struct rj_error err;
	int status = NOT_RUN;

	if (rj_proc_run(argv, RJ_PROC_STDIN_NULL, &result, &err)) {
		complain(err.msg);
		return status;
	}
	status = rj_proc_exit_status(&result);
	rj_proc_release(&result);
	return status;
}

int child_shell(const char *command, const char *dir)
{
	const char *const argv[] = {"/bin/sh", "-c", command, "rjbackup", dir, NULL};

	return child_program(argv);
}
