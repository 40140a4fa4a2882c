// SPDX-License-Identifier: GPL-2.0-or-later
/* Fork workers, keep their descriptors, and pass on their exit status. */
#include "supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harden.h"
#include "log/retry.h"
#include "module/module.h"
#include "os/fileio.h"
#include "util/environ.h"
#include "util/log.h"

/* A worker that served that long did not die of how it was started. */
#define QUICK_NS  100000000LL
#define MAX_QUICK 20
/* How long to wait before the next one, after the first few. */
#define AT_ONCE	     3
#define MS	     1000000LL
#define WAIT_NS	     (10 * MS)
#define WAIT_MAX_NS  (1000 * MS)
/* No memory or no process for another worker: two minutes. */
#define MAX_UNBORN   120
#define MAX_ARGS     16
#define OPTION_BYTES 128

struct supervisor {
	const struct rj_supervisor_opts *opts;
	struct rj_worker_fds fds;
	int signal_fd, post, ready_fd;
	pid_t worker; /* 0: none right now */
	bool holding; /* a first worker has served */
	bool final, bye, restart;
	bool anew; /* workers are started as the program */
	int64_t serving_ns; /* since when; 0: it does not yet */
	int quick; /* deaths in a row without having served long */
	int unborn; /* workers in a row that could not be started */
	bool asked; /* to stop, and the worker that comes has to hear it */
	int status;
};

static int wait_ms(const struct supervisor *k)
{
	int tries = k->quick + k->unborn;

	if (tries <= AT_ONCE)
		return 0;
	return (int)(rj_backoff_ns((unsigned)(tries - AT_ONCE - 1), WAIT_NS,
			     WAIT_MAX_NS) /
		     MS);
}

static void close_held(struct supervisor *k, int which)
{
	if (k->fds.fd[which] != -1)
		close(k->fds.fd[which]);
	k->fds.fd[which] = -1;
}

/* The program itself, as it is on the disk now. Comes back if it cannot be. */
static void run_program(const struct supervisor *k, int post)
{
	char option[OPTION_BYTES], *argv[MAX_ARGS + 3];
	int i, n;

	n = snprintf(option, sizeof(option), "--take-over=%d", post);
	fcntl(post, F_SETFD, 0);
	for (i = 0; i < RJ_WORKER_FD_COUNT; i++) {
		n += snprintf(option + n, sizeof(option) - (size_t)n, ",%d",
			k->fds.fd[i]);
		if (k->fds.fd[i] != -1)
			fcntl(k->fds.fd[i], F_SETFD, 0);
	}
	argv[0] = (char *)k->opts->program;
	argv[1] = option;
	for (i = 0; i < MAX_ARGS && k->opts->args[i]; i++)
		argv[i + 2] = k->opts->args[i];
	argv[i + 2] = NULL;
	execv(k->opts->program, argv);
	rj_log(RJ_LOG_ERROR, "%s: %s", k->opts->program, strerror(errno));
}

static void __attribute__((noreturn)) be_worker(
	struct supervisor *k, int post, pid_t supervisor)
{
	const struct rj_worker_fds *fds = k->holding ? &k->fds : NULL;
	sigset_t mask;
	int status;

	/* without its supervisor a worker may not go on; nor be hit by the keys
	 * that are meant for it */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != supervisor)
		_exit(1);
	setsid();
	close(k->signal_fd);
	/* what comes while a successor starts is not lost, nor does it kill */
	sigemptyset(&mask);
	if (k->holding) {
		sigaddset(&mask, SIGTERM);
		sigaddset(&mask, SIGINT);
		sigaddset(&mask, RJ_SIGNAL_ASKED);
	}
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (k->anew) {
		run_program(k, post);
		_exit(1);
	}
	status = k->opts->work(k->opts->arg, post, fds);
	rj_supervisor_tell(post, RJ_WORD_BYE);
	exit(status);
}

static int start_worker(struct supervisor *k)
{
	int post[2];
	pid_t pid, self = getpid();

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, post) == -1) {
		rj_log(RJ_LOG_ERROR, "socketpair: %s", strerror(errno));
		return -1;
	}
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		close(post[0]);
		be_worker(k, post[1], self);
	}
	close(post[1]);
	if (pid == -1) {
		rj_log(RJ_LOG_ERROR, "fork: %s", strerror(errno));
		close(post[0]);
		return -1;
	}
	k->post = post[0];
	k->worker = pid;
	k->serving_ns = 0;
	k->restart = false;
	if (k->ready_fd != -1)
		close(k->ready_fd);
	k->ready_fd = -1;
	if (k->asked)
		kill(pid, RJ_SIGNAL_ASKED);
	k->asked = false;
	return 0;
}

