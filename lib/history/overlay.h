/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A base that is written to and stays as it is: changed blocks go to another file. */
#ifndef RJ_HISTORY_OVERLAY_H
#define RJ_HISTORY_OVERLAY_H

#include "os/bio.h"

#define RJ_SCRATCH_NAME "the scratch file"

/*
 * The file open as BASE, BLOCKS of BLOCK_SIZE bytes, with what is written in the empty file
 * open as SCRATCH, at the same place. Which blocks are there is known in memory only: flush()
 * does nothing. Both descriptors stay the caller's. NULL: out of memory.
 */
struct rj_bio *rj_overlay_new(int base, int scratch, uint32_t block_size, uint64_t blocks,
	const char *name, struct rj_error *err);
/*
 * The same over BELOW, which stays the caller's, and is read only until rj_overlay_settle(). What
 * is written is listed.
 */
struct rj_bio *rj_overlay_over(struct rj_bio *below, int scratch, uint32_t block_size,
	struct rj_error *err);
/* Its COUNT blocks that were written, in any order, each once; valid until the next write. */
const uint64_t *rj_overlay_written(const struct rj_bio *overlay, size_t *count);
/* Write them into BELOW; none is written then. */
int rj_overlay_settle(struct rj_bio *overlay, struct rj_error *err);
/*
 * Let the volume, of FROM blocks, have TO. From block FROM on there are zeros, whatever the base
 * has there, or a resize that was cut off wrote; over a BELOW what that has, which has to grow
 * first.
 * RJ_E_INVAL: FROM is beyond TO or the end; RJ_E_NOMEM; what ftruncate() of SCRATCH reports.
 */
int rj_overlay_grow(struct rj_bio *overlay, uint64_t from, uint64_t to, struct rj_error *err);

#endif
