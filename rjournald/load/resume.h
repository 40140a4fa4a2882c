/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A worker died, and the volume has a fallback file: go on as the same writer
 * of the log, in the same epoch, with what it had in hand (saved-writer.h), whether
 * the store is there or not. doc/fallback.md says why that is safe.
 */
#ifndef RJ_JOURNALD_RESUME_H
#define RJ_JOURNALD_RESUME_H

#include "load.h"

/*
 * The writer that the worker before us was, as MEMORY and the fallback file S
 * have it, into OUT; puts into STORE. What that worker had kept in the file and
 * did not know of is accounted for. RJ_E_GAP, RJ_E_CORRUPT, RJ_E_REFUSED: the
 * file is not what the worker left.
 */
int rj_resume_writer(struct rj_worker_map *memory, struct rj_fallback *s,
	struct rj_store *store, const struct rj_log_id *id,
	struct rj_log_writer **out, struct rj_error *err);

/*
 * After rj_load_again(): L gets store, writer, fallback file and fallback_sink, and the
 * segment that was under way is put or kept. May be called again after
 * RJ_E_UNREACHABLE or RJ_E_BUSY: neither store nor file takes that segment now,
 * or the file is locked. RJ_E_FENCED: another writer took over. RJ_E_GAP,
 * RJ_E_CORRUPT, RJ_E_REFUSED: the file is not what the worker left.
 */
int rj_resume(struct rj_loaded *l, struct rj_error *err);

#endif
