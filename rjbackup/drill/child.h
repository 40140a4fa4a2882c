/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Look at a mounted moment in a process whose mounts, and all that it started, end with it. */
#ifndef RJBACKUP_DRILL_CHILD_H
#define RJBACKUP_DRILL_CHILD_H

#include "util/error.h"

/*
 * Call FN(ARG) in a child with a mount namespace and a process group of its own, whose standard
 * output is standard error, and wait for its end. A signal of stop_signal() kills it. *STATUS gets
 * what FN returned, or 128 if the child did not come so far. RJ_E_IO: no child; RJ_E_CANCELLED:
 * a signal came.
 */
int child_run(int (*fn)(void *arg), void *arg, int *status, struct rj_error *err);
/* Unmount DIR: the mount goes before the process that serves it. Returns 0, or 1: it stays busy. */
int child_unmount(const char *dir);
/* Run ARGV, whose first word is a path. Returns its exit status as a shell has it; 128: it could
 * not be run, which is said. */
int child_program(const char *const argv[]);
/* The same of COMMAND, for a shell, to which $1 is DIR. */
int child_shell(const char *command, const char *dir);

#endif
