// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/http/http1-conn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "module/openssl.h"
#include "store/backend.h"
#include "store/conf.h"
#include "store/http/dial.h"
#include "store/http/peer-fail.h"
#include "store/url.h"
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

bool rj_http1_connected(const struct rj_http1_conn *c)
{
	return c->fd >= 0;
}

void rj_http1_disconnect(struct rj_http1_conn *c)
{
	if (c->layer)
		c->layer->close(c);
	else if (c->fd >= 0)
		close(c->fd); /* nothing that was sent depends on it */
	c->layer = NULL;
	c->state = NULL;
	c->fd = -1;
	c->used = c->checked = false;
}

static bool by_layer(const struct rj_http1_conn *c)
{
	return c->layer && c->layer->send;
}

/* Make the socket a blocking one with a time limit, which saves the poll in front of the
 * receive. A layer's socket stays as it is: it may have to wait for another event. */
static int limit_socket(struct rj_http1_conn *c)
{
	int ms = look_ms(c, c->peer->opts.request_timeout_ms);
	struct timeval limit = {
		.tv_sec = ms / 1000,
		.tv_usec = ms % 1000 * 1000l,
	};
	int flags;

	if (by_layer(c))
		return 0;
	flags = fcntl(c->fd, F_GETFL);
	return flags < 0 || fcntl(c->fd, F_SETFL, flags & ~O_NONBLOCK) ||
			       setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit))
		       ? -1
		       : 0;
}

/* May a proxy be meant for P? Its rules (no_proxy, the proxy's own password) are libcurl's. */
static bool may_have_proxy(const struct rj_http_peer *p)
{
	static const char *const plain[] = {"http_proxy", "all_proxy", "ALL_PROXY", NULL};
	static const char *const tls[] = {
		"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", NULL};
	const char *const *name = p->setup.tls ? tls : plain;
	const char *proxy = p->opts.conf->proxy;

	if (proxy)
		return *proxy;
	if (rj_http_peer_stays_here(p))
		return false;
	for (proxy = NULL; *name && !(proxy && *proxy); name++)
		proxy = getenv(*name);
	return proxy && *proxy;
}

static int connect_by_curl(struct rj_http1_conn *c, const char *base, struct rj_error *err)
{
	const struct rj_curl_module *curl;
	int rc = rj_curl_module(&curl, err);

	return rc ? rc : curl->connect(c, base, err);
}

static int connect_direct(struct rj_http1_conn *c, const char *base, struct rj_error *err)
{
	const struct rj_store_opts *o = &c->peer->opts;
	int ms = o->connect_timeout_ms < o->request_timeout_ms ? o->connect_timeout_ms
							       : o->request_timeout_ms;
	int64_t until = rj_monotonic_ns() + ms * MS;
	const struct rj_openssl *openssl = NULL;
	struct rj_url url;
	int rc = rj_url_parse(base, &url, err);

	if (!rc && c->peer->setup.tls)
		rc = rj_openssl(&openssl, err);
	if (!rc)
		rc = rj_dial(c->peer, url.port, until, &c->fd, err);
	if (!rc && openssl)
		rc = openssl->tls_begin(c, until, err);
	return rc;
}

int rj_http1_connect(
	struct rj_http1_conn *c, const char *base, struct rj_error *err)
{
	int rc;

	c->cert_until_s = 0;
	rc = may_have_proxy(c->peer) ? connect_by_curl(c, base, err)
				     : connect_direct(c, base, err);
	if (!rc && limit_socket(c))
		rc = rj_fail(err, RJ_E_IO,
			"%s: cannot use the connection's socket", c->peer->name);
	if (rc)
		rj_http1_disconnect(c);
	return rc;
}

static enum rj_http1_io io_of(struct rj_http1_conn *c, ssize_t n)
{
	if (n >= 0)
		return RJ_IO_OK;
	c->sys_errno = errno;
	return errno == EAGAIN || errno == EINTR ? RJ_IO_AGAIN : RJ_IO_LOST;
}

enum rj_http1_io rj_http1_send(
	struct rj_http1_conn *c, struct iovec *iov, int parts, size_t *sent)
{
	struct msghdr msg = {.msg_iov = iov, .msg_iovlen = (size_t)parts};
	ssize_t n;

	*sent = 0;
	if (by_layer(c))
		return c->layer->send(c, iov->iov_base, iov->iov_len, sent);
	n = sendmsg(c->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n > 0)
		*sent = (size_t)n;
	return io_of(c, n);
}

enum rj_http1_io rj_http1_receive(struct rj_http1_conn *c, char *data,
	size_t size, bool wait, size_t *got)
{
	ssize_t n;

	*got = 0;
	if (by_layer(c))
		return c->layer->receive(c, data, size, got);
	n = recv(c->fd, data, size, wait ? 0 : MSG_DONTWAIT);
	if (n > 0)
		*got = (size_t)n;
	return n ? io_of(c, n) : RJ_IO_CLOSED;
}

int rj_http1_fail_lost(struct rj_http1_conn *c, struct rj_error *err)
{
	int e = c->sys_errno;

	if (by_layer(c))
		return c->layer->fail_lost(c, err);
	return rj_peer_fail_lost(c->peer->name, c->peer->setup.peer,
		e == ECONNRESET || e == EPIPE ? "connection reset" : strerror(e), err);
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
