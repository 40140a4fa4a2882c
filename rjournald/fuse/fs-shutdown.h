/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When the journal fails for good, the file system goes down first.
 *
 * JBD2 tells each thread that waits for the transaction whose commit failed. But
 * an fsync that comes for it a moment later finds it neither running nor being
 * committed, and returns 0 (jbd2_complete_transaction()): the kernel has
 * acknowledged what is lost. So the error is kept back: first the mounted file
 * system is shut down (EXT4_IOC_SHUTDOWN), which stops all new operations, and
 * those under way have some time to arrive at the commit and wait for
 * it; then it fails. XFS does the first by itself when its log fails.
 *
 * A volume that is mounted with errors=panic is left alone: the kernel ends all
 * by itself then.
 */
#ifndef RJ_JOURNALD_FS_SHUTDOWN_H
#define RJ_JOURNALD_FS_SHUTDOWN_H

#include "util/error.h"

struct rj_fs_shutdown;

/* For VOLUME, a block device or an image; mounted or not. RJ_E_NOMEM, RJ_E_IO. */
int rj_fs_shutdown_new(
	const char *volume, struct rj_fs_shutdown **out, struct rj_error *err);
/*
 * To be called by every thread that is about to fail one of the kernel's
 * requests: the first call begins it, each returns when the error may be told
 * (three seconds after the file system is down, fifteen after the first call if it
 * does not go down; at once where nothing is mounted). NULL-safe.
 */
void rj_fs_shutdown_wait(struct rj_fs_shutdown *s);
/* Free S, when no thread uses it any more. NULL-safe. */
void rj_fs_shutdown_free(struct rj_fs_shutdown *s);

#endif
