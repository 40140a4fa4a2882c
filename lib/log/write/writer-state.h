/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Save a log writer's state, so that another process can continue as the same
 * writer after its death: in the same epoch, after the same segment, and with the
 * same bytes of the pending one. Only one writer in the world may have this
 * state, so it is kept in memory that only one process has at a time, never on a
 * disk.
 */
#ifndef RJ_LOG_WRITER_STATE_H
#define RJ_LOG_WRITER_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "log/log.h"

struct rj_log_writer_state {
	uint64_t epoch;
	uint8_t nonce[RJ_SEG_NONCE_BYTES];
	struct rj_log_tail tail; /* acknowledged, or kept */
	/* PENDING: the segment that was sealed after TAIL. It may be at the store
	 * already, or on its way there. */
	struct rj_log_tail next;
	bool pending, must_base;
	uint64_t floor;
};

/* Save W's present state; rj_log_sealed() gets the pending segment. */
void rj_log_writer_save(
	const struct rj_log_writer *w, struct rj_log_writer_state *out);
/*
 * Restore a saved writer. The caller makes sure that its process is dead, that no
 * other continues for it, and that no segment was sealed since. PENDING, LEN: the
 * pending segment's bytes, if there was one. Sends no request; STORE as in
 * rj_log_claim(). A later claim by another writer fails the next put, as before.
 * RJ_E_NOMEM. RJ_E_CORRUPT: the bytes are not that segment.
 */
int rj_log_writer_restore(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_log_writer_state *at, const void *pending, size_t len,
	struct rj_log_writer **out, struct rj_error *err);

#endif
