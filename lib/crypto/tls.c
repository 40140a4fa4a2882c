// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * TLS with a journal server, by OpenSSL. Each connection verifies the certificate: no
 * session is resumed, and the files of rj.conf are read again.
 */
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "crypto/crypto-priv.h"
#include "store/conf.h"
#include "store/http/http1-conn.h"
#include "store/http/peer-fail.h"

#define DETAIL_BYTES 256

struct tls {
	SSL *ssl;
	BIO_METHOD *method;
	int result; /* of the call that failed last: SSL_get_error() */
	int sys_errno;
};

/* The socket's I/O: send() instead of write(), so that no SIGPIPE comes. */
static int bio_write(BIO *b, const char *data, int len)
{
	ssize_t n = send(BIO_get_fd(b, NULL), data, (size_t)len, MSG_NOSIGNAL | MSG_DONTWAIT);

	BIO_clear_retry_flags(b);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		BIO_set_retry_write(b);
	return (int)n;
}

/* A method with that write, and all else of OpenSSL's for sockets. */
static BIO_METHOD *make_method(void)
{
	const BIO_METHOD *socket = BIO_s_socket();
	BIO_METHOD *m = BIO_meth_new(BIO_TYPE_SOCKET, "rj socket");

	if (m && BIO_meth_set_write(m, bio_write) &&
		BIO_meth_set_read(m, BIO_meth_get_read(socket)) &&
		BIO_meth_set_ctrl(m, BIO_meth_get_ctrl(socket)) &&
		BIO_meth_set_create(m, BIO_meth_get_create(socket)) &&
		BIO_meth_set_destroy(m, BIO_meth_get_destroy(socket)))
		return m;
	BIO_meth_free(m);
	return NULL;
}

static void free_tls(struct tls *t)
{
	if (!t)
		return;
	SSL_free(t->ssl);
	BIO_meth_free(t->method);
	free(t);
}

/* Note why a call of OpenSSL's returned RESULT. */
static enum rj_http1_io note(struct tls *t, int result)
{
	t->sys_errno = errno;
	t->result = SSL_get_error(t->ssl, result);
	switch (t->result) {
	case SSL_ERROR_NONE:
		return RJ_IO_OK;
	case SSL_ERROR_WANT_READ:
	case SSL_ERROR_WANT_WRITE:
		return RJ_IO_AGAIN;
	case SSL_ERROR_ZERO_RETURN:
		return RJ_IO_CLOSED;
	default:
		return RJ_IO_LOST;
	}
}

static enum rj_http1_io tls_send(
	struct rj_http1_conn *c, const void *data, size_t len, size_t *sent)
{
	struct tls *t = c->state;

	ERR_clear_error();
	return note(t, SSL_write_ex(t->ssl, data, len, sent));
}

static enum rj_http1_io tls_receive(
	struct rj_http1_conn *c, void *data, size_t size, size_t *got)
{
	struct tls *t = c->state;

	ERR_clear_error();
	return note(t, SSL_read_ex(t->ssl, data, size, got));
}

/* Write what OpenSSL's error E says, without its numbers and the names of its parts. */
static void say_error(unsigned long e, char text[DETAIL_BYTES])
{
	const char *reason = ERR_reason_error_string(e);

	if (ERR_SYSTEM_ERROR(e))
		reason = strerror(ERR_GET_REASON(e));
	if (reason)
		snprintf(text, DETAIL_BYTES, "%s", reason);
	else
		ERR_error_string_n(e, text, DETAIL_BYTES);
}

/* The words of OpenSSL, or of the system, for what failed last. */
static const char *detail_of(const struct tls *t, char text[DETAIL_BYTES])
{
	unsigned long e = ERR_peek_last_error();

	if (t->result == SSL_ERROR_SYSCALL && t->sys_errno)
		snprintf(text, DETAIL_BYTES, "%s",
			t->sys_errno == ECONNRESET || t->sys_errno == EPIPE
				? "connection reset"
				: strerror(t->sys_errno));
	else if (e)
		say_error(e, text);
	else
		snprintf(text, DETAIL_BYTES, "the connection was closed");
	return text;
}

static int tls_fail_lost(struct rj_http1_conn *c, struct rj_error *err)
{
	char text[DETAIL_BYTES];

	return rj_peer_fail_lost(
		c->peer->name, c->peer->setup.peer, detail_of(c->state, text), err);
}

static void tls_close(struct rj_http1_conn *c)
{
	struct tls *t = c->state;

	ERR_clear_error();
	if (t->result != SSL_ERROR_SSL && t->result != SSL_ERROR_SYSCALL)
		(void)SSL_shutdown(t->ssl); /* the peer's answer is not waited for */
	free_tls(t);
	close(c->fd); /* nothing that was sent depends on it */
}

