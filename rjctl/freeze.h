/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Freeze a file system for a limited time, and thaw it whatever comes. */
#ifndef RJCTL_FREEZE_H
#define RJCTL_FREEZE_H

#include <sys/types.h>

#include "util/error.h"

struct freeze {
	const char *dir;
	int dir_fd;
	pid_t child;
	int to, from; /* pipes; -1 */
};

/*
 * Freeze the file system of the folder DIR, open as DIR_FD (both stay the caller's). A child
 * does it, and thaws it again at freeze_end(), when this process ends in whatever way, or
 * LIMIT_MS milliseconds after the freeze. If it takes longer than LIMIT_MS to freeze,
 * RJ_E_UNREACHABLE, and it is thawed as soon as it is frozen. RJ_E_BUSY: it is frozen already;
 * RJ_E_DENIED, RJ_E_IO.
 */
int freeze_begin(struct freeze *f, int dir_fd, const char *dir, int limit_ms,
	struct rj_error *err);
/* Thaw it. RJ_E_UNREACHABLE: the limit was over before, so that not all that was done since
 * freeze_begin() was done while it was frozen. RJ_E_IO. */
int freeze_end(struct freeze *f, struct rj_error *err);

#endif
