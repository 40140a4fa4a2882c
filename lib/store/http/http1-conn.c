// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/http/http1-conn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#include "store/http/curl.h"
#include "util/environ.h"

#define MS	   1000000ll
#define GIVE_UP_MS 100

bool rj_http1_given_up(const struct rj_http1_conn *c)
{
	return c->peer->opts.give_up && *c->peer->opts.give_up;
}

/* The longest time without looking whether to give up. */
static int look_ms(const struct rj_http1_conn *c, int ms)
{
	return c->peer->opts.give_up && ms > GIVE_UP_MS ? GIVE_UP_MS : ms;
}

void rj_http1_disconnect(struct rj_http1_conn *c)
{
	rj_curl_cleanup(c->easy);
	c->easy = NULL;
	c->fd = -1;
	c->used = c->checked = false;
}

/* The socket is then a blocking one with a time limit, which saves the poll
 * in front of the receive. TLS is libcurl's, and its socket stays as it is; so does
 * that of a tunnel, for a proxy may speak TLS with us where the server does not. */
static int take_socket(struct rj_http1_conn *c)
{
	int ms = look_ms(c, c->peer->opts.request_timeout_ms);
	struct timeval limit = {
		.tv_sec = ms / 1000,
		.tv_usec = ms % 1000 * 1000l,
	};
	curl_socket_t fd = CURL_SOCKET_BAD;
	long tunnel = 0;
	int flags;

	if (curl_easy_getinfo(c->easy, CURLINFO_ACTIVESOCKET, &fd) ||
		fd == CURL_SOCKET_BAD ||
		curl_easy_getinfo(
			c->easy, CURLINFO_HTTP_CONNECTCODE, &tunnel))
		return -1;
	c->fd = fd;
	c->by_curl = c->peer->setup.tls || tunnel;
	if (c->by_curl)
		return 0;
	flags = fcntl(fd, F_GETFL);
	return flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) ||
			       setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit,
				       sizeof(limit))
		       ? -1
		       : 0;
}

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

static CURLcode set_up(struct rj_http1_conn *c, const char *base)
{
	CURLcode code = curl_easy_setopt(c->easy, CURLOPT_URL, base);

	if (!code)
		code = curl_easy_setopt(c->easy, CURLOPT_CONNECT_ONLY, 1L);
	/* without TLS, too: a request to a proxy would have another form */
	if (!code)
		code = curl_easy_setopt(c->easy, CURLOPT_HTTPPROXYTUNNEL, 1L);
	if (!code && c->peer->setup.tls)
		code = curl_easy_setopt(c->easy, CURLOPT_CERTINFO, 1L);
	/* with TLS, HTTP/2 would be offered otherwise */
	if (!code)
		code = curl_easy_setopt(c->easy, CURLOPT_HTTP_VERSION,
			(long)CURL_HTTP_VERSION_1_1);
	return code;
}

static int fail_connect(struct rj_http1_conn *c, CURLcode code, struct rj_error *err)
{
	const struct rj_http_peer *p = c->peer;
	struct rj_http_call call = {0};
	long proxy = 0;

	curl_easy_getinfo(c->easy, CURLINFO_HTTP_CONNECTCODE, &proxy);
	call.status = (int)proxy;
	if (proxy == 407)
		return rj_http_fail_status(p, &call, "connect", NULL, err);
	if (proxy && !rj_http_is_success(call.status))
		return rj_fail(err, RJ_E_UNREACHABLE,
			"%s: cannot reach the %s: the proxy does not connect us to it (status %ld)",
			p->name, p->setup.peer, proxy);
	return rj_curl_fail(c->easy, code, p->name, p->setup.peer, c->detail,
		&p->opts, err);
}

int rj_http1_connect(
	struct rj_http1_conn *c, const char *base, struct rj_error *err)
{
	const struct rj_http_peer *p = c->peer;
	CURLcode code;
	int rc;

	c->detail[0] = '\0';
	c->code = CURLE_OK;
	rc = rj_http_peer_easy(p, c->detail, &c->easy, err);
	if (rc)
		return rc;
	code = set_up(c, base);
	if (!code)
		code = rj_curl_perform(c->easy);
	if (code)
		rc = fail_connect(c, code, err);
	else if (take_socket(c))
		rc = rj_fail(err, RJ_E_IO,
			"%s: cannot use the connection's socket", p->name);
	if (rc)
		rj_http1_disconnect(c);
	c->cert_until_s = rc ? 0 : cert_until(c->easy);
	return rc;
}

static enum rj_http1_io io_of(struct rj_http1_conn *c, CURLcode code, size_t n)
{
	c->code = code;
	if (code)
		return code == CURLE_AGAIN ? RJ_IO_AGAIN : RJ_IO_LOST;
	return n ? RJ_IO_OK : RJ_IO_CLOSED;
}

enum rj_http1_io rj_http1_send(
	struct rj_http1_conn *c, struct iovec *iov, int parts, size_t *sent)
{
	struct msghdr msg = {.msg_iov = iov, .msg_iovlen = (size_t)parts};
	struct rj_sigpipe hold;
	CURLcode code;
	ssize_t n;

	*sent = 0;
	if (c->by_curl) {
		rj_sigpipe_block(&hold);
		code = curl_easy_send(
			c->easy, iov->iov_base, iov->iov_len, sent);
		rj_sigpipe_restore(&hold);
		return io_of(c, code, code ? 0 : 1);
	}
	n = sendmsg(c->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? RJ_IO_AGAIN
							 : RJ_IO_LOST;
	*sent = (size_t)n;
	return RJ_IO_OK;
}

enum rj_http1_io rj_http1_receive(struct rj_http1_conn *c, char *data,
	size_t size, bool wait, size_t *got)
{
	struct rj_sigpipe hold;
	CURLcode code;
	ssize_t n;

	*got = 0;
	if (c->by_curl) {
		rj_sigpipe_block(&hold);
		code = curl_easy_recv(c->easy, data, size, got);
		rj_sigpipe_restore(&hold);
		return io_of(c, code, *got);
	}
	n = recv(c->fd, data, size, wait ? 0 : MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? RJ_IO_AGAIN
							 : RJ_IO_LOST;
	*got = (size_t)n;
	return n ? RJ_IO_OK : RJ_IO_CLOSED;
}

bool rj_http1_wait(struct rj_http1_conn *c, short what, int64_t until_ns)
{
	struct pollfd p = {.fd = c->fd, .events = what};
	int64_t left;

	do {
		left = until_ns - rj_monotonic_ns();
		if (left <= 0 || rj_http1_given_up(c))
			return false;
	} while (poll(&p, 1, look_ms(c, (int)((left + MS - 1) / MS))) <= 0);
	return p.revents != 0;
}

bool rj_http1_is_stale(struct rj_http1_conn *c)
{
	size_t got;
	char byte;

	return rj_http1_receive(c, &byte, 1, false, &got) != RJ_IO_AGAIN;
}
