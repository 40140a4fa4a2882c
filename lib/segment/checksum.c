// SPDX-License-Identifier: LGPL-2.1-or-later
#include "segment/checksum.h"

#include <string.h>
#include <xxhash.h>

static int hash_parts(const struct iovec *parts, int count,
	XXH128_hash_t *hash, struct rj_error *err)
{
	XXH3_state_t *state = XXH3_createState();
	XXH_errorcode rc = state ? XXH3_128bits_reset(state) : XXH_ERROR;
	int i;

	for (i = 0; i < count && rc == XXH_OK; i++)
		rc = XXH3_128bits_update(
			state, parts[i].iov_base, parts[i].iov_len);
	if (rc == XXH_OK)
		*hash = XXH3_128bits_digest(state);
	XXH3_freeState(state);
	return rc == XXH_OK ? 0
			    : rj_fail(err, RJ_E_NOMEM,
				      "out of memory for a checksum");
}

int rj_checksum_parts(const struct iovec *parts, int count,
	uint8_t out[RJ_SEG_HASH_BYTES], struct rj_error *err)
{
	XXH128_canonical_t canonical;
	XXH128_hash_t hash;
	int rc = 0;

	if (count == 1)
		hash = XXH3_128bits(parts->iov_base, parts->iov_len);
	else
		rc = hash_parts(parts, count, &hash, err);
	if (rc)
		return rc;
	XXH128_canonicalFromHash(&canonical, hash);
	memset(out, 0, RJ_SEG_HASH_BYTES);
	memcpy(out, canonical.digest, sizeof(canonical.digest));
	return 0;
}

int rj_checksum(const void *a, size_t a_len, const void *b, size_t b_len,
	uint8_t out[RJ_SEG_HASH_BYTES], struct rj_error *err)
{
	const struct iovec parts[] = {{(void *)a, a_len}, {(void *)b, b_len}};

	return rj_checksum_parts(parts, 2, out, err);
}
