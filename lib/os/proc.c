// SPDX-License-Identifier: LGPL-2.1-or-later
/* Run another program, and wait for it or read its output. */
#include "os/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/environ.h"

#define CAPTURE_MAX (16u << 20)
#define BRIEF_NS    5000000000LL

/* In the child: only async-signal-safe calls. */
static void __attribute__((noreturn))
child(const char *const argv[], unsigned flags, int out, int fail)
{
	sigset_t none;
	int e, null;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (flags & RJ_PROC_STDIN_NULL) {
		null = open("/dev/null", O_RDONLY);
		if (null == -1 || dup2(null, 0) == -1)
			goto failed;
		if (null > 0)
			close(null);
	}
	if (out != -1 && (dup2(out, 1) == -1 || dup2(out, 2) == -1))
		goto failed;
	execv(argv[0], (char *const *)argv);
failed:
	e = errno;
	if (write(fail, &e, sizeof(e)) != sizeof(e))
		_exit(126);
	_exit(127);
}

/* Is there something to read from FD before END_NS? */
static bool in_time(int fd, int64_t end_ns)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int64_t left;
	int n;

	do {
		left = end_ns - rj_monotonic_ns();
		n = left > 0 ? poll(&p, 1, (int)(left / 1000000) + 1) : 0;
	} while (n == -1 && errno == EINTR);
	return n != 0;
}

static int collect(int fd, bool brief, struct rj_buf *out, const char *what,
	struct rj_error *err)
{
	const int64_t end_ns = rj_monotonic_ns() + BRIEF_NS;
	ssize_t n;

	for (;;) {
		if (brief && !in_time(fd, end_ns))
			return rj_fail_errno(
				err, ETIMEDOUT, "%s: no end of its output", what);
		if (out->len > CAPTURE_MAX)
			return rj_fail(err, RJ_E_NOSPACE,
				"%s: more than %u bytes of output", what,
				CAPTURE_MAX);
		if (rj_buf_reserve(out, 65536 + 1))
			return rj_fail(
				err, RJ_E_NOMEM, "%s: out of memory", what);
		n = read(fd, out->data + out->len, 65536);
		if (n == 0)
			break;
		if (n > 0)
			out->len += (size_t)n;
		else if (errno != EINTR)
			return rj_fail_errno(
				err, errno, "%s: reading its output", what);
	}
	out->data[out->len] = 0;
	return 0;
}

/* 0 if the exec worked, else the errno it failed with. */
static int exec_result(int fd)
{
	ssize_t n;
	int e;

	do {
		n = read(fd, &e, sizeof(e));
	} while (n == -1 && errno == EINTR);
	return n == (ssize_t)sizeof(e) ? e : 0;
}

static void close_pair(int fd[2])
{
	int i;

	for (i = 0; i < 2; i++) {
		if (fd[i] != -1)
			close(fd[i]);
		fd[i] = -1;
	}
}

int rj_proc_run(const char *const argv[], unsigned flags,
	struct rj_proc_result *result, struct rj_error *err)
{
	int fail[2] = {-1, -1}, out[2] = {-1, -1};
	struct rj_buf text = {0};
	int rc, e, status;
	pid_t pid, got;

	if (pipe2(fail, O_CLOEXEC) == -1 ||
		((flags & RJ_PROC_CAPTURE) && pipe2(out, O_CLOEXEC) == -1)) {
		rc = rj_fail_errno(err, errno, "%s: pipe", argv[0]);
		goto out;
	}
	pid = fork();
	if (pid == -1) {
		rc = rj_fail_errno(err, errno, "%s: fork", argv[0]);
		goto out;
	}
	if (pid == 0)
		child(argv, flags, out[1], fail[1]);
	close(fail[1]);
	fail[1] = -1;
	if (out[1] != -1)
		close(out[1]);
	out[1] = -1;
	e = exec_result(fail[0]);
	rc = e ? rj_fail_errno(err, e, "cannot run %s", argv[0]) : 0;
	if (!rc && out[0] != -1) {
		rc = collect(out[0], flags & RJ_PROC_BRIEF, &text, argv[0],
			err);
		if (rc)
			kill(pid, SIGKILL);
	}
	do {
		got = waitpid(pid, &status, 0);
	} while (got == -1 && errno == EINTR);
	if (got == -1 && !rc)
		rc = rj_fail_errno(err, errno, "%s: waitpid", argv[0]);
	if (!rc) {
		result->status = status;
		result->out = text;
		text = (struct rj_buf){0};
	}
out:
	rj_buf_free(&text);
	close_pair(fail);
	close_pair(out);
	return rc;
}

void rj_proc_release(struct rj_proc_result *result)
{
	if (result)
		rj_buf_free(&result->out);
}

int rj_proc_exit_status(const struct rj_proc_result *result)
{
	if (WIFEXITED(result->status))
		return WEXITSTATUS(result->status);
	return 128 +
	       (WIFSIGNALED(result->status) ? WTERMSIG(result->status) : 0);
}

char rj_proc_state(long pid)
{
	char path[32], text[128];
	const char *name_end;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = 0;
	name_end = strrchr(text, ')');
	return name_end && name_end[1] ? name_end[2] : 0;
}

static bool executable(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	       access(path, X_OK) == 0;
}

/* Try each directory of the colon-separated PATH. 1: found, 0: not. */
static int search(const char *path, const char *name, struct rj_buf *out)
{
	size_t len, start = out->len;

	for (;; path += len + 1) {
		len = strcspn(path, ":");
		/* an empty word means the current directory: not for root */
		if (len) {
			if (rj_buf_printf(out, "%.*s/%s", (int)len, path, name))
				return -RJ_E_NOMEM;
			if (executable((char *)out->data + start))
				return 1;
			out->len = start;
		}
		if (!path[len])
			return 0;
	}
}

/* Without PATH too: mount(8) takes it from the environment of its helpers. */
static const char standard_path[] = "/sbin:/usr/sbin:/bin:/usr/bin";

int rj_proc_find(const char *name, struct rj_buf *out, struct rj_error *err)
{
	const char *path = getenv("PATH");
	int rc = 0;

	if (strchr(name, '/')) {
		if (!executable(name))
			return rj_fail(err, RJ_E_NOTFOUND,
				"%s: no such program", name);
		rc = rj_buf_printf(out, "%s", name) ? -RJ_E_NOMEM : 1;
	}
	if (!rc && path)
		rc = search(path, name, out);
	if (!rc)
		rc = search(standard_path, name, out);
	if (rc < 0)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", name);
	if (!rc)
		return rj_fail(err, RJ_E_NOTFOUND,
			"%s: not found in PATH or %s", name, standard_path);
	return 0;
}
