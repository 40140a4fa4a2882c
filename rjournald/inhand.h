/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the log's writer has in hand, written into the memory that outlives the
 * worker (kept.h): where it stands, and the sealed segment that is under way.
 * The next worker goes on as the same writer, with the same bytes, and needs the
 * store for none of it. Only where there is a fallback file: elsewhere nothing
 * can be acknowledged without the store, and the next worker claims an epoch.
 *
 * K may be NULL everywhere: then nothing outlives us (the tests').
 */
#ifndef RJ_JOURNALD_INHAND_H
#define RJ_JOURNALD_INHAND_H

#include "kept.h"
#include "log/standing.h"

/* W has just sealed, or what it had sealed was acknowledged or kept: to be
 * called after each, before anything is sent or answered. Copies the segment. */
void rj_inhand_note(struct rj_kept_map *k, const struct rj_log_writer *w);
/* Nothing is acknowledged again, because of WHY: no later worker does either. */
void rj_inhand_over(struct rj_kept_map *k, const struct rj_error *why);
/* The fallback file has SEQUENCE, durably; it is not acknowledged yet. */
void rj_inhand_in_file(struct rj_kept_map *k, uint64_t sequence);
/* The store has what the file holds up to SEQUENCE. */
void rj_inhand_shipped(struct rj_kept_map *k, uint64_t sequence);

/* What the worker before us had in hand: *AT, and the bytes of a pending
 * segment, in the memory. False: it had come to nothing yet. */
bool rj_inhand_look(const struct rj_kept_map *k, struct rj_log_standing *at,
	const uint8_t **pending, size_t *len);

#endif
