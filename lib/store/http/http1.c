// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/http/http1.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/http/http1-conn.h"
#include "store/http/http1-request.h"
#include "store/http/http1-response.h"
#include "store/http/peer-fail.h"
#include "util/environ.h"

#define MS 1000000ll

struct rj_http1 {
	struct rj_http_peer peer;
	struct rj_http1_conn conn;
	char base[RJ_URL_BYTES];
	char auth[RJ_HTTP1_AUTH_BYTES]; /* of this connection */
	/* Of the request under way: */
	struct rj_http_call *call;
	bool passed; /* its check: it uses up the connection of some servers */
	bool waited; /* to send it: the socket's own limit would come on top */
	int64_t until; /* its time limit, or that of silence (monotonic, ns) */
	char head[RJ_HTTP1_REQUEST_BYTES];
	struct rj_http1_response answer;
};

static void set_limit(struct rj_http1 *h)
{
	h->until = rj_monotonic_ns() + h->peer.opts.request_timeout_ms * MS;
}

/* Receive what is there, and parse it. */
static enum rj_http1_io take_some(struct rj_http1 *h, bool wait)
{
	enum rj_http1_io io;
	size_t size, got;
	char *at = rj_http1_response_space(&h->answer, &size);

	io = rj_http1_receive(&h->conn, at, size, wait, &got);
	if (io == RJ_IO_OK && !rj_http1_response_take(&h->answer, got))
		h->answer.complete = true; /* rj_http1_response_end() says why */
	return io;
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
 * of it, and close: then RJ_IO_OK with *WHOLE false, and the answer has begun, or is
 * there to be read.
 */
static enum rj_http1_io send_request(
	struct rj_http1 *h, struct iovec *iov, int parts, bool *whole)
{
	enum rj_http1_io io;
	size_t sent;

	*whole = false;
	while (parts) {
		io = rj_http1_send(&h->conn, iov, parts, &sent);
		if (io == RJ_IO_LOST)
			/* perhaps after an answer */
			return rj_http1_wait(&h->conn, POLLIN, h->until)
				       ? RJ_IO_OK
				       : io;
		advance(&iov, &parts, sent);
		if (!parts || io == RJ_IO_OK)
			continue;
		h->waited = true;
		if (!rj_http1_wait(&h->conn, POLLIN | POLLOUT, h->until))
			return RJ_IO_AGAIN;
		io = take_some(h, false);
		/* besides an answer this may be a message of TLS's own, or 1xx */
		if (io != RJ_IO_AGAIN && (io != RJ_IO_OK || h->answer.head ||
						 h->answer.complete))
			return io;
	}
	*whole = true;
	return RJ_IO_OK;
}

static enum rj_http1_io receive_answer(struct rj_http1 *h)
{
	enum rj_http1_io io;

	while (!h->answer.complete) {
		/* one that never ends may come faster than it is read */
		if (h->answer.begun && (rj_http1_given_up(&h->conn) ||
					       rj_monotonic_ns() > h->until))
			return RJ_IO_AGAIN;
		/* the first piece may take as long as the socket allows */
		io = take_some(h, !h->answer.begun && !h->waited);
		if (h->answer.handed_on)
			set_limit(h); /* for silence */
		h->answer.handed_on = false;
		if (io == RJ_IO_AGAIN &&
			rj_http1_wait(&h->conn, POLLIN, h->until))
			continue;
		if (io != RJ_IO_OK)
			return io;
	}
	return RJ_IO_OK;
}

static int fail_io(struct rj_http1 *h, enum rj_http1_io io, struct rj_error *err)
{
	const char *name = h->peer.name, *peer = h->peer.setup.peer;

	if (io == RJ_IO_AGAIN && rj_http1_given_up(&h->conn))
		return rj_peer_fail_given_up(name, peer, err);
	if (io == RJ_IO_AGAIN)
		return rj_peer_fail_time(name, peer, &h->peer.opts, err);
	if (io == RJ_IO_CLOSED && h->answer.begun)
		return rj_http_fail_cut(&h->peer, err);
	if (io == RJ_IO_CLOSED)
		return rj_peer_fail_silent(!h->conn.used, name, peer, err);
	return rj_http1_fail_lost(&h->conn, err); /* TLS may know why: our certificate */
}

/* One attempt on the connection that there is. *AGAIN: it had been closed
 * before the request came, as far as one can tell. */
static int attempt(struct rj_http1 *h, bool *again, struct rj_error *err)
{
	struct rj_http_call *c = h->call;
	struct iovec iov[1 + RJ_STORE_PARTS] = {
		{h->head, rj_http1_request_head(c, h->base, h->auth, h->head)},
		{(void *)c->body, c->has_body ? c->body_len : 0}};
	int parts = iov[1].iov_len ? 2 + c->rest_count : 1;
	bool whole = false, keep = false;
	enum rj_http1_io io;
	int rc;

	if (!iov[0].iov_len)
		return rj_fail(err, RJ_E_INVAL,
			"%s: the head of the request is too long", h->peer.name);
	if (c->rest_count)
		memcpy(iov + 2, c->rest, (size_t)c->rest_count * sizeof(*iov));
	rj_http1_response_begin(&h->answer, c);
	h->waited = false;
	set_limit(h);
	io = rj_http1_given_up(&h->conn)
		     ? RJ_IO_AGAIN
		     : send_request(h, iov, parts, &whole);
	if (io == RJ_IO_OK)
		io = receive_answer(h);
	*again = (io == RJ_IO_CLOSED || io == RJ_IO_LOST) && h->conn.used &&
		 !h->answer.begun;
	if (io != RJ_IO_OK)
		rc = fail_io(h, io, err);
	else
		rc = rj_http1_response_end(&h->answer, &h->peer, &keep, err);
	if (!rc && !whole && rj_http_is_success(c->status))
		rc = rj_http_fail_early(&h->peer, err);
	if (rc || !keep || !whole)
		rj_http1_disconnect(&h->conn);
	else
		h->conn.used = true;
	return rc;
}

static int connect_now(struct rj_http1 *h, struct rj_error *err)
{
	int rc = rj_http_peer_check(&h->peer, err);

	if (!rc)
		rc = rj_http1_auth_line(
			h->peer.opts.conf, h->peer.name, h->auth, err);
	return rc ? rc : rj_http1_connect(&h->conn, h->base, err);
}

/* See to a connection that can be used, and is checked where there is a CHECK. */
static int get_ready(struct rj_http1 *h,
	int (*check)(void *arg, struct rj_error *err), void *arg,
	struct rj_error *err)
{
	int rc = 0;

