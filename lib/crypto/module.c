// SPDX-License-Identifier: LGPL-2.1-or-later
/* The entry of module librj-openssl: its functions. */
#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "crypto/crypto-priv.h"

extern const struct rj_openssl rj_module_functions;

const struct rj_openssl rj_module_functions = {
	.hkdf = rj_openssl_hkdf,
	.aead_seal = rj_openssl_aead_seal,
	.aead_open = rj_openssl_aead_open,
	.differ = CRYPTO_memcmp,
	.base64 = EVP_EncodeBlock,
	.tls_begin = rj_openssl_tls_begin,
};
