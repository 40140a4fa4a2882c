// SPDX-License-Identifier: LGPL-2.1-or-later
#include "segment/checksum.h"

#include <string.h>
#include <xxhash.h>

static XXH_errorcode both(XXH3_state_t *state, const void *a, size_t a_len,
	const void *b, size_t b_len)
{
	XXH_errorcode rc = XXH3_128bits_reset(state);

	if (rc == XXH_OK)
		rc = XXH3_128bits_update(state, a, a_len);
	return rc == XXH_OK ? XXH3_128bits_update(state, b, b_len) : rc;
}

static int of_two(const void *a, size_t a_len, const void *b, size_t b_len,
	XXH128_hash_t *hash, struct rj_error *err)
{
	XXH3_state_t *state = XXH3_createState();

	if (!state || both(state, a, a_len, b, b_len) != XXH_OK) {
		XXH3_freeState(state);
		return rj_fail(err, RJ_E_NOMEM, "out of memory for a checksum");
	}
	*hash = XXH3_128bits_digest(state);
	XXH3_freeState(state);
	return 0;
}

int rj_checksum(const void *a, size_t a_len, const void *b, size_t b_len,
	uint8_t out[RJ_SEG_HASH_BYTES], struct rj_error *err)
{
	XXH128_canonical_t canonical;
	XXH128_hash_t hash;
	int rc = 0;

	if (b)
		rc = of_two(a, a_len, b, b_len, &hash, err);
	else
		hash = XXH3_128bits(a, a_len);
	if (rc)
		return rc;
	XXH128_canonicalFromHash(&canonical, hash);
	memset(out, 0, RJ_SEG_HASH_BYTES);
	memcpy(out, canonical.digest, sizeof(canonical.digest));
	return 0;
}