	if (h->conn.used && rj_http1_is_stale(&h->conn))
		rj_http1_disconnect(&h->conn);
	if (!rj_http1_connected(&h->conn))
		rc = connect_now(h, err);
	if (rc || !check || h->conn.checked)
		return rc;
	if (!h->passed)
		rc = check(arg, err);
	h->passed = !rc;
	if (rc)
		rj_http1_disconnect(&h->conn);
	else if (!rj_http1_connected(&h->conn))
		rc = connect_now(h, err);
	h->conn.checked = !rc;
	return rc;
}

int rj_http1_perform_checked(struct rj_http1 *h, struct rj_http_call *call,
	int (*check)(void *arg, struct rj_error *err), void *arg,
	struct rj_error *err)
{
	size_t start = call->out ? call->out->len : 0;
	bool again = true;
	int rc = 0, tries;

	if (rj_http_peer_renew(&h->peer))
		rj_http1_disconnect(&h->conn);
	h->passed = false;
	for (tries = 0; tries < 2 + h->passed && again; tries++) {
		again = false;
		rc = get_ready(h, check, arg, err);
		h->call = call;
		if (!rc)
			rc = attempt(h, &again, err);
	}
	if (rc && call->out)
		call->out->len = start;
	h->peer.failed = rc || !rj_http_means_something(call->status);
	return rc;
}

int rj_http1_perform(
	struct rj_http1 *h, struct rj_http_call *call, struct rj_error *err)
{
	return rj_http1_perform_checked(h, call, NULL, NULL, err);
}

void rj_http1_hang_up(struct rj_http1 *h)
{
	rj_http1_disconnect(&h->conn);
	h->peer.failed = true;
}

const struct rj_http_peer *rj_http1_peer_of(const struct rj_http1 *h)
{
	return &h->peer;
}

int64_t rj_http1_cert_until(const struct rj_http1 *h)
{
	return h->conn.cert_until_s;
}

int rj_http1_new(const struct rj_http_setup *setup, const char *base,
	struct rj_http1 **out, struct rj_error *err)
{
	struct rj_http1 *h = calloc(1, sizeof(*h));
	int rc;

	if (!h)
		return rj_fail(
			err, RJ_E_NOMEM, "%s: out of memory", setup->name);
	rj_http_peer_init(&h->peer, setup);
	h->conn.fd = -1;
	h->conn.peer = &h->peer;
	snprintf(h->base, sizeof(h->base), "%s", base);
	rc = rj_http_peer_check(&h->peer, err);
	if (rc)
		rj_http1_free(h);
	else
		*out = h;
	return rc;
}

int rj_http1_dup(
	const struct rj_http1 *h, struct rj_http1 **out, struct rj_error *err)
{
	return rj_http1_new(&h->peer.setup, h->base, out, err);
}

void rj_http1_free(struct rj_http1 *h)
{
	if (!h)
		return;
	rj_http1_disconnect(&h->conn);
	rj_http_peer_release(&h->peer);
	explicit_bzero(h->auth, sizeof(h->auth));
	explicit_bzero(h->head, sizeof(h->head)); /* has it, too */
	free(h);
}
