/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Look at a mounted moment in a process whose mounts, and all that it started, end with it. */
#ifndef RJBACKUP_DRILL_CHILD_H
#define RJBACKUP_DRILL_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "util/error.h"

#define CHILD_LOOK_NS 5000000LL /* between two looks */

/*
 * Call FN(ARG) in a child with a mount namespace and a process group of its own, whose standard
 * output is standard error, and wait for its end. A signal of stop_signal() ends it. *STATUS gets
 * what FN returned, or 128 if the child did not come so far. RJ_E_IO: no child; RJ_E_CANCELLED:
 * a signal came.
 */
int child_run(int (*fn)(void *arg), void *arg, int *status, struct rj_error *err);
/*
 * The same in two steps, for several children side by side: begin it, and look whether it has ended
 * (*ENDED). Each one that was begun has to be waited for to its end. RJ_E_CANCELLED: a
 * signal came, and the child has ended.
 */
int child_begin(int (*fn)(void *arg), void *arg, pid_t *child, struct rj_error *err);
int child_look(pid_t child, bool *ended, int *status, struct rj_error *err);
/* Unmount DIR: the mount goes before the process that serves it. Returns 0, or 1: it stays busy,
 * which is said. */
int child_unmount(const char *dir);
/* Run ARGV, whose first word is a path. Returns its exit status as a shell has it; 128: it could
 * not be run, which is said. */
int child_program(const char *const argv[]);
#define CANNOT_JUDGE 125 /* a command's status: neither good nor bad, as git-bisect(1) has it */
/* The same of COMMAND, for a shell, to which $1 is DIR, once in a process; what it has started ends
 * with it. */
int child_shell(const char *command, const char *dir);

#endif
