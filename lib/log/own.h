/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Small texts of a log apart from its segments: claims, holds, named marks. */
#ifndef RJ_LOG_OWN_H
#define RJ_LOG_OWN_H

#include "log/log.h"

/*
 * Put TEXT, which has a random number or nonce of its own, as KEY. An object that is
 * there already with the same bytes is ours: the store's answer was lost. Tries again
 * for RETRY_MS milliseconds (log/retry.h). RJ_E_EXISTS: other bytes are there. Else
 * the store's errors; the object may have been put then.
 */
int rj_log_put_own(struct rj_store *store, const struct rj_key *key,
	const struct rj_buf *text, int retry_ms, struct rj_error *err);
/* Read the text of KEY into OUT (emptied first), at most 4096 bytes. RJ_E_NOTFOUND; else the
 * store's errors. */
int rj_log_get_own(struct rj_store *store, const struct rj_key *key,
	int retry_ms, struct rj_buf *out, struct rj_error *err);
/* Append the numbers of all objects of KIND to OUT, as uint64_t, ascending. */
int rj_log_list_own(struct rj_store *store, const struct rj_log_id *id,
	enum rj_key_kind kind, int retry_ms, struct rj_buf *out,
	struct rj_error *err);
/* Is NUMBER in such a list? */
bool rj_log_own_listed(const struct rj_buf *numbers, uint64_t number);
/* Remove KEY. RJ_E_NOTFOUND: there was none before the first try. */
int rj_log_remove_own(struct rj_store *store, const struct rj_key *key,
	struct rj_error *err);

#endif
