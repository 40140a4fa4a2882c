// SPDX-License-Identifier: LGPL-2.1-or-later
/* SHA-256 by nettle: each segment that is read needs it, and OpenSSL takes longer to load than
 * a whole rjrecover of a clean volume (doc/results/start.md). */
#include "segment/digest.h"

#include <nettle/sha2.h>

int rj_digest(const void *a, size_t a_len, const void *b, size_t b_len,
	uint8_t out[RJ_SEG_HASH_BYTES], struct rj_error *err)
{
	struct sha256_ctx ctx;

	(void)err;
	sha256_init(&ctx);
	sha256_update(&ctx, a_len, a);
	if (b_len)
		sha256_update(&ctx, b_len, b);
	sha256_digest(&ctx, RJ_SEG_HASH_BYTES, out);
	return 0;
}
