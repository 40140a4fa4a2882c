/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef RJ_RECOVER_SETTLE_H
#define RJ_RECOVER_SETTLE_H

#include "recover/recover.h"
#include "util/error.h"

/*
 * The log of the volume at DEVICE was applied by the caller, and its superblock says that
 * it needs no recovery: do what is left of a recovery. Release what was deleted while
 * open, and check the volume as VERIFY says. Its journal, JOURNAL_BLOCKS long, is not
 * looked for. RJ_E_CORRUPT: not sound. RJ_E_IO, RJ_E_NOTFOUND: e2fsck did not run.
 */
int rj_recover_settle(const char *device, uint32_t journal_blocks,
	enum rj_verify_level verify, struct rj_error *err);

#endif
