/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process of its own shows a volume as a file. */
#ifndef RJBACKUP_SERVE_H
#define RJBACKUP_SERVE_H

#include "os/bio.h"

/*
 * FUSE is the connection, MNT the folder of its file system, which is mounted nowhere: the file
 * system ends with the last descriptor in it. Both are the caller's to close. RJ_E_IO.
 */
int serve_connect(int *fuse, int *mnt, struct rj_error *err);
/*
 * Fork a process that serves VOLUME, and all that it reads and writes, over *FUSE, until the
 * file system has ended. Closes *FUSE. RJ_E_IO.
 */
int serve_start(struct rj_bio *volume, int *fuse, int mnt, struct rj_error *err);
/* Open the volume as a file. Returns a descriptor, or a negative rj_code. */
int serve_open(int mnt, int flags, struct rj_error *err);

#endif
