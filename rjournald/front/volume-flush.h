/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Flush the volume's own write cache. With an external journal the kernel flushes the
 * volume's device before a commit block only if the transaction allocated
 * written blocks in ordered mode or, since 6.15, if an fsync asked for it while
 * the transaction was running. All others say that data is on the volume which
 * is in the disk's volatile cache:
 * - before 6.15, an fsync of what was overwritten, or written with
 *   data=writeback: jbd2_trans_will_send_data_barrier() promises more than
 *   jbd2_journal_commit_transaction() keeps;
 * - in every kernel, a commit of extents that ext4 marks as written after
 *   their data was: without that data they show what the blocks held before,
 *   another file's bytes.
 * So the daemon flushes the volume itself before each commit block. (Fast
 * commits flush it always.)
 */
#ifndef RJ_JOURNALD_VOLUME_FLUSH_H
#define RJ_JOURNALD_VOLUME_FLUSH_H

#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

struct rj_volume_flush {
	int fd;	    /* the volume; -1: there is none */
	void *page; /* of a block device; NULL: it is a file */
	uint32_t block_size;
};

/* For the volume at DEVICE (block device or image) with blocks of BLOCK_SIZE
 * bytes. */
int rj_volume_flush_open(struct rj_volume_flush *b, const char *device,
	uint32_t block_size, struct rj_error *err);
/*
 * The LEN bytes DATA, from the beginning of a block on, are about to be
 * shipped: if one of their blocks is a commit block, flush the volume. 0 or
 * -RJ_E_IO.
 */
int rj_volume_flush_before_commit(const struct rj_volume_flush *b,
	const void *data, size_t len, struct rj_error *err);
void rj_volume_flush_close(struct rj_volume_flush *b);

#endif
