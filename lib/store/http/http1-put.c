// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/http/http1-put.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "store/conf.h"
#include "store/http/curl.h"
#include "store/http/http1-response.h"
#include "store/url.h"
#include "util/environ.h"

#define MS	   1000000ll
#define GIVE_UP_MS 100
#define HEAD_BYTES (RJ_URL_BYTES + RJ_KEY_TEXT + 8192) /* with a token */

struct rj_http1 {
	CURL *easy; /* NULL: no connection */
	int fd;
	bool tls;
	bool used; /* an answer came over this connection */
	size_t base_len;
	int (*connected)(void *arg, struct rj_error *err);
	void *connected_arg;
	const char *peer;
	struct rj_store_opts opts;
	char name[sizeof(((struct rj_store *)0)->url)];
	char base[RJ_URL_BYTES];
	char detail[CURL_ERROR_SIZE];
	char head[HEAD_BYTES];
	struct rj_http1_response answer;
};

/* How a piece of I/O went. */
enum done {
	DONE_OK,
	DONE_AGAIN,  /* not now */
	DONE_CLOSED, /* in order: nothing more comes */
	DONE_LOST,   /* an error; errno */
};

bool rj_http1_can(const struct rj_store_opts *opts)
{
	static const char *const proxies[] = {"http_proxy", "https_proxy",
		"HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
	size_t i;

	for (i = 0; i < sizeof(proxies) / sizeof(proxies[0]); i++)
		if (getenv(proxies[i]))
			return false;
	return !opts->conf->proxy && !opts->conf->user && !opts->conf->password;
}

void rj_http1_hang_up(struct rj_http1 *s)
{
	rj_curl_cleanup(s->easy);
	s->easy = NULL;
	s->fd = -1;
	s->used = false;
}

static bool given_up(const struct rj_http1 *s)
{
	return s->opts.give_up && *s->opts.give_up;
}

/* The longest time without looking whether to give up. */
static int look_ms(const struct rj_http1 *s, int ms)
{
	return s->opts.give_up && ms > GIVE_UP_MS ? GIVE_UP_MS : ms;
}

/* The socket is then a blocking one with a time limit, which saves the poll
 * in front of the receive. TLS is libcurl's, and its socket stays as it is. */
static int take_socket(struct rj_http1 *s)
{
	int ms = look_ms(s, s->opts.request_timeout_ms);
	struct timeval limit = {
		.tv_sec = ms / 1000,
		.tv_usec = ms % 1000 * 1000l,
	};
	curl_socket_t fd = CURL_SOCKET_BAD;
	int flags;

	if (curl_easy_getinfo(s->easy, CURLINFO_ACTIVESOCKET, &fd) ||
		fd == CURL_SOCKET_BAD)
		return -1;
	s->fd = fd;
	if (s->tls)
		return 0;
	flags = fcntl(fd, F_GETFL);
	return flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) ||
			       setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit,
				       sizeof(limit))
		       ? -1
		       : 0;
}

static int connect_now(struct rj_http1 *s, struct rj_error *err)
{
	CURLcode code;
	int rc;

	s->detail[0] = '\0';
	rc = rj_curl_new(s->name, &s->opts, s->tls ? "https" : "http",
		s->detail, &s->easy, err);
	if (rc)
		return rc;
	code = curl_easy_setopt(s->easy, CURLOPT_URL, s->base);
	if (!code)
		code = curl_easy_setopt(s->easy, CURLOPT_CONNECT_ONLY, 1L);
	/* with TLS, HTTP/2 would be offered otherwise */
	if (!code)
		code = curl_easy_setopt(s->easy, CURLOPT_HTTP_VERSION,
			(long)CURL_HTTP_VERSION_1_1);
	if (!code)
		code = rj_curl_perform(s->easy);
	if (code)
		rc = rj_curl_fail(s->easy, code, s->name, s->peer, s->detail,
			&s->opts, err);
	else if (take_socket(s))
		rc = rj_fail(err, RJ_E_IO,
			"%s: cannot use the connection's socket", s->name);
	else if (s->connected)
		rc = s->connected(s->connected_arg, err);
	if (rc)
		rj_http1_hang_up(s);
	return rc;
}

static enum done done_of(CURLcode code, size_t n)
{
	if (code == CURLE_AGAIN)
		return DONE_AGAIN;
	if (code) {
		errno = ECONNRESET;
		return DONE_LOST;
	}
	return n ? DONE_OK : DONE_CLOSED;
}

static enum done send_some(
	struct rj_http1 *s, struct iovec *iov, int parts, size_t *sent)
{
	struct msghdr msg = {.msg_iov = iov, .msg_iovlen = (size_t)parts};
	struct rj_sigpipe hold;
	CURLcode code;
	ssize_t n;

