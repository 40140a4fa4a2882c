/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SHA-256 for the segment room. One context per thread, made at first use and
 * kept: once warm, no memory is asked of the system.
 */
#ifndef RJ_SEGMENT_DIGEST_H
#define RJ_SEGMENT_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/seghdr.h"
#include "util/buf.h"
#include "util/error.h"

/* SHA-256 of A_LEN bytes A followed by B_LEN bytes B (B may be NULL).
 * RJ_E_NOMEM, or RJ_E_IO when OpenSSL refuses. */
int rj_digest(const void *a, size_t a_len, const void *b, size_t b_len,
	uint8_t out[RJ_SEG_HASH_BYTES], struct rj_error *err);

/*
 * A SHA-256 begun before all of its bytes are known. Zero-initialise; release
 * with rj_digest_release(). Its context is its own: one thread may begin what
 * another one ends, but not both at once.
 */
struct rj_digest_begun {
	struct rj_buf bytes; /* the first ones, to be filled by the caller */
	void *ctx;	     /* an EVP_MD_CTX that has taken them; kept warm */
	bool begun;
};

/* Take D->bytes. RJ_E_NOMEM, RJ_E_IO. */
int rj_digest_begin(struct rj_digest_begun *d, struct rj_error *err);
/* Were the first of the LEN bytes at DATA, compared one by one, taken? */
bool rj_digest_fits(
	const struct rj_digest_begun *d, const void *data, size_t len);
/* SHA-256 of the LEN bytes at DATA, of which D has the first: it fits. D is not
 * begun any more. RJ_E_IO. */
int rj_digest_end(struct rj_digest_begun *d, const void *data, size_t len,
	uint8_t out[RJ_SEG_HASH_BYTES], struct rj_error *err);
void rj_digest_release(struct rj_digest_begun *d);

#endif
