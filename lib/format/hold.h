/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The text of a hold, as doc/log-format.md has it. */
#ifndef RJ_FORMAT_HOLD_H
#define RJ_FORMAT_HOLD_H

#include <stdint.h>

#include "format/claim-text.h"
#include "util/buf.h"
#include "util/error.h"
#include "util/uuid.h"

/* Until its time is over nothing of the log at or above FIRST is deleted. */
struct rj_hold {
	uint64_t number; /* of its object */
	uint64_t first;	 /* segment, from 1 */
	uint8_t journal_uuid[RJ_UUID_BYTES];
	char host[RJ_CLAIM_HOST];    /* visible ASCII; "-": not said */
	char program[RJ_CLAIM_HOST]; /* visible ASCII */
	int64_t time, until;	     /* seconds since 1970 */
};

/* The latest UNTIL that has a text: the year 9999's last second. */
#define RJ_HOLD_LATEST 253402300799

/* H's text, appended to OUT. 0 or RJ_E_NOMEM. */
int rj_hold_encode(const struct rj_hold *h, struct rj_buf *out);
/* The LEN bytes TEXT, each line in its place and nothing else. OUT is written
 * only on success. RJ_E_CORRUPT. */
int rj_hold_decode(const void *text, size_t len, struct rj_hold *out,
	struct rj_error *err);

#endif
