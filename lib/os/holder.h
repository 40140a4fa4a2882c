/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Find the process that keeps a volume mounted which the caller cannot unmount. */
#ifndef RJ_OS_HOLDER_H
#define RJ_OS_HOLDER_H

#include <limits.h>
#include <stdbool.h>

struct rj_holder {
	long pid;
	char command[32]; /* its name, as ps(1) shows it */
	char dir[PATH_MAX]; /* in its mount namespace */
	bool locked; /* of another user namespace: umount does not work there */
};

/*
 * Find a process in another mount namespace than the caller's, where VOLUME (a block
 * device, or an image) is mounted; of several the first one in /proc. False: there is
 * none, or VOLUME is mounted in the caller's namespace, too.
 */
bool rj_holder_find(const char *volume, struct rj_holder *out);

#define RJ_HOLDER_TEXT (5 * PATH_MAX + 256) /* DIR, and DIR with each byte quoted */
/* "mounted on DIR in the mount namespace of process ...", and a shell command that
 * unmounts it there, or that it is locked. */
const char *rj_holder_text(const struct rj_holder *h, char out[RJ_HOLDER_TEXT]);

#endif
