/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notice that a process writes to a block device or an image, through inotify(7): by its
 * own path, or by another name of the same node. */
#ifndef RJ_JOURNALD_WRITTEN_H
#define RJ_JOURNALD_WRITTEN_H

#include <stdbool.h>

/* Begin to watch PATH. Of a block device writes and what was opened for writing is noticed;
 * of an image each open: its loop device writes to it, too. Returns a descriptor for the
 * caller to close, or -1. */
int rj_written_watch(const char *path);
/* Forget what was noticed. -1: does nothing. */
void rj_written_forget(int fd);
/* Was something noticed since? -1: false. */
bool rj_written_since(int fd);

#endif
