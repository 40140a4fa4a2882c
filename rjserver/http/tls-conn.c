// SPDX-License-Identifier: GPL-2.0-or-later
/* One connection with TLS. */
#include <limits.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tls-priv.h"

/* Of one connection, until it is freed with its SSL. */
struct link {
	struct tls *tls;
	bool ready; /* the handshake is done */
	char peer[64];
	char why[160];
};

static int link_index = -1; /* OpenSSL's: where an SSL keeps its link */

static void on_link_free(void *parent, void *ptr, CRYPTO_EX_DATA *ad, int idx,
	long argl, void *argp)
{
	struct link *link = ptr;

	if (!link)
		return;
	if (!link->ready && link->tls->refused)
		link->tls->refused(link->tls->arg, link->peer,
			link->why[0] ? link->why
				     : "no TLS handshake was finished");
	free(link);
}

/* OpenSSL tells of each step of the handshake, and of alerts. */
static void on_info(const SSL *ssl, int where, int value)
{
	struct link *link = SSL_get_ex_data(ssl, link_index);
	long verdict;

	if (!link)
		return;
	if (where & SSL_CB_HANDSHAKE_DONE)
		link->ready = true;
	if (!(where & SSL_CB_ALERT) || link->ready || link->why[0])
		return;
	verdict = SSL_get_verify_result(ssl);
	if (where & SSL_CB_READ)
		snprintf(link->why, sizeof(link->why), "the other end said: %s",
			SSL_alert_desc_string_long(value));
	else if (verdict != X509_V_OK)
		snprintf(link->why, sizeof(link->why), "its certificate: %s",
			X509_verify_cert_error_string(verdict));
	else
		snprintf(link->why, sizeof(link->why), "TLS: %s",
			SSL_alert_desc_string_long(value));
}

void tls_watch(SSL_CTX *ctx)
{
	if (link_index < 0)
		link_index = SSL_get_ex_new_index(
			0, NULL, NULL, NULL, on_link_free);
	SSL_CTX_set_info_callback(ctx, on_info);
}

struct ssl_st *tls_accept(struct tls *tls, int fd, const char *peer)
{
	struct link *link = calloc(1, sizeof(*link));
	SSL *ssl = SSL_new(tls->ctx);

	if (!ssl || !link || SSL_set_fd(ssl, fd) != 1)
		goto fail;
	link->tls = tls;
	snprintf(link->peer, sizeof(link->peer), "%s", peer);
	if (SSL_set_ex_data(ssl, link_index, link) != 1)
		goto fail;
	SSL_set_accept_state(ssl);
	return ssl;
fail:
	free(link);
	SSL_free(ssl);
	ERR_clear_error();
	return NULL;
}

void tls_end(struct ssl_st *ssl)
{
	if (!ssl)
		return;
	if (SSL_is_init_finished(ssl))
		SSL_shutdown(ssl); /* says goodbye, if that fits */
	SSL_free(ssl);
	ERR_clear_error();
}

bool tls_ready(const struct ssl_st *ssl)
{
	return SSL_is_init_finished(ssl);
}

void tls_because(struct ssl_st *ssl, const char *why)
{
	struct link *link = SSL_get_ex_data(ssl, link_index);

	if (!link->ready)
		snprintf(link->why, sizeof(link->why), "%s", why);
}

ssize_t tls_read(struct ssl_st *ssl, void *p, size_t len, bool *writable)
{
	int n, error;

	*writable = false;
	ERR_clear_error();
	n = SSL_read(ssl, p, len < INT_MAX ? (int)len : INT_MAX);
	if (n > 0)
		return n;
	error = SSL_get_error(ssl, n);
	*writable = error == SSL_ERROR_WANT_WRITE;
	return *writable || error == SSL_ERROR_WANT_READ ? 0 : -1;
}

ssize_t tls_write(struct ssl_st *ssl, const void *p, size_t len)
{
	int n;

	ERR_clear_error();
	n = SSL_write(ssl, p, len < INT_MAX ? (int)len : INT_MAX);
	if (n > 0)
		return n;
	return SSL_get_error(ssl, n) == SSL_ERROR_WANT_WRITE ? 0 : -1;
}

bool tls_peer_name(struct ssl_st *ssl, char *out, size_t size)
{
	X509 *cert = ssl ? SSL_get0_peer_certificate(ssl) : NULL;
	X509_NAME *subject = cert ? X509_get_subject_name(cert) : NULL;
	unsigned char *text = NULL;
	int at, len;
	bool good;

	if (!subject || SSL_get_verify_result(ssl) != X509_V_OK)
		return false;
	at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
	/* several: which one would be meant? */
	if (at < 0 || X509_NAME_get_index_by_NID(
			      subject, NID_commonName, at) >= 0)
		return false;
	len = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(
						 X509_NAME_get_entry(
							 subject, at)));
	good = len > 0 && (size_t)len < size && !memchr(text, 0, (size_t)len);
	if (good) {
		memcpy(out, text, (size_t)len);
		out[len] = 0;
	}
	OPENSSL_free(text);
	return good;
}

static time_t end_of(const X509 *cert)
{
	struct tm tm;

	return cert && ASN1_TIME_to_tm(X509_get0_notAfter(cert), &tm) == 1 ? timegm(&tm) : 0;
}

time_t tls_own_end(const struct tls *tls)
{
	return end_of(SSL_CTX_get0_certificate(tls->ctx));
}

time_t tls_expires(struct ssl_st *ssl)
{
	STACK_OF(X509) *chain = SSL_get0_verified_chain(ssl);
	time_t first = 0, at;
	int i;

	for (i = 0; i < sk_X509_num(chain); i++) {
		at = end_of(sk_X509_value(chain, i));
		if (at && (!first || at < first))
			first = at;
	}
	return first;
}

bool tls_still_good(struct tls *tls, struct ssl_st *ssl)
{
	X509 *cert = SSL_get0_peer_certificate(ssl);
	X509_STORE_CTX *look;
	bool good;

	if (!cert)
		return true;
	look = X509_STORE_CTX_new();
	good = look &&
	       X509_STORE_CTX_init(look, SSL_CTX_get_cert_store(tls->ctx), cert,
		       SSL_get_peer_cert_chain(ssl)) == 1 &&
	       X509_STORE_CTX_set_default(look, "ssl_client") == 1 &&
	       X509_verify_cert(look) == 1;
	X509_STORE_CTX_free(look);
	ERR_clear_error();
	return good;
}
