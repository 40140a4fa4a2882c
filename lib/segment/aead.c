// SPDX-License-Identifier: LGPL-2.1-or-later
#include "segment/aead.h"

#include "module/openssl.h"

int rj_aead_seal(const struct rj_sealkey *key, const struct rj_seghdr *h,
	const uint8_t *header, const uint8_t *in, size_t len, uint8_t *out,
	uint8_t tag[RJ_AEAD_TAG_BYTES], struct rj_error *err)
{
	const struct rj_openssl *o;
	int rc = rj_openssl(&o, err);

	return rc ? rc : o->aead_seal(key, h, header, in, len, out, tag, err);
}

int rj_aead_open(const struct rj_sealkey *key, const struct rj_seghdr *h,
	const uint8_t *header, const uint8_t *in, size_t len, uint8_t *out,
	const uint8_t tag[RJ_AEAD_TAG_BYTES], struct rj_error *err)
{
	const struct rj_openssl *o;
	int rc = rj_openssl(&o, err);

	return rc ? rc : o->aead_open(key, h, header, in, len, out, tag, err);
}
