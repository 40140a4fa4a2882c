/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Run mke2fs: first with -n, then for real. */
#ifndef MKRJFS_MKE2FS_H
#define MKRJFS_MKE2FS_H

#include <stdint.h>

#include "mkrjfs/options.h"
#include "util/buf.h"
#include "util/error.h"

struct mke2fs_plan {
	uint64_t blocks;
	uint32_t block_size;  /* bytes */
	struct rj_buf output; /* all that mke2fs -n printed; NUL-terminated */
};

/*
 * Run mke2fs -n with the options of O. It changes nothing, and asks the user nothing.
 * RJ_E_REFUSED: mke2fs refuses, for the reason in ERR.
 * PLAN->output is the caller's to free, on failure too.
 */
int mke2fs_ask(const struct options *o, struct mke2fs_plan *plan,
	struct rj_error *err);

/*
 * Run mke2fs with this process's terminal. STATUS gets its exit status. For a remote
 * journal, or none, mke2fs is told to make no journal.
 */
int mke2fs_run(const struct options *o, int *status, struct rj_error *err);

#endif
