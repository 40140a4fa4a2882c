/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Save the state of the log's writer, and the sealed segment that is under way, in the
 * memory that outlives the worker (worker-shm.h). The next worker goes on as the same
 * writer, with the same bytes, and without asking the store. Only for a volume with a
 * fallback file: without one nothing can be acknowledged without the store, and the
 * next worker claims an epoch.
 *
 * K may be NULL everywhere (in tests): nothing is saved.
 */
#ifndef RJ_JOURNALD_SAVED_WRITER_H
#define RJ_JOURNALD_SAVED_WRITER_H

#include "log/write/writer-state.h"
#include "worker-shm.h"

/* Save the state of W, and copy its segment. To be called after W has sealed a segment,
 * and after that was acknowledged or put into the file, before anything is sent or
 * answered. */
void rj_saved_writer_note(
	struct rj_worker_map *k, const struct rj_log_writer *w);
/* Note that nothing is acknowledged again, by no later worker either, because of WHY. */
void rj_saved_writer_over(struct rj_worker_map *k, const struct rj_error *why);
/* Note that SEQUENCE is durable in the fallback file, and not acknowledged yet. */
void rj_saved_writer_in_file(struct rj_worker_map *k, uint64_t sequence);
/* Note that the store has what the file holds up to SEQUENCE. */
void rj_saved_writer_shipped(struct rj_worker_map *k, uint64_t sequence);

/* Read the state that the worker before saved into *AT; *PENDING points into the memory,
 * at its segment that was under way. False: nothing was saved yet. */
bool rj_saved_writer_read(const struct rj_worker_map *k,
	struct rj_log_writer_state *at, const uint8_t **pending, size_t *len);

#endif
