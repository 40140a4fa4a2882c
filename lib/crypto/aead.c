// SPDX-License-Identifier: LGPL-2.1-or-later
/* AES-256-GCM by OpenSSL. */
#include "segment/aead.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "crypto/crypto-priv.h"
#include "util/bytes.h"

#define IV_BYTES 12

/* The cipher of one writer's key, in one direction. */
struct cipher {
	EVP_CIPHER_CTX *ctx;
	bool keyed;
	uint8_t fingerprint[RJ_SEALKEY_FINGERPRINT_BYTES];
	uint8_t journal_uuid[RJ_UUID_BYTES];
	uint8_t nonce[RJ_SEG_NONCE_BYTES];
};

/* Of one thread: [0] opens, [1] seals. OpenSSL wipes a context's key when it
 * frees it. */
struct ciphers {
	struct cipher way[2];
};

static EVP_CIPHER *gcm; /* fetched once per process, as the digest is */
/* Not a variable of the thread: LeakSanitizer crashes on those of a module (GCC 12). */
static pthread_key_t mine;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void free_ciphers(void *arg)
{
	struct ciphers *c = arg;

	EVP_CIPHER_CTX_free(c->way[0].ctx);
	EVP_CIPHER_CTX_free(c->way[1].ctx);
	free(c);
}

static void set_up(void)
{
	EVP_CIPHER *c = EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL);

	if (c && pthread_key_create(&mine, free_ciphers)) {
		EVP_CIPHER_free(c);
		c = NULL;
	}
	gcm = c;
}

static struct ciphers *get_ciphers(void)
{
	struct ciphers *c = pthread_getspecific(mine);

	if (c)
		return c;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->way[0].ctx = EVP_CIPHER_CTX_new();
	c->way[1].ctx = EVP_CIPHER_CTX_new();
	if (!c->way[0].ctx || !c->way[1].ctx ||
		pthread_setspecific(mine, c)) {
		free_ciphers(c);
		return NULL;
	}
	return c;
}

static bool is_keyed_for(const struct cipher *c, const struct rj_sealkey *key,
	const struct rj_seghdr *h)
{
	return c->keyed &&
	       !memcmp(c->fingerprint, rj_sealkey_fingerprint(key),
		       sizeof(c->fingerprint)) &&
	       !memcmp(c->journal_uuid, h->journal_uuid, RJ_UUID_BYTES) &&
	       !memcmp(c->nonce, h->nonce, sizeof(c->nonce));
}

static int give_key(struct cipher *c, int seal, const struct rj_sealkey *key,
	const struct rj_seghdr *h, struct rj_error *err)
{
	uint8_t derived[RJ_SEALKEY_BYTES];
	int rc;

	c->keyed = false;
	rc = rj_sealkey_derive(key, h->journal_uuid, h->nonce, derived, err);
	if (rc)
		return rc;
	if (EVP_CipherInit_ex2(c->ctx, gcm, derived, NULL, seal, NULL) != 1)
		rc = rj_fail(err, RJ_E_IO, "OpenSSL failed at AES-256-GCM");
	OPENSSL_cleanse(derived, sizeof(derived));
	if (rc)
		return rc;
	memcpy(c->fingerprint, rj_sealkey_fingerprint(key), sizeof(c->fingerprint));
	memcpy(c->journal_uuid, h->journal_uuid, RJ_UUID_BYTES);
	memcpy(c->nonce, h->nonce, sizeof(c->nonce));
	c->keyed = true;
	return 0;
}

/* Ready for H's segment: key, nonce and associated data are in. */
static int begin(int seal, const struct rj_sealkey *key, const struct rj_seghdr *h,
	const uint8_t *header, struct cipher **out, struct rj_error *err)
{
	uint8_t iv[IV_BYTES] = {0}, aad[RJ_SEG_HEADER_BYTES];
	struct ciphers *all;
	struct cipher *c;
	int len = 0, rc;

	pthread_once(&once, set_up);
	if (!gcm)
		return rj_fail(err, RJ_E_IO, "OpenSSL has no AES-256-GCM");
	all = get_ciphers();
	if (!all)
		return rj_fail(err, RJ_E_NOMEM, "out of memory for a cipher");
	c = &all->way[seal];
	rc = is_keyed_for(c, key, h) ? 0 : give_key(c, seal, key, h, err);
	if (rc)
		return rc;
	rj_put_le64(iv + 4, h->sequence);
	memcpy(aad, header, sizeof(aad));
	memset(aad + RJ_SEG_SEAL_OFFSET, 0, RJ_SEG_HASH_BYTES);
	if (EVP_CipherInit_ex2(c->ctx, NULL, NULL, iv, seal, NULL) != 1 ||
		EVP_CipherUpdate(c->ctx, NULL, &len, aad, sizeof(aad)) != 1)
		return rj_fail(err, RJ_E_IO, "OpenSSL failed at AES-256-GCM");
	*out = c;
	return 0;
}

int rj_openssl_aead_seal(const struct rj_sealkey *key, const struct rj_seghdr *h,
	const uint8_t *header, const uint8_t *in, size_t len, uint8_t *out, uint8_t *tag,
	struct rj_error *err)
{
	struct cipher *c = NULL;
	int n = 0, last = 0, rc;

	rc = begin(1, key, h, header, &c, err);
	if (rc)
		return rc;
	/* a segment is at most 16 MiB: LEN fits an int */
	if (EVP_CipherUpdate(c->ctx, out, &n, in, (int)len) != 1 ||
		EVP_CipherFinal_ex(c->ctx, out + n, &last) != 1 ||
		(size_t)n + (size_t)last != len ||
		EVP_CIPHER_CTX_ctrl(c->ctx, EVP_CTRL_AEAD_GET_TAG,
			RJ_AEAD_TAG_BYTES, tag) != 1)
		return rj_fail(err, RJ_E_IO, "OpenSSL failed at AES-256-GCM");
	return 0;
}

int rj_openssl_aead_open(const struct rj_sealkey *key, const struct rj_seghdr *h,
	const uint8_t *header, const uint8_t *in, size_t len, uint8_t *out, const uint8_t *tag,
	struct rj_error *err)
{
	uint8_t copy[RJ_AEAD_TAG_BYTES];
	struct cipher *c = NULL;
	int n = 0, last = 0, rc;

	rc = begin(0, key, h, header, &c, err);
	if (rc)
		return rc;
	memcpy(copy, tag, sizeof(copy));
	if (EVP_CipherUpdate(c->ctx, out, &n, in, (int)len) != 1 ||
		EVP_CIPHER_CTX_ctrl(c->ctx, EVP_CTRL_AEAD_SET_TAG,
			RJ_AEAD_TAG_BYTES, copy) != 1)
		return rj_fail(err, RJ_E_IO, "OpenSSL failed at AES-256-GCM");
	if (EVP_CipherFinal_ex(c->ctx, out + n, &last) != 1 ||
		(size_t)n + (size_t)last != len)
		return rj_fail(err, RJ_E_CORRUPT,
			"its AES-GCM tag does not match");
	return 0;
}
