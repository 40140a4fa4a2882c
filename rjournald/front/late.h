/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Find threads that are late for their commit: in ext4's fsync, where they wait for their data
 * or for a processor, and not for JBD2, which tells them of the failure. The kernel's stack of
 * a thread (/proc/TID/stack) does not say which file system it is in: fsync(2) and fdatasync(2)
 * of another one are known by their descriptor, all else counts as this one's. Where the kernel
 * does not show stacks, no thread is found.
 */
#ifndef RJ_JOURNALD_LATE_H
#define RJ_JOURNALD_LATE_H

#include <stddef.h>
#include <sys/types.h>

#define RJ_LATE_MAX 1024

struct rj_late {
	dev_t dev; /* the file system's */
	pid_t thread[RJ_LATE_MAX];
	size_t count;
};

/* Add those that are late now. */
void rj_late_find(struct rj_late *l);
/* Forget those that are not late any more. Returns how many are left. */
size_t rj_late_left(struct rj_late *l);

#endif
