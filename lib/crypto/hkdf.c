// SPDX-License-Identifier: LGPL-2.1-or-later
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <stdbool.h>

#include "crypto/crypto-priv.h"

#define SECRET_BYTES 32

int rj_openssl_hkdf(const uint8_t *secret, const void *salt, size_t salt_len, const void *info,
	size_t info_len, uint8_t *out, size_t len, struct rj_error *err)
{
	EVP_KDF *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
	EVP_KDF_CTX *ctx = kdf ? EVP_KDF_CTX_new(kdf) : NULL;
	OSSL_PARAM p[5], *next = p;
	bool good;

	*next++ = OSSL_PARAM_construct_utf8_string(
		OSSL_KDF_PARAM_DIGEST, (char *)"SHA256", 0);
	*next++ = OSSL_PARAM_construct_octet_string(
		OSSL_KDF_PARAM_KEY, (void *)secret, SECRET_BYTES);
	*next++ = OSSL_PARAM_construct_octet_string(
		OSSL_KDF_PARAM_SALT, (void *)salt, salt_len);
	*next++ = OSSL_PARAM_construct_octet_string(
		OSSL_KDF_PARAM_INFO, (void *)info, info_len);
	*next = OSSL_PARAM_construct_end();
	good = ctx && EVP_KDF_derive(ctx, out, len, p) == 1;
	EVP_KDF_CTX_free(ctx);
	EVP_KDF_free(kdf);
	return good ? 0 : rj_fail(err, RJ_E_IO, "OpenSSL failed at HKDF");
}
