/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the log's writer has in hand, written into the memory that outlives the
 * worker (worker-shm.h): where it stands, and the sealed segment that is under way.
 * The next worker goes on as the same writer, with the same bytes, and needs the
 * store for none of it. Only where there is a fallback file: elsewhere nothing
 * can be acknowledged without the store, and the next worker claims an epoch.
 *
 * K may be NULL everywhere: then nothing outlives us (the tests').
 */
#ifndef RJ_JOURNALD_SAVED_WRITER_H
#define RJ_JOURNALD_SAVED_WRITER_H

#include "log/write/writer-state.h"
#include "worker-shm.h"

/* W has just sealed, or what it had sealed was acknowledged or kept: to be
 * called after each, before anything is sent or answered. Copies the segment. */
void rj_saved_writer_note(
	struct rj_worker_map *k, const struct rj_log_writer *w);
/* Nothing is acknowledged again, because of WHY: no later worker does either. */
void rj_saved_writer_over(struct rj_worker_map *k, const struct rj_error *why);
/* The fallback file has SEQUENCE, durably; it is not acknowledged yet. */
void rj_saved_writer_in_file(struct rj_worker_map *k, uint64_t sequence);
/* The store has what the file holds up to SEQUENCE. */
void rj_saved_writer_shipped(struct rj_worker_map *k, uint64_t sequence);

/* What the worker before us had in hand: *AT, and the bytes of a pending
 * segment, in the memory. False: it had come to nothing yet. */
bool rj_saved_writer_read(const struct rj_worker_map *k,
	struct rj_log_writer_state *at, const uint8_t **pending, size_t *len);

#endif
