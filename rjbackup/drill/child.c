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

int child_begin(int (*fn)(void *arg), void *arg, pid_t *child, struct rj_error *err)
{
	pid_t parent = getpid(), pid;

	fflush(NULL);
	pid = fork();
	if (!pid)
		_exit(be_child(fn, arg, parent));
	if (pid < 0)
		return rj_fail_errno(err, errno, "cannot fork");
	setpgid(pid, pid); /* as the child does: the first one has it done */
	*child = pid; /* not in the child, which may share it */
	return 0;
}

int child_look(pid_t child, bool *ended, int *status, struct rj_error *err)
{
	int how = 0, stopped = stop_signal();

	/* by SIGTERM: one that has children of this kind ends them before. Again at each look: a
	 * child that has just begun takes no note of it. */
	if (stopped)
		kill(-child, SIGTERM);
	*ended = waitpid(child, &how, WNOHANG) == child;
	if (!*ended)
		return 0;
	/* what a command left behind would keep the mount */
	kill(-child, SIGKILL);
	*status = WIFEXITED(how) ? WEXITSTATUS(how) : NOT_RUN;
	return stopped ? rj_fail(err, RJ_E_CANCELLED, "stopped by signal %d", stopped) : 0;
}

int child_run(int (*fn)(void *arg), void *arg, int *status, struct rj_error *err)
{
	bool ended = false;
	pid_t child;
	int rc = child_begin(fn, arg, &child, err);

	while (!rc && !ended) {
		rc = child_look(child, &ended, status, err);
		if (!rc && !ended)
			rj_sleep_ns(CHILD_LOOK_NS);
	}
	return rc;
}

int child_unmount(const char *dir)
{
	int i;

	for (i = 0; umount2(dir, 0) && errno == EBUSY && i < LEAVE_TRIES; i++)
		rj_sleep_ns(LEAVE_NS);
	if (i < LEAVE_TRIES)
		return 0;
	complain("the clone is still used by a process, which is ended now");
	return 1;
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
	/* the shell is the first process of a namespace: with it all end that it started */
	static const char own_proc[] =
		"mount -t proc proc /proc 2>/dev/null; exec /bin/sh -c \"$1\" rjbackup \"$2\"";
	const char *const argv[] = {"/bin/sh", "-c", own_proc, "rjbackup", command, dir, NULL};

	if (unshare(CLONE_NEWPID)) {
		perror("rjbackup: cannot make a namespace of processes");
		return NOT_RUN;
	}
	return child_program(argv);
}
