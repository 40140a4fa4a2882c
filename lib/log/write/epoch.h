/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Epoch objects: small texts whose existence is what counts. Putting
 * epoch/<E> if absent hands the number E to one writer and to no other, ever.
 */
#ifndef RJ_LOG_EPOCH_H
#define RJ_LOG_EPOCH_H

#include "format/epoch-claim.h"
#include "log/log.h"

struct rj_epoch_want {
	uint64_t above;
	bool only_next; /* ABOVE + 1 or none */
	const uint8_t *nonce; /* the writer's, RJ_SEG_NONCE_BYTES */
	uint64_t continues; /* as in rj_log_claim_opts */
	int retry_ms;
};

/*
 * Take the first free epoch above WANT->above. EPOCH gets the number. RJ_E_BUSY:
 * too many others took theirs at the same time.
 */
int rj_epoch_claim(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_epoch_want *want, uint64_t *epoch,
	struct rj_error *err);

/* Write the text of a claim into OUT (emptied first); with a tag, if the log has a key.
 * CONTINUES: 0, or as in rj_log_claim_opts. RJ_E_NOMEM, RJ_E_IO. */
int rj_epoch_text(const struct rj_log_id *id, uint64_t epoch,
	const uint8_t nonce[RJ_SEG_NONCE_BYTES], uint64_t continues,
	struct rj_buf *out, struct rj_error *err);
/* Is TEXT the claim of EPOCH in ID's log? Not if the log has a key, and the claim
 * was not written with it. OUT only then. */
bool rj_epoch_read(const struct rj_log_id *id, uint64_t epoch,
	const struct rj_buf *text, struct rj_epoch_claim *out);

#endif
