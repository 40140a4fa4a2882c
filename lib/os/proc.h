/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Run another program: no shell, the words as they are. */
#ifndef RJ_OS_PROC_H
#define RJ_OS_PROC_H

#include "util/buf.h"
#include "util/error.h"

/* Collect the program's stdout and stderr, in the order they come, in
 * result.out; without it the program inherits both. */
#define RJ_PROC_CAPTURE    0x1
#define RJ_PROC_STDIN_NULL 0x2 /* stdin is /dev/null; else inherited */
/* With RJ_PROC_CAPTURE: kill a program whose output has not ended after 5 s. */
#define RJ_PROC_BRIEF 0x4

struct rj_proc_result {
	int status;        /* as waitpid(2): WIFEXITED() and so on */
	struct rj_buf out; /* NUL-terminated (not counted in len) if captured */
};

/*
 * Run ARGV (NULL-terminated; argv[0] is the path of the program, as from
 * rj_proc_find()) and wait for its end. RESULT is set only on success and is
 * released with rj_proc_release(). 0 says that the program ran, whatever its
 * status. RJ_E_NOTFOUND, RJ_E_DENIED: it could not be executed; RJ_E_NOMEM;
 * RJ_E_IO, also for RJ_PROC_BRIEF's limit; RJ_E_NOSPACE: more than 16
 * MiB of captured output (it was killed).
 */
int rj_proc_run(const char *const argv[], unsigned flags,
	struct rj_proc_result *result, struct rj_error *err);
/* NULL-safe. */
void rj_proc_release(struct rj_proc_result *result);

/*
 * The program's exit status, or 128 + signal when it was killed: what a shell
 * would show as $?.
 */
int rj_proc_exit_status(const struct rj_proc_result *result);

/* The state of the process PID, as a letter of ps(1) ('D', 'Z'); 0: there is none. */
char rj_proc_state(long pid);

/*
 * Find the executable NAME in $PATH, then in /sbin and /usr/sbin (which are
 * not in every administrator's PATH), then in /bin and /usr/bin (a helper that
 * mount(8) runs has no PATH at all). Its path is appended to OUT, NUL
 * included in the memory but not in len. A NAME with a slash is taken as it
 * is. RJ_E_NOTFOUND names it.
 */
int rj_proc_find(const char *name, struct rj_buf *out, struct rj_error *err);

#endif
