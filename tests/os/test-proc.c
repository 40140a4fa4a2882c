// SPDX-License-Identifier: GPL-2.0-or-later
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "os/proc.h"
#include "support/rjtest.h"

static void captures_both_streams(void)
{
	const char *argv[] = {
		"/bin/sh", "-c", "echo one; echo two >&2; exit 3", NULL};
	struct rj_proc_result r;
	struct rj_error err;

	CU_ASSERT_FATAL(rj_proc_run(argv, RJ_PROC_CAPTURE, &r, &err) == 0);
	CU_ASSERT(WIFEXITED(r.status) && WEXITSTATUS(r.status) == 3);
	CU_ASSERT(rj_proc_exit_status(&r) == 3);
	CU_ASSERT_STRING_EQUAL((char *)r.out.data, "one\ntwo\n");
	rj_proc_release(&r);
}

static void stdin_can_be_null(void)
{
	const char *argv[] = {"/bin/cat", NULL};
	struct rj_proc_result r;
	struct rj_error err;

	CU_ASSERT_FATAL(rj_proc_run(argv, RJ_PROC_CAPTURE | RJ_PROC_STDIN_NULL,
				&r, &err) == 0);
	CU_ASSERT(r.status == 0 && r.out.len == 0 && r.out.data[0] == 0);
	rj_proc_release(&r);
}

static void killed_is_reported(void)
{
	const char *argv[] = {"/bin/sh", "-c", "kill -9 $$", NULL};
	struct rj_proc_result r;
	struct rj_error err;

	CU_ASSERT_FATAL(rj_proc_run(argv, 0, &r, &err) == 0);
	CU_ASSERT(WIFSIGNALED(r.status) && WTERMSIG(r.status) == SIGKILL);
	CU_ASSERT(rj_proc_exit_status(&r) == 128 + SIGKILL);
	rj_proc_release(&r);
}

static void brief_is_limited(void)
{
	const char *argv[] = {"/bin/sh", "-c", "echo one; exec sleep 60", NULL};
	struct rj_proc_result r;
	struct rj_error err;

	CU_ASSERT(rj_proc_run(argv, RJ_PROC_CAPTURE | RJ_PROC_BRIEF, &r, &err) ==
		  -RJ_E_IO);
	CU_ASSERT(strstr(err.msg, "/bin/sh") != NULL);
}

static void missing_program_is_an_error(void)
{
	const char *argv[] = {"/nonexistent/prog", NULL};
	struct rj_proc_result r;
	struct rj_error err;

	CU_ASSERT(rj_proc_run(argv, 0, &r, &err) == -RJ_E_NOTFOUND);
	CU_ASSERT(strstr(err.msg, "/nonexistent/prog") != NULL);
}

static void finds_programs(void)
{
	struct rj_buf b = {0};
	struct rj_error err;

	CU_ASSERT(setenv("PATH", ":/nonexistent:/bin", 1) == 0);
	CU_ASSERT_FATAL(rj_proc_find("sh", &b, &err) == 0);
	CU_ASSERT_STRING_EQUAL((char *)b.data, "/bin/sh");
	b.len = 0;
	CU_ASSERT(
		rj_proc_find("rj-no-such-program", &b, &err) == -RJ_E_NOTFOUND);
	CU_ASSERT(b.len == 0);
	CU_ASSERT(unsetenv("PATH") == 0);
	CU_ASSERT_FATAL(rj_proc_find("sh", &b, &err) == 0);
	CU_ASSERT_STRING_EQUAL((char *)b.data, "/bin/sh");
	b.len = 0;
	/* a directory is no program */
	CU_ASSERT(rj_proc_find("/usr", &b, &err) == -RJ_E_NOTFOUND);
	rj_buf_free(&b);
}

static const struct rjtest tests[] = {
	RJTEST(captures_both_streams),
	RJTEST(stdin_can_be_null),
	RJTEST(killed_is_reported),
	RJTEST(brief_is_limited),
	RJTEST(missing_program_is_an_error),
	RJTEST(finds_programs),
};

int main(void)
{
	return RJTEST_RUN("proc", tests);
}
