// SPDX-License-Identifier: GPL-2.0-or-later
/* The supervisor, when the machine has no process to spare, and when it is asked
 * to stop while it starts a worker. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rjournald/handover/supervisor.h"
#include "support/rjtest.h"

#define STATUS	     7
#define STATUS_ASKED 8

static int forks, fail_from, fail_to;
/* The supervisor gets the signal TO_FAILED at each fork that fails. The child of
 * fork ASKED_AT sends it TO_STARTED, and goes on when it is asked itself. */
static int to_failed, to_started, asked_at;
/* The supervisor gets SIGTERM when the first worker is dead, and hears of both at once. */
static bool asked_at_death;

static bool is_asked(void)
{
	sigset_t pending;

	return !sigpending(&pending) &&
	       sigismember(&pending, RJ_SIGNAL_ASKED) == 1;
}

/* The supervisor's, instead of the C library's. */
pid_t fork(void)
{
	pid_t pid;

	forks++;
	if (forks >= fail_from && forks < fail_to) {
		if (to_failed)
			kill((pid_t)syscall(SYS_getpid), to_failed);
		errno = EAGAIN;
		return -1;
	}
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid || forks != asked_at)
		return pid;
	alarm(300);
	if (to_started)
		kill(getppid(), to_started);
	while (!is_asked())
		usleep(1000);
	return 0;
}

/* Stop the supervisor until its worker, the caller, is dead and SIGTERM is sent. */
static void ask_at_death(void)
{
	pid_t supervisor = getppid(), worker = (pid_t)syscall(SYS_getpid);
	pid_t me;

	kill(supervisor, SIGSTOP);
	me = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (me)
		return;
	alarm(300);
	while ((pid_t)syscall(SYS_getppid) == worker)
		usleep(1000);
	kill(supervisor, SIGTERM);
	kill(supervisor, SIGCONT);
	_exit(0);
}

/* The first worker hands over, and is killed; the next one ends in order. */
static int work(void *arg, int post, const struct rj_worker_fds *fds)
{
	struct rj_worker_fds mine;
	struct rj_error err;
	int i;

	if (fds)
		return is_asked() ? STATUS_ASKED : STATUS;
	for (i = 0; i < RJ_WORKER_FD_COUNT; i++)
		mine.fd[i] = open("/dev/null", O_RDWR);
	if (rj_supervisor_give_fds(post, &mine, &err))
		return 1;
	rj_supervisor_tell(post, RJ_WORD_SERVING);
	if (asked_at_death)
		ask_at_death();
	kill((pid_t)syscall(SYS_getpid), SIGKILL);
	return 1;
}

static void detach(void *arg)
{
}

static int keep(void)
{
	const struct rj_supervisor_opts opts = {
		.work = work,
		.detach = detach,
		.ready_fd = -1,
	};

	return rj_supervisor_run(&opts);
}

/* What a supervisor ends with whose forks number FROM to TO - 1 fail. */
static int supervisor_status(int from, int to)
{
	int status = -1;
	pid_t pid;

	forks = fail_from = fail_to = 0;
	pid = fork();
	if (!pid) {
		alarm(300);
		forks = 0;
		fail_from = from;
		fail_to = to;
		_exit(keep());
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static void another_worker_is_started(void)
{
	CU_ASSERT_EQUAL(supervisor_status(0, 0), STATUS);
}

static void one_that_cannot_be_started_is_tried_again(void)
{
	CU_ASSERT_EQUAL(supervisor_status(2, 8), STATUS);
}

/* Nobody's journal depends on it yet. */
static void the_first_one_is_not(void)
{
	CU_ASSERT_EQUAL(supervisor_status(1, 2), 1);
}

static void asked_between_two_workers_the_next_one_hears_it(void)
{
	to_failed = SIGTERM;
	asked_at = 3;
	CU_ASSERT_EQUAL(supervisor_status(2, 3), STATUS_ASKED);
	to_failed = asked_at = 0;
}

static void a_worker_that_just_began_hears_it(void)
{
	to_started = SIGTERM;
	asked_at = 2;
	CU_ASSERT_EQUAL(supervisor_status(0, 0), STATUS_ASKED);
	to_started = asked_at = 0;
}

static void asked_when_the_worker_is_dead_the_next_one_hears_it(void)
{
	asked_at_death = true;
	asked_at = 2;
	CU_ASSERT_EQUAL(supervisor_status(0, 0), STATUS_ASKED);
	asked_at_death = false;
	asked_at = 0;
}

static void the_workers_signal_does_not_kill_the_supervisor(void)
{
	to_failed = RJ_SIGNAL_ASKED;
	CU_ASSERT_EQUAL(supervisor_status(2, 3), STATUS);
	to_failed = 0;
}

static const struct rjtest tests[] = {
	RJTEST(another_worker_is_started),
	RJTEST(one_that_cannot_be_started_is_tried_again),
	RJTEST(the_first_one_is_not),
	RJTEST(asked_between_two_workers_the_next_one_hears_it),
	RJTEST(a_worker_that_just_began_hears_it),
	RJTEST(asked_when_the_worker_is_dead_the_next_one_hears_it),
	RJTEST(the_workers_signal_does_not_kill_the_supervisor),
};

int main(void)
{
	return RJTEST_RUN("supervisor", tests);
}