	*sent = 0;
	if (s->tls) {
		rj_sigpipe_block(&hold);
		code = curl_easy_send(
			s->easy, iov->iov_base, iov->iov_len, sent);
		rj_sigpipe_restore(&hold);
		return done_of(code, code ? 0 : 1);
	}
	n = sendmsg(s->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? DONE_AGAIN
							 : DONE_LOST;
	*sent = (size_t)n;
	return DONE_OK;
}

/* WAIT: until the socket's own limit, where it has one. */
static enum done receive_some(
	struct rj_http1 *s, char *data, size_t size, bool wait, size_t *got)
{
	struct rj_sigpipe hold;
	CURLcode code;
	ssize_t n;

	*got = 0;
	if (s->tls) {
		rj_sigpipe_block(&hold);
		code = curl_easy_recv(s->easy, data, size, got);
		rj_sigpipe_restore(&hold);
		return done_of(code, *got);
	}
	n = recv(s->fd, data, size, wait ? 0 : MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? DONE_AGAIN
							 : DONE_LOST;
	*got = (size_t)n;
	return n ? DONE_OK : DONE_CLOSED;
}

/* False: the time is over, or it is to be given up. */
static bool wait_for(struct rj_http1 *s, short what, int64_t until)
{
	struct pollfd p = {.fd = s->fd, .events = what};
	int64_t left;

	do {
		left = until - rj_monotonic_ns();
		if (left <= 0 || given_up(s))
			return false;
	} while (poll(&p, 1, look_ms(s, (int)((left + MS - 1) / MS))) <= 0);
	return p.revents != 0;
}

/* Drop SENT bytes from the front of the parts. */
static void advance(struct iovec **iov, int *parts, size_t sent)
{
	while (*parts && sent >= (*iov)->iov_len) {
		sent -= (*iov)->iov_len;
		(*iov)++;
		(*parts)--;
	}
	if (*parts) {
		(*iov)->iov_base = (char *)(*iov)->iov_base + sent;
		(*iov)->iov_len -= sent;
	}
}

/*
 * Send the request. A server that refuses it may say so before it has read all
 * of it, and close: then DONE_OK with *WHOLE false, and the answer is there to
 * be read.
 */
static enum done send_request(struct rj_http1 *s, struct iovec *iov,
	int parts, int64_t until, bool *whole)
{
	enum done done;
	size_t sent;

	*whole = false;
	while (parts) {
		done = send_some(s, iov, parts, &sent);
		if (done == DONE_LOST)
			/* perhaps after an answer */
			return wait_for(s, POLLIN, until) ? DONE_OK : done;
		advance(&iov, &parts, sent);
		if (!parts || done == DONE_OK)
			continue;
		if (!wait_for(s, POLLIN | POLLOUT, until))
			return DONE_AGAIN;
		/* TLS has messages of its own: those are read with the rest */
		if (!s->tls && recv(s->fd, &(char){0}, 1,
				       MSG_PEEK | MSG_DONTWAIT) > 0)
			return DONE_OK;
	}
	*whole = true;
	return DONE_OK;
}

static enum done receive_answer(
	struct rj_http1 *s, struct rj_http_call *call, int64_t until)
{
	enum done done;
	size_t got;
	char *at;

