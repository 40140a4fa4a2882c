/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The checksum of a segment without a key: against damage, not against an adversary. */
#ifndef RJ_SEGMENT_CHECKSUM_H
#define RJ_SEGMENT_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "format/seghdr.h"
#include "util/error.h"

/* XXH3-128 of COUNT parts, one after the other, in xxHash's canonical form (16 bytes,
 * big-endian), and 16 bytes of 0. Allocates, less than 1 KiB, if COUNT is not 1.
 * RJ_E_NOMEM. */
int rj_checksum_parts(const struct iovec *parts, int count,
	uint8_t out[RJ_SEG_HASH_BYTES], struct rj_error *err);
/* The same of A_LEN bytes A followed by B_LEN bytes B. */
int rj_checksum(const void *a, size_t a_len, const void *b, size_t b_len,
	uint8_t out[RJ_SEG_HASH_BYTES], struct rj_error *err);

#endif