static void take_held(struct supervisor *k, struct msghdr *msg)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(msg);
	struct rj_error err;

	if (k->holding || !c || c->cmsg_type != SCM_RIGHTS ||
		c->cmsg_len != CMSG_LEN(sizeof(k->fds)))
		return;
	memcpy(&k->fds, CMSG_DATA(c), sizeof(k->fds));
	/* as in the worker: see keep_number() of fuse-front.c */
	if (rj_fd_above(&k->fds.fd[RJ_WORKER_FD_FRONT], k->fds.fd[RJ_WORKER_FD_LOOP], &err))
		rj_log(RJ_LOG_WARNING, "%s", err.msg);
	k->holding = true;
	k->serving_ns = rj_monotonic_ns();
	rj_harden_supervisor();
	prctl(PR_SET_NAME, "rjkeeper");
	k->opts->detach(k->opts->arg);
}

static void load_module(enum rj_module which)
{
	const void *functions;
	struct rj_error err;

	if (rj_module_load(which, &functions, &err))
		rj_log(RJ_LOG_WARNING, "%s", err.msg);
}

/* One message of the worker. False: there is none. */
static bool hear(struct supervisor *k)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(struct rj_worker_fds))];
	} control;
	int word;
	struct iovec iov = {.iov_base = &word, .iov_len = sizeof(word)};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(k->post, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n != sizeof(word))
		return n == -1 && errno == EINTR;
	switch ((enum rj_word)word) {
	case RJ_WORD_FDS:
		take_held(k, &msg);
		break;
	case RJ_WORD_SERVING:
		k->serving_ns = rj_monotonic_ns();
		break;
	case RJ_WORD_LET_GO:
		close_held(k, RJ_WORKER_FD_LOOP);
		break;
	case RJ_WORD_RESTART:
		k->restart = true;
		break;
	case RJ_WORD_FINAL:
		k->final = true;
		break;
	case RJ_WORD_BYE:
		k->bye = true;
		break;
	case RJ_WORD_LOAD_CURL:
		load_module(RJ_MODULE_CURL);
		break;
	case RJ_WORD_LOAD_OPENSSL:
		load_module(RJ_MODULE_OPENSSL);
		break;
	}
	return true;
}

static void tell_death(const struct supervisor *k, int how)
{
	if (WIFSIGNALED(how))
		rj_log(RJ_LOG_WARNING,
			"the worker (process %d) was killed by signal %d%s",
			(int)k->worker, WTERMSIG(how),
			k->final ? "" : "; starting another one");
	else
		rj_log(RJ_LOG_WARNING,
			"the worker (process %d) ended with status %d%s",
			(int)k->worker, WEXITSTATUS(how),
			k->final ? "" : "; starting another one");
}

/* The worker is dead. False: so is everything. */
static bool buried(struct supervisor *k, int how)
{
	bool lasted = k->serving_ns &&
		      rj_monotonic_ns() - k->serving_ns > QUICK_NS;

	while (hear(k))
		;
	close(k->post);
	k->post = -1;
	k->status = WIFEXITED(how) ? WEXITSTATUS(how) : 1;
	if (k->bye || !k->holding)
		return false;
	if (k->restart) {
		k->anew = true;
	} else {
		tell_death(k, how);
		if (!k->status)
			k->status = 1;
		/* a program that does not even begin: back to what we are */
		if (!k->serving_ns)
			k->anew = false;
		k->quick = lasted ? 0 : k->quick + 1;
	}
	k->worker = 0;
	if (k->final)
		return false;
	if (k->quick > MAX_QUICK) {
		rj_log(RJ_LOG_ERROR,
			"%d workers in a row died at once: giving up, the journal fails",
			k->quick);
		return false;
	}
	return true;
}