	rj_http1_response_begin(&s->answer, call);
	while (!s->answer.complete) {
		/* one that never ends may come faster than it is read */
		if (s->answer.begun && rj_monotonic_ns() > until)
			return DONE_AGAIN;
		at = rj_http1_response_space(&s->answer, &got);
		/* the first piece may take as long as the socket allows */
		done = receive_some(s, at, got, !s->answer.begun, &got);
		if (done == DONE_AGAIN) {
			if (!wait_for(s, POLLIN, until))
				return done;
			continue;
		}
		if (done != DONE_OK)
			return done;
		if (!rj_http1_response_take(&s->answer, got))
			return DONE_OK; /* not HTTP: said by the answer */
	}
	return DONE_OK;
}

static int fail_io(
	struct rj_http1 *s, enum done done, int e, struct rj_error *err)
{
	if (done == DONE_AGAIN && given_up(s))
		return rj_fail(err, RJ_E_UNREACHABLE,
			"%s: the request to the %s was given up", s->name,
			s->peer);
	if (done == DONE_AGAIN)
		return rj_fail(err, RJ_E_UNREACHABLE,
			"%s: no answer from the %s: timed out after %d ms",
			s->name, s->peer, s->opts.request_timeout_ms);
	if (done == DONE_CLOSED && s->answer.begun)
		return rj_fail(err, RJ_E_UNREACHABLE,
			"%s: the %s's answer was cut short%s", s->name, s->peer,
			s->answer.head ? "" : ", without a length");
	if (done == DONE_CLOSED)
		return rj_fail(err, RJ_E_UNREACHABLE,
			"%s: the %s closed the connection without an answer",
			s->name, s->peer);
	return rj_fail(err, RJ_E_UNREACHABLE,
		"%s: lost the connection to the %s: %s", s->name, s->peer,
		e == ECONNRESET || e == EPIPE ? "connection reset"
					      : strerror(e));
}

/* The request's head into s->head; its length. */
static size_t write_head(struct rj_http1 *s, const struct rj_http_call *call)
{
	const char *token = s->opts.conf->token;
	const char *host = strstr(s->base, "://") + 3;

	return (size_t)snprintf(s->head, sizeof(s->head),
		"PUT %s HTTP/1.1\r\nHost: %s\r\n%s%s%s%s%sIf-None-Match: *\r\n"
		"Content-Length: %zu\r\n\r\n",
		call->url + s->base_len, host,
		token ? "Authorization: Bearer " : "", token ? token : "",
		token ? "\r\n" : "", call->extra[0] ? call->extra[0] : "",
		call->extra[0] ? "\r\n" : "", call->body_len);
}

/* One attempt on the connection that there is. *AGAIN: it had been closed
 * before the request came, as far as one can tell. */
static int attempt(struct rj_http1 *s, struct rj_http_call *call,
	bool *again, struct rj_error *err)
{
	int64_t until =
		rj_monotonic_ns() + s->opts.request_timeout_ms * MS;
	struct iovec iov[2] = {{s->head, write_head(s, call)},
		{(void *)call->body, call->body_len}};
	bool whole, keep;
	enum done done;
	int rc;

	if (iov[0].iov_len >= sizeof(s->head))
		return rj_fail_cause(
			rj_fail(err, RJ_E_INVAL, "%s: the token is too long",
				s->name),
			RJ_CAUSE_SETTINGS, err);
	s->answer.begun = false;
	whole = false;
	done = given_up(s) ? DONE_AGAIN
			   : send_request(s, iov, call->body_len ? 2 : 1,
				     until, &whole);
	if (done == DONE_OK)
		done = receive_answer(s, call, until);
	*again = (done == DONE_CLOSED || done == DONE_LOST) && s->used &&
		 !s->answer.begun;
	if (done != DONE_OK)
		rc = fail_io(s, done, errno, err);
	else
		rc = rj_http1_response_end(
			&s->answer, s->name, s->peer, &keep, err);
	if (!rc && !whole && rj_http_is_success(call->status))
		rc = rj_http_fail_early(s->name, s->peer, err);
	if (rc || !keep || !whole)
		rj_http1_hang_up(s);
	else
		s->used = true;
	return rc;
}

/* Is anything there before we have asked? Then it is no answer to what comes
 * (a proxy said one twice, or that it will wait no longer), or the end. */
static bool stale(struct rj_http1 *s)
{
	size_t got;
	char c;

	return receive_some(s, &c, 1, false, &got) != DONE_AGAIN;
}

int rj_http1_put(struct rj_http1 *s, struct rj_http_call *call,
	struct rj_error *err)
{
	bool again = true;
	int rc = 0, tries;

	if (s->easy && stale(s))
		rj_http1_hang_up(s);
	for (tries = 0; tries < 2 && again; tries++) {
		rc = s->easy ? 0 : connect_now(s, err);
		if (rc)
			return rc;
		rc = attempt(s, call, &again, err);
	}
	return rc;
}

int rj_http1_new(const char *name, const char *peer, const char *base,
	const struct rj_store_opts *opts, struct rj_http1 **out,
	struct rj_error *err)
{
	struct rj_http1 *s = calloc(1, sizeof(*s));

	if (!s)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", name);
	s->fd = -1;
	s->peer = peer;
	s->opts = *opts;
	rj_conf_ref(s->opts.conf);
	s->tls = !strncmp(base, "https:", 6);
	snprintf(s->name, sizeof(s->name), "%s", name);
	s->base_len = (size_t)snprintf(s->base, sizeof(s->base), "%s", base);
	*out = s;
	return 0;
}

void rj_http1_on_connect(struct rj_http1 *s,
	int (*fn)(void *arg, struct rj_error *err), void *arg)
{
	s->connected = fn;
	s->connected_arg = arg;
}

int rj_http1_dup(const struct rj_http1 *s, struct rj_http1 **out,
	struct rj_error *err)
{
	return rj_http1_new(s->name, s->peer, s->base, &s->opts, out, err);
}

bool rj_http1_use(struct rj_http1 *s, struct rj_conf *conf)
{
	if (conf != s->opts.conf) {
		rj_http1_hang_up(s);
		rj_conf_release(s->opts.conf);
		s->opts.conf = rj_conf_ref(conf);
	}
	return rj_http1_can(&s->opts);
}

void rj_http1_free(struct rj_http1 *s)
{
	if (!s)
		return;
	rj_http1_hang_up(s);
	rj_conf_release(s->opts.conf);
	explicit_bzero(s->head, sizeof(s->head)); /* a token */
	free(s);
}
