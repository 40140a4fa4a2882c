/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What librj uses of OpenSSL: the functions of the module librj-openssl (lib/crypto). The
 * rooms that offer them say what they do: segment/aead.h, segment/sealkey.h,
 * store/http/http1-conn.h.
 */
#ifndef RJ_MODULE_OPENSSL_H
#define RJ_MODULE_OPENSSL_H

#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

struct rj_http1_conn;
struct rj_seghdr;
struct rj_sealkey;

struct rj_openssl {
	/* Get LEN bytes of HKDF-SHA256 (RFC 5869) of SECRET, 32 bytes, in OUT. RJ_E_IO. */
	int (*hkdf)(const uint8_t *secret, const void *salt, size_t salt_len, const void *info,
		size_t info_len, uint8_t *out, size_t len, struct rj_error *err);
	/* rj_aead_seal(), rj_aead_open() */
	int (*aead_seal)(const struct rj_sealkey *key, const struct rj_seghdr *h,
		const uint8_t *header, const uint8_t *in, size_t len, uint8_t *out, uint8_t *tag,
		struct rj_error *err);
	int (*aead_open)(const struct rj_sealkey *key, const struct rj_seghdr *h,
		const uint8_t *header, const uint8_t *in, size_t len, uint8_t *out,
		const uint8_t *tag, struct rj_error *err);
	/* 0: the LEN bytes at A and B are equal. Takes the same time where they are not. */
	int (*differ)(const void *a, const void *b, size_t len);
	/* Write LEN bytes in base64, with a NUL, to OUT. Returns the length. */
	int (*base64)(unsigned char *out, const unsigned char *in, int len);
	/*
	 * Begin TLS over the new connection C, with the settings of its peer, until UNTIL_NS
	 * (monotonic), and check the server's certificate. C gets the functions of its I/O.
	 * RJ_E_UNREACHABLE; RJ_E_DENIED: the certificate is not trusted, or has another name;
	 * RJ_E_INVAL: a certificate or key of rj.conf cannot be used; RJ_E_NOMEM.
	 */
	int (*tls_begin)(struct rj_http1_conn *c, int64_t until_ns, struct rj_error *err);
};

/* Get these functions. Errors as of rj_module_load(). */
int rj_openssl(const struct rj_openssl **out, struct rj_error *err);

#endif