/* False: it is over. */
static bool take_signal(struct supervisor *k)
{
	struct signalfd_siginfo info;
	bool asked;
	int how;

	asked = read(k->signal_fd, &info, sizeof(info)) == sizeof(info) &&
		info.ssi_signo != SIGCHLD;
	/* before that is passed on: a dead worker would take it, too */
	if (k->worker && waitpid(k->worker, &how, WNOHANG) == k->worker &&
		!buried(k, how))
		return false;
	if (asked && k->worker)
		kill(k->worker, RJ_SIGNAL_ASKED);
	else if (asked)
		k->asked = true;
	return true;
}

/* The kernel's requests wait; with us they would fail. False: for too long. */
static bool start_another(struct supervisor *k)
{
	if (!start_worker(k)) {
		k->unborn = 0;
		return true;
	}
	if (++k->unborn <= MAX_UNBORN)
		return true;
	rj_log(RJ_LOG_ERROR,
		"no worker could be started: giving up, the journal fails");
	return false;
}

static bool turn(struct supervisor *k)
{
	struct pollfd fds[] = {
		{.fd = k->signal_fd, .events = POLLIN},
		{.fd = k->post, .events = POLLIN},
	};
	int n = poll(fds, 2, k->worker ? -1 : wait_ms(k));

	if (n == 0)
		return start_another(k);
	if (n > 0 && fds[1].revents && !hear(k)) {
		/* closed: its end will be told by a signal */
		close(k->post);
		k->post = -1;
	}
	return !(n > 0 && fds[0].revents) || take_signal(k);
}

int rj_supervisor_run(const struct rj_supervisor_opts *opts)
{
	struct supervisor k = {
		.opts = opts,
		.post = -1,
		.ready_fd = opts->ready_fd,
		.status = 1,
	};
	sigset_t set;
	int i;

	for (i = 0; i < RJ_WORKER_FD_COUNT; i++)
		k.fds.fd[i] = -1;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	/* the end of the session that mounted is not the end of the volume */
	signal(SIGHUP, SIG_IGN);
	k.signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (k.signal_fd == -1) {
		rj_log(RJ_LOG_ERROR, "signalfd: %s", strerror(errno));
		return 1;
	}
	/* a worker inherits this: what is sent before it listens waits */
	sigaddset(&set, RJ_SIGNAL_ASKED);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (start_worker(&k) == 0)
		while (turn(&k))
			;
	for (i = 0; i < RJ_WORKER_FD_COUNT; i++)
		close_held(&k, i);
	close(k.signal_fd);
	return k.status;
}

/* ---- the worker's side ---- */

static int post_word(
	int post, enum rj_word word, const struct rj_worker_fds *fds)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(struct rj_worker_fds))];
	} control = {0};
	int number = (int)word;
	struct iovec iov = {.iov_base = &number, .iov_len = sizeof(number)};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	struct cmsghdr *c;

	if (fds) {
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(*fds));
		memcpy(CMSG_DATA(c), fds, sizeof(*fds));
	}
	return sendmsg(post, &msg, MSG_NOSIGNAL) == sizeof(number) ? 0 : -1;
}

void rj_supervisor_tell(int post, enum rj_word word)
{
	if (post_word(post, word, NULL))
		rj_log(RJ_LOG_DEBUG, "supervisor: %s", strerror(errno));
}

void rj_supervisor_tell_modules(int post)
{
	if (rj_module_loaded(RJ_MODULE_CURL))
		rj_supervisor_tell(post, RJ_WORD_LOAD_CURL);
	if (rj_module_loaded(RJ_MODULE_OPENSSL))
		rj_supervisor_tell(post, RJ_WORD_LOAD_OPENSSL);
}

int rj_supervisor_give_fds(
	int post, const struct rj_worker_fds *fds, struct rj_error *err)
{
	if (post_word(post, RJ_WORD_FDS, fds))
		return rj_fail_errno(
			err, errno, "the supervisor cannot be told");
	return 0;
}

bool rj_supervisor_parse(const char *text, int *post, struct rj_worker_fds *fds)
{
	int *f = fds->fd, end = 0, i;

	if (sscanf(text, "%d,%d,%d,%d,%d,%d%n", post, &f[0], &f[1], &f[2],
		    &f[3], &f[4], &end) != 1 + RJ_WORKER_FD_COUNT ||
		text[end])
		return false;
	for (i = 0; i < RJ_WORKER_FD_COUNT; i++)
		if (f[i] != -1 && fcntl(f[i], F_SETFD, FD_CLOEXEC) == -1)
			return false;
	return fcntl(*post, F_SETFD, FD_CLOEXEC) != -1;
}
