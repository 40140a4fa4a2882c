/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Go on as the same writer of the log after the worker before died, in the same epoch,
 * with the segment that it had sealed (saved-writer.h), whether the store answers or
 * not. Only for a volume with a fallback file. doc/fallback.md says why that is safe.
 */
#ifndef RJ_JOURNALD_RESUME_H
#define RJ_JOURNALD_RESUME_H

#include "load.h"

/*
 * Restore the writer of the worker before, from MEMORY and the fallback file S, into
 * OUT, which puts into STORE. A segment that the file took and MEMORY does not know is
 * accounted for. RJ_E_GAP, RJ_E_CORRUPT, RJ_E_REFUSED: the file is not what the worker
 * left.
 */
int rj_resume_writer(struct rj_worker_map *memory, struct rj_fallback *s,
	struct rj_store *store, const struct rj_log_id *id,
	struct rj_log_writer **out, struct rj_error *err);

/*
 * Give L its store, writer, fallback file and fallback sink after rj_load_again(), and put
 * the segment that was under way into the store or the file. May be called again after
 * RJ_E_UNREACHABLE or RJ_E_BUSY: neither store nor file takes that segment now, or the
 * file is locked. RJ_E_FENCED: another writer took over. RJ_E_GAP,
 * RJ_E_CORRUPT, RJ_E_REFUSED: the file is not what the worker left.
 */
int rj_resume(struct rj_loaded *l, struct rj_error *err);

#endif
