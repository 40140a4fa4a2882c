/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * AES-256-GCM for the segment room. A segment's nonce is its number: the key is
 * that of one writer, and a writer seals each number once.
 */
#ifndef RJ_SEGMENT_AEAD_H
#define RJ_SEGMENT_AEAD_H

#include <stddef.h>
#include <stdint.h>

#include "format/seghdr.h"
#include "segment/sealkey.h"
#include "util/error.h"

#define RJ_AEAD_TAG_BYTES 16

/*
 * Encrypt LEN bytes IN to OUT (the same place will do), with the raw HEADER
 * (256 bytes, its seal taken as zero) as associated data; H is the header
 * decoded. TAG gets 16 bytes. Each thread keeps the cipher of the last writer,
 * so that a writer derives its key once. RJ_E_IO, RJ_E_NOMEM.
 */
int rj_aead_seal(const struct rj_sealkey *key, const struct rj_seghdr *h,
	const uint8_t *header, const uint8_t *in, size_t len, uint8_t *out,
	uint8_t tag[RJ_AEAD_TAG_BYTES], struct rj_error *err);

/* The reverse. RJ_E_CORRUPT when TAG is not theirs: OUT is then worthless. */
int rj_aead_open(const struct rj_sealkey *key, const struct rj_seghdr *h,
	const uint8_t *header, const uint8_t *in, size_t len, uint8_t *out,
	const uint8_t tag[RJ_AEAD_TAG_BYTES], struct rj_error *err);

#endif
