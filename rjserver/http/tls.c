// SPDX-License-Identifier: GPL-2.0-or-later
#include "tls.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tls-priv.h"

static const char *why_not(void)
{
	unsigned long code = ERR_peek_error();
	const char *text = code ? ERR_reason_error_string(code) : NULL;

	if (code && ERR_SYSTEM_ERROR(code))
		text = strerror(ERR_GET_REASON(code));
	return text ? text : "not usable";
}

static int refuse(struct rj_error *err, const char *path, const char *what)
{
	int rc = rj_fail(err, RJ_E_INVAL, "%s: not usable as %s: %s", path,
		what, why_not());

	ERR_clear_error();
	return rc;
}

/* Anyone who can read the private key can pose as the server. */
static int check_key(const char *path, struct rj_error *err)
{
	struct stat st;

	if (stat(path, &st))
		return rj_fail_errno(err, errno, "%s", path);
	if (st.st_mode & 007)
		return rj_fail(err, RJ_E_DENIED,
			"%s: everybody can read this private key; chmod 600 it",
			path);
	return 0;
}

/* A key with a passphrase: it cannot be typed here. */
static int no_passphrase(char *buf, int size, int writing, void *arg)
{
	return -1;
}

/* The clients' CA file may have revocation lists, too; then each certificate
 * has to be on none of them. */
static void heed_crl(SSL_CTX *ctx)
{
	X509_STORE *store = SSL_CTX_get_cert_store(ctx);
	STACK_OF(X509_OBJECT) *all = X509_STORE_get0_objects(store);
	int i;

	for (i = 0; i < sk_X509_OBJECT_num(all); i++)
		if (X509_OBJECT_get_type(sk_X509_OBJECT_value(all, i)) ==
			X509_LU_CRL)
			X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK);
}

static int load(SSL_CTX *ctx, const struct tls_files *f, struct rj_error *err)
{
	STACK_OF(X509_NAME) *names;
	int rc;

	ERR_clear_error();
	rc = check_key(f->key, err);
	if (rc)
		return rc;
	SSL_CTX_set_default_passwd_cb(ctx, no_passphrase);
	if (SSL_CTX_use_certificate_chain_file(ctx, f->cert) != 1)
		return refuse(err, f->cert, "a certificate");
	if (SSL_CTX_use_PrivateKey_file(ctx, f->key, SSL_FILETYPE_PEM) != 1)
		return refuse(err, f->key,
			"the certificate's private key (without a passphrase)");
	if (!f->client_ca)
		return 0;
	names = SSL_load_client_CA_file(f->client_ca);
	if (!names || SSL_CTX_load_verify_locations(
			      ctx, f->client_ca, NULL) != 1) {
		sk_X509_NAME_pop_free(names, X509_NAME_free);
		return refuse(err, f->client_ca, "the clients' CA");
	}
	SSL_CTX_set_client_CA_list(ctx, names);
	heed_crl(ctx);
	/* a client without one may still have a token */
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
	return 0;
}

static SSL_CTX *make(const struct tls_files *files, struct rj_error *err)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());

	if (!ctx || SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) != 1) {
		rj_fail(err, RJ_E_NOMEM, "OpenSSL: %s", why_not());
		goto fail;
	}
	/* Connections stay open for days: sessions are not worth what a
	 * certificate that expired or was revoked since could do. */
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION |
					 SSL_OP_NO_COMPRESSION |
					 SSL_OP_CIPHER_SERVER_PREFERENCE);
	SSL_CTX_set_num_tickets(ctx, 0);
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS |
				      SSL_MODE_ENABLE_PARTIAL_WRITE |
				      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	tls_watch(ctx);
	if (load(ctx, files, err))
		goto fail;
	return ctx;
fail:
	SSL_CTX_free(ctx);
	return NULL;
}

int tls_new(const struct tls_files *files, tls_refused_fn refused, void *arg,
	struct tls **out, struct rj_error *err)
{
	struct tls *tls = calloc(1, sizeof(*tls));

	if (!tls)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	tls->refused = refused;
	tls->arg = arg;
	tls->ctx = make(files, err);
	if (!tls->ctx) {
		free(tls);
		return -(int)err->code;
	}
	*out = tls;
	return 0;
}

int tls_reload(
	struct tls *tls, const struct tls_files *files, struct rj_error *err)
{
	SSL_CTX *ctx = make(files, err);

	if (!ctx)
		return -(int)err->code;
	SSL_CTX_free(tls->ctx); /* open connections hold it */
	tls->ctx = ctx;
	return 0;
}

void tls_free(struct tls *tls)
{
	if (!tls)
		return;
	SSL_CTX_free(tls->ctx);
	free(tls);
}