static const struct rj_http1_layer layer = {
	.send = tls_send,
	.receive = tls_receive,
	.fail_lost = tls_fail_lost,
	.close = tls_close,
};

/* A FILE of rj.conf that cannot be WHAT, or read. WHY NULL: as OpenSSL says; the first of its
 * errors is the cause of the others. */
static int fail_file(const struct rj_http_peer *p, const char *file, const char *what,
	const char *why, struct rj_error *err)
{
	char text[DETAIL_BYTES], detail[2 * DETAIL_BYTES];
	bool unread = ERR_SYSTEM_ERROR(ERR_peek_error());

	say_error(ERR_peek_error(), text);
	snprintf(detail, sizeof(detail), "%.200s: %s%s%s", file, unread ? "" : what,
		unread ? "" : ": ", why ? why : text);
	return rj_peer_fail_certificate_file(p->name, detail, err);
}

/* A key with a passphrase: a daemon has no terminal to ask at. */
static int no_passphrase(char *buf, int size, int rwflag, void *arg)
{
	bool *asked = arg;

	*asked = true;
	return -1;
}

/* The authorities that may vouch for the server: those of rj.conf, else the system's. */
static int set_authorities(SSL_CTX *x, const struct rj_http_peer *p, struct rj_error *err)
{
	const struct rj_conf *conf = p->opts.conf;

	if (conf->insecure)
		return 0;
	if (conf->ca && SSL_CTX_load_verify_file(x, conf->ca) != 1)
		return fail_file(p, conf->ca, "no certificates (PEM)", NULL, err);
	if (conf->ca)
		return 0;
	/* each of both may be absent; not OpenSSL's own function, which lets the environment
	 * name others */
	(void)SSL_CTX_load_verify_dir(x, X509_get_default_cert_dir());
	(void)SSL_CTX_load_verify_file(x, X509_get_default_cert_file());
	return 0;
}

static int set_own(SSL_CTX *x, const struct rj_http_peer *p, struct rj_error *err)
{
	const struct rj_conf *conf = p->opts.conf;
	const char *key = conf->clientkey ? conf->clientkey : conf->cert;
	bool asked = false;
	int rc;

	if (!conf->cert)
		return 0;
	SSL_CTX_set_default_passwd_cb(x, no_passphrase);
	SSL_CTX_set_default_passwd_cb_userdata(x, &asked);
	if (SSL_CTX_use_certificate_chain_file(x, conf->cert) != 1)
		return fail_file(p, conf->cert, "no certificate (PEM)", NULL, err);
	rc = SSL_CTX_use_PrivateKey_file(x, key, SSL_FILETYPE_PEM) == 1
		     ? 0
		     : fail_file(p, key, "not the key (PEM) of our certificate",
			       asked ? "write it without its passphrase, by openssl pkey" : NULL, err);
	SSL_CTX_set_default_passwd_cb_userdata(x, NULL);
	return rc;
}

