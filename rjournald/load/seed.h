/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Put the journal that is in memory into a log, so that it is all that a replay needs. */
#ifndef RJ_JOURNALD_SEED_H
#define RJ_JOURNALD_SEED_H

#include "load.h"

/*
 * Append to W, whose fence is a break, every block of L's ring that a replay needs or that is
 * pending. A journal of more than one segment begins with its log's blocks; the journal's
 * superblock comes last, so that a part of it is no journal to a reader, and never
 * recovered. Nothing may write to the ring during the call. *BASE gets the first segment's number.
 * Errors as of rj_log_append_within(); RJ_E_NOMEM.
 */
int rj_seed_ring(const struct rj_loaded *l, struct rj_log_writer *w, uint64_t *base,
	struct rj_error *err);

/* Get how many bytes of blocks that would be now. */
uint64_t rj_seed_bytes(const struct rj_loaded *l);

#endif
