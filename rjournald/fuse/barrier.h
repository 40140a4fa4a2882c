/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The volume's own write cache. An fsync first writes the file's data to the
 * volume, then has JBD2 commit, and leaves it to the commit to flush the
 * volume's device. With an external journal, kernels before 6.15 do that only
 * for transactions that allocated blocks in ordered mode
 * (jbd2_trans_will_send_data_barrier() promises more than
 * jbd2_journal_commit_transaction() keeps): what was overwritten, or written
 * with data=writeback, is then in the disk's volatile cache when fsync
 * returns. On such kernels the daemon flushes the volume itself before a commit
 * block is shipped. (Fast commits flush it always.)
 */
#ifndef RJ_JOURNALD_BARRIER_H
#define RJ_JOURNALD_BARRIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

struct rj_barrier {
	int fd;	    /* the volume; -1: the kernel does it */
	void *page; /* of a block device; NULL: it is a file */
	uint32_t block_size;
};

/* Must the volumes of the kernel RELEASE (uname -r) be flushed? */
bool rj_barrier_needed(const char *release);
/* The same of the kernel that runs; true if it cannot be told. */
bool rj_barrier_needed_here(void);
/*
 * For the volume at DEVICE (block device or image) with blocks of BLOCK_SIZE
 * bytes. Unless NEEDED, rj_barrier_before() does nothing.
 */
int rj_barrier_open(struct rj_barrier *b, const char *device,
	uint32_t block_size, bool needed, struct rj_error *err);
/*
 * The LEN bytes DATA, from the beginning of a block on, are about to be
 * shipped: if one of their blocks is a commit block, flush the volume. 0 or
 * -RJ_E_IO.
 */
int rj_barrier_before(const struct rj_barrier *b, const void *data, size_t len,
	struct rj_error *err);
void rj_barrier_close(struct rj_barrier *b);

#endif
