/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Put an object that no other writer can have put with the same bytes. */
#ifndef RJ_LOG_PUT_OWN_H
#define RJ_LOG_PUT_OWN_H

#include "store/store.h"

/*
 * Put TEXT, which has a random number or nonce of its own, as KEY. An object that is
 * there already with the same bytes is ours: the store's answer was lost. Tries again
 * for RETRY_MS milliseconds (log/retry.h). RJ_E_EXISTS: other bytes are there. Else
 * the store's errors; the object may have been put then.
 */
int rj_log_put_own(struct rj_store *store, const struct rj_key *key,
	const struct rj_buf *text, int retry_ms, struct rj_error *err);

#endif
