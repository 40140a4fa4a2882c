/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fork into the background; the parent ends only when the child is ready. */
#ifndef RJ_JOURNALD_DAEMONIZE_H
#define RJ_JOURNALD_DAEMONIZE_H

#include "util/error.h"

/*
 * Fork. In the child: 0, and *READY_FD is where readiness is told. The parent
 * does not come back: it prints what the child tells to stdout and exits 0, or
 * exits as the child does when that ends first.
 */
int rj_background(int *ready_fd, struct rj_error *err);
/* Tell the parent LINE, and detach from the terminal (stdin, stdout, stderr are /dev/null
 * afterwards). */
int rj_background_ready(int *ready_fd, const char *line, struct rj_error *err);

/* Detach from the terminal without a line to the parent. */
int rj_background_detach(struct rj_error *err);

#endif
