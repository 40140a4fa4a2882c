// SPDX-License-Identifier: LGPL-2.1-or-later
#include "segment/digest.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <string.h>

/*
 * Fetching a digest walks OpenSSL's providers and takes locks, so it is done
 * once per process; it is never freed, like OpenSSL's own tables.
 */
static EVP_MD *sha256;
static pthread_key_t cleanup;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static __thread EVP_MD_CTX *thread_ctx;

static void free_ctx(void *ctx)
{
	EVP_MD_CTX_free(ctx);
}

static void set_up(void)
{
	EVP_MD *md = EVP_MD_fetch(NULL, "SHA256", NULL);

	if (md && pthread_key_create(&cleanup, free_ctx)) {
		EVP_MD_free(md);
		md = NULL;
	}
	sha256 = md;
}

/* The calling thread's context, initialised and freed with the thread. */
static EVP_MD_CTX *get_ctx(void)
{
	EVP_MD_CTX *ctx = thread_ctx;

	if (ctx)
		return ctx;
	ctx = EVP_MD_CTX_new();
	if (!ctx)
		return NULL;
	if (EVP_DigestInit_ex2(ctx, sha256, NULL) != 1 ||
		pthread_setspecific(cleanup, ctx)) {
		EVP_MD_CTX_free(ctx);
		return NULL;
	}
	thread_ctx = ctx;
	return ctx;
}

static int load(struct rj_error *err)
{
	pthread_once(&once, set_up);
	return sha256 ? 0 : rj_fail(err, RJ_E_IO, "OpenSSL has no SHA-256");
}

static int failed(struct rj_error *err)
{
	return rj_fail(err, RJ_E_IO, "OpenSSL failed at SHA-256");
}

int rj_digest(const void *a, size_t a_len, const void *b, size_t b_len,
	uint8_t out[RJ_SEG_HASH_BYTES], struct rj_error *err)
{
	EVP_MD_CTX *ctx;
	unsigned len = 0;
	int rc = load(err);

	if (rc)
		return rc;
	ctx = get_ctx();
	if (!ctx)
		return rj_fail(err, RJ_E_NOMEM, "out of memory for SHA-256");
	/* No digest named: the context's own is begun again. OpenSSL 3.0 frees
	 * and mallocs its 112 bytes of state at this; they come from the
	 * thread's cache of the allocator, not from the system. */
	if (EVP_DigestInit_ex2(ctx, NULL, NULL) != 1 ||
		EVP_DigestUpdate(ctx, a, a_len) != 1 ||
		(b_len && EVP_DigestUpdate(ctx, b, b_len) != 1) ||
		EVP_DigestFinal_ex(ctx, out, &len) != 1 ||
		len != RJ_SEG_HASH_BYTES)
		return failed(err);
	return 0;
}
