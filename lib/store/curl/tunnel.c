// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Connections to rjserver through a proxy, by libcurl: which proxy (no_proxy), its password,
 * SOCKS, TLS with the proxy, and TLS with the server within. The requests are http1.h's.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store/curl/curl.h"
#include "store/curl/tunnel.h"
#include "store/http/http1-conn.h"

struct tunnel {
	CURL *easy;
	CURLcode code; /* of the last I/O */
	char detail[CURL_ERROR_SIZE];
};

static enum rj_http1_io io_of(struct tunnel *t, CURLcode code, bool any)
{
	t->code = code;
	if (code)
		return code == CURLE_AGAIN ? RJ_IO_AGAIN : RJ_IO_LOST;
	return any ? RJ_IO_OK : RJ_IO_CLOSED;
}

static enum rj_http1_io tunnel_send(
	struct rj_http1_conn *c, const void *data, size_t len, size_t *sent)
{
	struct tunnel *t = c->state;
	struct rj_sigpipe hold;
	CURLcode code;

	t->detail[0] = '\0';
	rj_sigpipe_block(&hold);
	code = curl_easy_send(t->easy, data, len, sent);
	rj_sigpipe_restore(&hold);
	return io_of(t, code, true);
}

static enum rj_http1_io tunnel_receive(
	struct rj_http1_conn *c, void *data, size_t size, size_t *got)
{
	struct tunnel *t = c->state;
	struct rj_sigpipe hold;
	CURLcode code;

	t->detail[0] = '\0';
	rj_sigpipe_block(&hold);
	code = curl_easy_recv(t->easy, data, size, got);
	rj_sigpipe_restore(&hold);
	return io_of(t, code, *got);
}

static int tunnel_fail_lost(struct rj_http1_conn *c, struct rj_error *err)
{
	struct tunnel *t = c->state;

	return rj_curl_fail(t->easy, t->code, c->peer->name, c->peer->setup.peer, t->detail,
		&c->peer->opts, err);
}

static void tunnel_close(struct rj_http1_conn *c)
{
	struct tunnel *t = c->state;

	rj_curl_cleanup(t->easy); /* closes the socket */
	free(t);
}

static const struct rj_http1_layer encrypted = {
	.send = tunnel_send,
	.receive = tunnel_receive,
	.fail_lost = tunnel_fail_lost,
	.close = tunnel_close,
};
/* no_proxy: the connection is libcurl's, and the I/O the socket's. */
static const struct rj_http1_layer plain = {.close = tunnel_close};

/* libcurl's form with OpenSSL, "Dec  5 12:00:00 2026 GMT", or with GnuTLS, "2026-12-05 12:00:00
 * GMT". Returns seconds since 1970; 0: neither. */
static int64_t parse_end(const char *text)
{
	struct tm tm = {0};

	if (!strptime(text, "%b %d %H:%M:%S %Y", &tm)) {
		tm = (struct tm){0};
		if (!strptime(text, "%Y-%m-%d %H:%M:%S", &tm))
			return 0;
	}
	return timegm(&tm);
}

/* Of the first certificate of the server. */
static int64_t cert_until(CURL *easy)
{
	static const char field[] = "Expire date:";
	struct curl_certinfo *all = NULL;
	struct curl_slist *line;

	if (curl_easy_getinfo(easy, CURLINFO_CERTINFO, &all) || !all || all->num_of_certs < 1)
		return 0;
	for (line = all->certinfo[0]; line; line = line->next)
		if (!strncmp(line->data, field, sizeof(field) - 1))
			return parse_end(line->data + sizeof(field) - 1);
	return 0;
}

static CURLcode set_up(const struct rj_http1_conn *c, CURL *easy, const char *base)
{
	CURLcode code = curl_easy_setopt(easy, CURLOPT_URL, base);

	if (!code)
		code = curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
	/* without TLS, too: a request to a proxy would have another form */
	if (!code)
		code = curl_easy_setopt(easy, CURLOPT_HTTPPROXYTUNNEL, 1L);
	if (!code && c->peer->setup.tls)
		code = curl_easy_setopt(easy, CURLOPT_CERTINFO, 1L);
	/* with TLS, HTTP/2 would be offered otherwise */
	if (!code)
		code = curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
			(long)CURL_HTTP_VERSION_1_1);
	return code;
}

static int fail_connect(const struct rj_http1_conn *c, struct tunnel *t, CURLcode code,
	struct rj_error *err)
{
	const struct rj_http_peer *p = c->peer;
	struct rj_http_call call = {0};
	long proxy = 0;

	curl_easy_getinfo(t->easy, CURLINFO_HTTP_CONNECTCODE, &proxy);
	call.status = (int)proxy;
	if (proxy == 407)
		return rj_http_fail_status(p, &call, "connect", NULL, err);
	if (proxy && !rj_http_is_success(call.status))
		return rj_fail(err, RJ_E_UNREACHABLE,
			"%s: cannot reach the %s: the proxy does not connect us to it (status %ld)",
			p->name, p->setup.peer, proxy);
	return rj_curl_fail(t->easy, code, p->name, p->setup.peer, t->detail, &p->opts, err);
}

static int take_socket(struct rj_http1_conn *c, struct tunnel *t, struct rj_error *err)
{
	curl_socket_t fd = CURL_SOCKET_BAD;
	long by_proxy = 0;

	if (curl_easy_getinfo(t->easy, CURLINFO_ACTIVESOCKET, &fd) || fd == CURL_SOCKET_BAD ||
		curl_easy_getinfo(t->easy, CURLINFO_HTTP_CONNECTCODE, &by_proxy))
		return rj_fail(err, RJ_E_IO, "%s: cannot use the connection's socket",
			c->peer->name);
	c->fd = fd;
	c->state = t;
	/* a proxy may speak TLS with us where the server does not */
	c->layer = c->peer->setup.tls || by_proxy ? &encrypted : &plain;
	c->cert_until_s = cert_until(t->easy);
	return 0;
}

int rj_curl_tunnel(struct rj_http1_conn *c, const char *base, struct rj_error *err)
{
	struct tunnel *t = calloc(1, sizeof(*t));
	CURLcode code;
	int rc;

	if (!t)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", c->peer->name);
	rc = rj_curl_new_http(c->peer, t->detail, &t->easy, err);
	if (!rc) {
		code = set_up(c, t->easy, base);
		if (!code)
			code = rj_curl_perform(t->easy);
		rc = code ? fail_connect(c, t, code, err) : take_socket(c, t, err);
	}
	if (rc) {
		rj_curl_cleanup(t->easy);
		free(t);
	}
	return rc;
}
