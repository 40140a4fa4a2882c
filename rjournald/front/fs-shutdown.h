/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shut the mounted file system down before the kernel learns that its journal failed
 * for good.
 *
 * JBD2 tells each thread that waits for the transaction whose commit failed. But an
 * fsync that asks for that transaction a moment later finds it neither running nor being
 * committed, and returns 0 (jbd2_complete_transaction()): the kernel has acknowledged
 * what is lost. So the error is withheld: first the file system is shut down
 * (EXT4_IOC_SHUTDOWN), which stops all new operations; those under way have some time
 * to reach the commit and wait for it, and more if they wait for a slow disk (late.h); then
 * the journal's request fails. XFS shuts itself down when its log fails.
 *
 * A volume that is mounted with errors=panic is left alone: the kernel ends all
 * by itself then.
 */
#ifndef RJ_JOURNALD_FS_SHUTDOWN_H
#define RJ_JOURNALD_FS_SHUTDOWN_H

#include "util/error.h"

struct rj_fs_shutdown;

/* Prepare for VOLUME, a block device or an image; mounted or not. RJ_E_NOMEM, RJ_E_IO. */
int rj_fs_shutdown_new(
	const char *volume, struct rj_fs_shutdown **out, struct rj_error *err);
/*
 * Wait until the error may be told; every thread that is about to fail one of the
 * kernel's requests calls this. The first call shuts the file system down. Returns three to
 * thirty seconds after that, fifteen after the first call if the shutdown fails, at once
 * where nothing is mounted. NULL-safe.
 */
void rj_fs_shutdown_wait(struct rj_fs_shutdown *s);
/* Free S, when no thread uses it any more. NULL-safe. */
void rj_fs_shutdown_free(struct rj_fs_shutdown *s);

#endif
