/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions of module librj-openssl, as module/openssl.h says. Private to lib/crypto. */
#ifndef RJ_CRYPTO_PRIV_H
#define RJ_CRYPTO_PRIV_H

#include "module/openssl.h"

int rj_openssl_hkdf(const uint8_t *secret, const void *salt, size_t salt_len, const void *info,
	size_t info_len, uint8_t *out, size_t len, struct rj_error *err);
int rj_openssl_aead_seal(const struct rj_sealkey *key, const struct rj_seghdr *h,
	const uint8_t *header, const uint8_t *in, size_t len, uint8_t *out, uint8_t *tag,
	struct rj_error *err);
int rj_openssl_aead_open(const struct rj_sealkey *key, const struct rj_seghdr *h,
	const uint8_t *header, const uint8_t *in, size_t len, uint8_t *out, const uint8_t *tag,
	struct rj_error *err);
int rj_openssl_tls_begin(struct rj_http1_conn *c, int64_t until_ns, struct rj_error *err);

#endif
