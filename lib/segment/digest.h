/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SHA-256. Allocates nothing.
 */
#ifndef RJ_SEGMENT_DIGEST_H
#define RJ_SEGMENT_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include "format/seghdr.h"
#include "util/error.h"

/* SHA-256 of A_LEN bytes A followed by B_LEN bytes B (B may be NULL).
 * Returns 0: it cannot fail. */
int rj_digest(const void *a, size_t a_len, const void *b, size_t b_len,
	uint8_t out[RJ_SEG_HASH_BYTES], struct rj_error *err);

#endif
