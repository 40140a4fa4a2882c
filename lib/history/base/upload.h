/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A base that is made at a store, chunk by chunk, and can be cut off and resumed. */
#ifndef RJ_HISTORY_UPLOAD_H
#define RJ_HISTORY_UPLOAD_H

#include "history/base/copy.h"
#include "history/base/stored.h"

struct rj_upload;

/* Open the store URL for a base of a volume of BLOCKS of BLOCK_SIZE bytes, whose log is ID.
 * The key of ID outlives it. The store's errors. */
int rj_upload_open(const char *url, const struct rj_log_id *id, uint32_t block_size,
	uint64_t blocks, struct rj_upload **out, struct rj_error *err);
/* The base of this volume that was begun last and not finished; NULL: there is none. OTHER_SIZE:
 * it is of a time when the volume had fewer blocks, so that it cannot be gone on with. */
const struct rj_base_manifest *rj_upload_unfinished(const struct rj_upload *u, bool *other_size);
/* Go on with that one, which the caller has found to be good still. */
void rj_upload_resume(struct rj_upload *u);
/* Begin a new one, that needs the log from RECORD's FROM on, with the number of its HOLD. */
int rj_upload_begin(struct rj_upload *u, const struct rj_base_record *record, uint64_t hold,
	struct rj_error *err);
/* Put the chunks that are not there, as C says; C's target is not used. */
int rj_upload_copy(struct rj_upload *u, const struct rj_copy *c, struct rj_copied *done,
	struct rj_error *err);
/* Make it a base, that begins with HEAD and has RECORD. RJ_E_REFUSED: another process has removed
 * some of it. */
int rj_upload_finish(struct rj_upload *u, const uint8_t head[RJ_BASE_HEAD],
	const struct rj_base_record *record, struct rj_error *err);
/* Remove the unfinished one, or what was begun. RJ_E_EXISTS: it is finished by now, by another
 * process or as an answer was lost, and stays; its hold is to stay, too. The store's errors. */
int rj_upload_drop(struct rj_upload *u, struct rj_error *err);
/* The base's number; 0: none was begun. */
uint64_t rj_upload_number(const struct rj_upload *u);
void rj_upload_free(struct rj_upload *u); /* NULL-safe */

#endif
