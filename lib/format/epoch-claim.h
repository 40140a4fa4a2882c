/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Encode and decode the text of an epoch claim (doc/log-format.md). */
#ifndef RJ_FORMAT_EPOCH_CLAIM_H
#define RJ_FORMAT_EPOCH_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

#include "format/claim-text.h"
#include "format/seghdr.h"
#include "util/buf.h"
#include "util/error.h"
#include "util/uuid.h"

#define RJ_EPOCH_TAG_BYTES 32

struct rj_epoch_claim {
	uint64_t epoch;
	uint64_t continues; /* the epoch in the volume's superblock; 0: EPOCH */
	uint8_t volume_uuid[RJ_UUID_BYTES], journal_uuid[RJ_UUID_BYTES];
	uint8_t nonce[RJ_SEG_NONCE_BYTES]; /* of the epoch's segments */
	char host[RJ_CLAIM_HOST];	   /* visible ASCII; "-": not given */
	int64_t time;			   /* seconds since 1970 */
	/* Filled by rj_epoch_claim_decode() only: */
	bool has_tag;
	uint8_t tag[RJ_EPOCH_TAG_BYTES]; /* the caller checks it */
	size_t tagged;			 /* bytes of the text that it covers */
};

/* Append C's text, without a tag, to OUT. 0 or RJ_E_NOMEM. */
int rj_epoch_claim_encode(const struct rj_epoch_claim *c, struct rj_buf *out);
/* Append the line with TAG. 0 or RJ_E_NOMEM. */
int rj_epoch_claim_add_tag(
	const uint8_t tag[RJ_EPOCH_TAG_BYTES], struct rj_buf *out);
/* Decode the LEN bytes TEXT: all lines, in their order, and nothing else. OUT is
 * written only on success. RJ_E_CORRUPT. */
int rj_epoch_claim_decode(const void *text, size_t len,
	struct rj_epoch_claim *out, struct rj_error *err);

#endif
