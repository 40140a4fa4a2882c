// SPDX-License-Identifier: GPL-2.0-or-later
#include "tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

struct tls {
	SSL_CTX *ctx;
	tls_refused_fn refused;
	void *arg;
};

/* Of one connection, until it is freed with its SSL. */
struct link {
	struct tls *tls;
	struct event *deadline;
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
		link->tls->refused(link->tls->arg,
			link->peer[0] ? link->peer : "?",
			link->why[0] ? link->why
				     : "no TLS handshake was finished");
	if (link->deadline)
		event_free(link->deadline);
	free(link);
}

static void note_peer(const SSL *ssl, struct link *link)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	int fd = SSL_get_fd(ssl);

	if (link->peer[0] || fd < 0 ||
		getpeername(fd, (struct sockaddr *)&sa, &len) ||
		getnameinfo((struct sockaddr *)&sa, len, link->peer,
			sizeof(link->peer), NULL, 0, NI_NUMERICHOST))
		return;
}

/* OpenSSL tells of each step of the handshake, and of alerts. */
static void on_info(const SSL *ssl, int where, int value)
{
	struct link *link = SSL_get_ex_data(ssl, link_index);
	long verdict;

	if (!link)
		return;
	note_peer(ssl, link);
	if (where & SSL_CB_HANDSHAKE_DONE) {
		link->ready = true;
		event_del(link->deadline);
	}
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

static void on_deadline(evutil_socket_t none, short what, void *arg)
{
	SSL *ssl = arg;
	struct link *link = SSL_get_ex_data(ssl, link_index);
	int fd = SSL_get_fd(ssl);

	note_peer(ssl, link);
	snprintf(link->why, sizeof(link->why),
		"no TLS handshake within %d seconds", TLS_HANDSHAKE_SECONDS);
	/* the bufferevent sees the end of the stream, and evhttp frees it */
	if (fd >= 0)
		shutdown(fd, SHUT_RDWR);
}

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

/* Whoever reads the private key is the server. */
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

/* A key with a passphrase: nobody is there to type it. */
static int no_passphrase(char *buf, int size, int writing, void *arg)
{
	return -1;
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
	/* whoever has none may still have a token */
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
	 * certificate that expired or was revoked meanwhile could do. */
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION |
					 SSL_OP_NO_COMPRESSION |
					 SSL_OP_CIPHER_SERVER_PREFERENCE);
	SSL_CTX_set_num_tickets(ctx, 0);
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_info_callback(ctx, on_info);
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
	if (link_index < 0)
		link_index = SSL_get_ex_new_index(
			0, NULL, NULL, NULL, on_link_free);
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

struct bufferevent *tls_bufferevent(struct tls *tls, struct event_base *base)
{
	static const struct timeval limit = {TLS_HANDSHAKE_SECONDS, 0};
	struct link *link = calloc(1, sizeof(*link));
	struct bufferevent *bev;
	SSL *ssl = SSL_new(tls->ctx);

	if (!ssl || !link)
		goto fail;
	link->tls = tls;
	link->deadline = evtimer_new(base, on_deadline, ssl);
	if (!link->deadline || event_add(link->deadline, &limit) ||
		SSL_set_ex_data(ssl, link_index, link) != 1)
		goto fail;
	link = NULL; /* the SSL's, from here on */
	bev = bufferevent_openssl_socket_new(
		base, -1, ssl, BUFFEREVENT_SSL_ACCEPTING, BEV_OPT_CLOSE_ON_FREE);
	if (!bev)
		goto fail;
	/* HTTP has its own lengths: a peer that just closes lost nothing */
	bufferevent_openssl_set_allow_dirty_shutdown(bev, 1);
	return bev;
fail:
	if (link && link->deadline)
		event_free(link->deadline);
	free(link);
	SSL_free(ssl);
	return NULL;
}

bool tls_peer_name(struct bufferevent *bev, char *out, size_t size)
{
	SSL *ssl = bufferevent_openssl_get_ssl(bev);
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