static int set_up(SSL_CTX *x, const struct rj_http_peer *p, struct rj_error *err)
{
	int rc;

	SSL_CTX_set_min_proto_version(x, TLS1_2_VERSION);
	/* which openssl.cnf may ask for: the kernel would encrypt what bio_write() sends, and
	 * take an alert or the end of a handshake for data */
	SSL_CTX_clear_options(x, SSL_OP_ENABLE_KTLS);
	SSL_CTX_set_session_cache_mode(x, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_mode(x, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_CTX_set_verify(x, p->opts.conf->insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
	/* ca= may name an intermediate authority, as with libcurl */
	X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(x), X509_V_FLAG_PARTIAL_CHAIN);
	rc = set_authorities(x, p, err);
	return rc ? rc : set_own(x, p, err);
}

/* P's host as a certificate has it: without the brackets of an IPv6 address, and without
 * the dot that ends a name which is not to be completed (RFC 6066, 3). */
static void bare_host(const struct rj_http_peer *p, char out[256])
{
	size_t len = strlen(p->host);

	if (p->host[0] == '[')
		snprintf(out, 256, "%.*s", (int)len - 2, p->host + 1);
	else
		snprintf(out, 256, "%.*s", (int)(len - (p->host[len - 1] == '.')), p->host);
}

static bool is_address(const char *host)
{
	ASN1_OCTET_STRING *ip = a2i_IPADDRESS(host);

	ASN1_OCTET_STRING_free(ip);
	ERR_clear_error();
	return ip != NULL;
}

/* Is CERT for HOST? A certificate without alternative names may have it in its subject. */
static bool names_host(X509 *cert, const char *host)
{
	if (!is_address(host))
		return X509_check_host(cert, host, 0, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS,
			       NULL) == 1;
	return X509_check_ip_asc(cert, host, 0) == 1 ||
	       (X509_get_ext_by_NID(cert, NID_subject_alt_name, -1) < 0 &&
		       X509_check_host(cert, host, 0, 0, NULL) == 1);
}

/* When CERT ends, seconds since 1970; 0: it does not say. */
static int64_t end_of(const X509 *cert)
{
	struct tm tm;

	return ASN1_TIME_to_tm(X509_get0_notAfter(cert), &tm) ? timegm(&tm) : 0;
}

static int check_server(struct rj_http1_conn *c, struct rj_error *err)
{
	struct tls *t = c->state;
	X509 *cert = SSL_get0_peer_certificate(t->ssl);
	char host[256], detail[DETAIL_BYTES + 256];

	c->cert_until_s = cert ? end_of(cert) : 0;
	bare_host(c->peer, host);
	if (c->peer->opts.conf->insecure || (cert && names_host(cert, host)))
		return 0;
	snprintf(detail, sizeof(detail), "its certificate does not name %s", host);
	return rj_peer_fail_identity(c->peer->name, c->peer->setup.peer, detail, err);
}

static int fail_handshake(struct rj_http1_conn *c, struct rj_error *err)
{
	struct tls *t = c->state;
	long verified = SSL_get_verify_result(t->ssl);
	char text[DETAIL_BYTES];

	if (t->result != SSL_ERROR_SSL ||
		ERR_GET_REASON(ERR_peek_last_error()) != SSL_R_CERTIFICATE_VERIFY_FAILED)
		return rj_peer_fail_tls(
			c->peer->name, c->peer->setup.peer, detail_of(t, text), err);
	snprintf(text, sizeof(text), "certificate: %s", X509_verify_cert_error_string(verified));
	return rj_peer_fail_identity(c->peer->name, c->peer->setup.peer, text, err);
}

static int shake_hands(struct rj_http1_conn *c, int64_t until_ns, struct rj_error *err)
{
	struct tls *t = c->state;
	enum rj_http1_io io;

	do {
		ERR_clear_error();
		io = note(t, SSL_connect(t->ssl));
		if (io == RJ_IO_OK)
			return check_server(c, err);
		if (io != RJ_IO_AGAIN)
			return fail_handshake(c, err);
	} while (rj_http1_wait(
		c, t->result == SSL_ERROR_WANT_WRITE ? POLLOUT : POLLIN, until_ns));
	if (rj_http1_given_up(c))
		return rj_peer_fail_given_up(c->peer->name, c->peer->setup.peer, err);
	return rj_peer_fail_connect_time(c->peer->name, c->peer->setup.peer, &c->peer->opts, err);
}

/* Tell the server which name is meant, and that HTTP/1.1 is spoken. */
static bool set_hello(SSL *ssl, const struct rj_http_peer *p)
{
	static const unsigned char http11[] = "\x08http/1.1";
	char host[256];

	bare_host(p, host);
	return !SSL_set_alpn_protos(ssl, http11, sizeof(http11) - 1) &&
	       (is_address(host) || SSL_set_tlsext_host_name(ssl, host));
}

/* T, over the socket FD. */
static bool make_session(struct tls *t, SSL_CTX *x, int fd, const struct rj_http_peer *p)
{
	BIO *bio;

	t->method = make_method();
	t->ssl = SSL_new(x);
	bio = t->method ? BIO_new(t->method) : NULL;
	if (!t->ssl || !bio) {
		BIO_free(bio);
		return false;
	}
	BIO_set_fd(bio, fd, BIO_NOCLOSE);
	SSL_set_bio(t->ssl, bio, bio); /* which owns it now */
	return set_hello(t->ssl, p);
}

int rj_openssl_tls_begin(struct rj_http1_conn *c, int64_t until_ns, struct rj_error *err)
{
	SSL_CTX *x = SSL_CTX_new(TLS_client_method());
	struct tls *t = calloc(1, sizeof(*t));
	int rc = 0;

	ERR_clear_error();
	if (x && t)
		rc = set_up(x, c->peer, err);
	if (!x || !t || (!rc && !make_session(t, x, c->fd, c->peer)))
		rc = rj_fail(err, RJ_E_NOMEM, "%s: out of memory for TLS", c->peer->name);
	SSL_CTX_free(x); /* the session has a reference */
	if (rc) {
		free_tls(t);
		return rc;
	}
	c->state = t;
	c->layer = &layer;
	return shake_hands(c, until_ns, err);
}
