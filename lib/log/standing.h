/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where a log's writer stands, written down so that another process can go on
 * as the same writer after its death: in the same epoch, behind the same
 * segment, and with the very bytes that it had under way. It holds only what
 * is true of one writer in the world, so it is kept in memory that one process
 * at a time has, never on a disk.
 */
#ifndef RJ_LOG_STANDING_H
#define RJ_LOG_STANDING_H

#include <stdbool.h>
#include <stdint.h>

#include "log/log.h"

struct rj_log_standing {
	uint64_t epoch;
	uint8_t nonce[RJ_SEG_NONCE_BYTES];
	struct rj_log_tail tail; /* acknowledged, or kept */
	/* PENDING: the segment that was sealed behind it. It may be at the store
	 * already, or on its way there. */
	struct rj_log_tail next;
	bool pending, must_base;
	uint64_t floor;
	uint32_t block_size, journal_blocks; /* of the last segment with blocks */
};

/* As W stands now; what is pending is told by rj_log_sealed(). */
void rj_log_stand(const struct rj_log_writer *w, struct rj_log_standing *out);
/*
 * The writer that stood so, again: its process is dead, no other goes on for
 * it, and nothing was sealed since. PENDING of LEN bytes: the segment's, when
 * one was. Contacts nobody; STORE as in rj_log_claim(). A claim that another
 * made since is found by the next put, as it was by the writer before.
 * RJ_E_NOMEM. RJ_E_CORRUPT: the bytes are not that segment.
 */
int rj_log_stand_again(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_log_standing *at, const void *pending, size_t len,
	struct rj_log_writer **out, struct rj_error *err);

#endif
