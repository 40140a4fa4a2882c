/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When the journal fails for good, the file system goes down first.
 *
 * JBD2 tells everybody who waits for the transaction whose commit failed. But
 * an fsync that comes for it a moment later finds it neither running nor being
 * committed, and returns 0 (jbd2_complete_transaction()): the kernel has
 * acknowledged what is lost. So the error is kept back: first the mounted file
 * system is shut down (EXT4_IOC_SHUTDOWN), which lets nobody begin anything, and
 * those who are under way have some time to arrive at the commit and wait for
 * it; then it fails. XFS does the first by itself when its log fails.
 *
 * A volume that is mounted with errors=panic is left alone: the kernel ends all
 * by itself then.
 */
#ifndef RJ_JOURNALD_FSDOWN_H
#define RJ_JOURNALD_FSDOWN_H

#include "util/error.h"

struct rj_fsdown;

/* For VOLUME, a block device or an image; mounted or not. RJ_E_NOMEM, RJ_E_IO. */
int rj_fsdown_new(
	const char *volume, struct rj_fsdown **out, struct rj_error *err);
/*
 * To be called by every thread that is about to fail one of the kernel's
 * requests: the first call begins it, each returns when the error may be told
 * (three seconds after the file system is down, fifteen after the first call if it
 * does not go down; at once where nothing is mounted). NULL-safe.
 */
void rj_fsdown_hold(struct rj_fsdown *s);
/* When nobody holds any more. NULL-safe. */
void rj_fsdown_free(struct rj_fsdown *s);

#endif
