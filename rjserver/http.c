// SPDX-License-Identifier: GPL-2.0-or-later
#include "http_impl.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "http_slow.h"
#include "say.h"
#include "tls.h"
#include "util/environ.h"

#define HEADERS_MAX  8192
#define READ_AT_ONCE (1u << 20) /* then others get their turn */
#define WRITE_MOST   (1u << 20)
#define REFUSED_NS   60000000000ll /* how often to say so */

/*
 * libevent 2.1 reads at most 4 KiB at a time, and goes back to epoll after
 * each; max_single_read cannot raise that. So whatever else has arrived is
 * read here, when the first piece was added to the input buffer, in one read
 * into one piece of memory. (A TLS bufferevent reads its own way, and gets
 * no such callback.)
 */
static void read_on(
	struct evbuffer *input, const struct evbuffer_cb_info *info, void *arg)
{
	struct bufferevent *bev = arg;
	struct evbuffer_iovec v;
	int fd = bufferevent_getfd(bev), waiting = 0;
	ssize_t got;

	/* only for what evbuffer_read() added, and not for our own piece */
	if (!info->n_added || info->n_deleted || info->n_added > 4096 || fd < 0)
		return;
	if (ioctl(fd, FIONREAD, &waiting) || waiting <= 0)
		return;
	if (waiting > (int)READ_AT_ONCE)
		waiting = READ_AT_ONCE;
	if (waiting < 4096) /* so small a piece would call us again */
		waiting = 4096 + 1;
	if (evbuffer_reserve_space(input, waiting, &v, 1) != 1)
		return;
	got = recv(fd, v.iov_base, v.iov_len, MSG_DONTWAIT);
	/* end of stream and errors show again at the next event */
	if (got <= 0)
		return;
	v.iov_len = (size_t)got;
	evbuffer_commit_space(input, &v, 1);
}

static void on_bytes(
	struct evbuffer *input, const struct evbuffer_cb_info *info, void *arg)
{
	if (info->n_added)
		http_work(arg);
}

static struct bufferevent *new_bufferevent(struct event_base *base, void *arg)
{
	struct http *http = arg;
	struct bufferevent *bev = http->tls
					  ? tls_bufferevent(http->tls, base)
					  : bufferevent_socket_new(base, -1, 0);

	http_work(http);
	if (!bev)
		return NULL;
	bufferevent_setwatermark(bev, EV_READ, 0, http->input_max);
	bufferevent_set_max_single_write(bev, WRITE_MOST);
	if (!slow_watch(bev) ||
		!evbuffer_add_cb(bufferevent_get_input(bev), on_bytes, http) ||
		(!http->tls && !evbuffer_add_cb(bufferevent_get_input(bev),
				       read_on, bev))) {
		bufferevent_free(bev);
		return NULL;
	}
	if (!http->tls)
		straight_begin(http, bev);
	return bev;
}

static enum http_method method_of(const struct evhttp_request *ev)
{
	switch (evhttp_request_get_command(ev)) {
	case EVHTTP_REQ_GET:
		return HTTP_METHOD_GET;
	case EVHTTP_REQ_HEAD:
		return HTTP_METHOD_HEAD;
	case EVHTTP_REQ_PUT:
		return HTTP_METHOD_PUT;
	case EVHTTP_REQ_DELETE:
		return HTTP_METHOD_DELETE;
	default:
		return HTTP_METHOD_OTHER;
	}
}

static struct evhttp_request *ev_of(struct http_exchange *x)
{
	return x->ev;
}

static void sent(struct evhttp_request *ev, void *arg)
{
	struct http *http = arg;

	if (http->unsent)
		http->unsent--;
}

static void on_request(struct evhttp_request *ev, void *arg)
{
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(ev);
	struct evkeyvalq *headers = evhttp_request_get_input_headers(ev);
	struct evbuffer *body = evhttp_request_get_input_buffer(ev);
	struct http *http = arg;
	struct http_request req = {
		.method = method_of(ev),
		.path = evhttp_uri_get_path(uri),
		.query = evhttp_uri_get_query(uri),
		.has_length = evhttp_find_header(headers, "Content-Length") &&
			      !evhttp_find_header(headers, "Transfer-Encoding"),
		.body_bytes = evbuffer_get_length(body),
		.exchange = calloc(1, sizeof(*req.exchange)),
	};

	if (!req.exchange) {
		evhttp_send_error(ev, 503, NULL);
		return;
	}
	if (evhttp_request_get_connection(ev))
		slow_whole(evhttp_connection_get_bufferevent(
			evhttp_request_get_connection(ev)));
	*req.exchange = (struct http_exchange){.ev = ev, .http = http};
	http->unsent++;
	evhttp_request_set_on_complete_cb(ev, sent, http);
	http_work(http);
	if (evhttp_uri_get_fragment(uri) || !req.path)
		req.path = ""; /* no such path */
	http->handler(http->arg, &req);
}

int http_body(const struct http_request *req, struct iovec *parts, int max)
{
	struct evbuffer *body;
	int n;

	if (req->exchange->straight) {
		straight_body(req->exchange->straight, parts);
		return 1;
	}
	body = evhttp_request_get_input_buffer(ev_of(req->exchange));
	n = evbuffer_peek(body, -1, NULL, NULL, 0);
	if (n > max) {
		if (!evbuffer_pullup(body, -1))
			return -1;
		n = 1;
	}
	return evbuffer_peek(body, -1, NULL, (struct evbuffer_iovec *)parts, n);
}

const char *http_header(const struct http_request *req, const char *name)
{
	if (req->exchange->straight)
		return straight_header(req->exchange->straight, name);
	return evhttp_find_header(
		evhttp_request_get_input_headers(ev_of(req->exchange)), name);
}

const char *http_peer(const struct http_request *req)
{
	struct evhttp_connection *con;
	char *address = NULL;
	ev_uint16_t port;

	if (req->exchange->straight)
		return straight_peer(req->exchange->straight);
	con = evhttp_request_get_connection(ev_of(req->exchange));
	if (con)
		evhttp_connection_get_peer(con, &address, &port);
	return address ? address : "?";
}

bool http_peer_name(const struct http_request *req, char *out, size_t size)
{
	struct evhttp_connection *con;

	if (req->exchange->straight)
		return false; /* it has no TLS */
	con = evhttp_request_get_connection(ev_of(req->exchange));
	return con && tls_peer_name(evhttp_connection_get_bufferevent(con), out,
			      size);
}

void http_set_tag(struct http_exchange *x, void *tag)
{
	x->tag = tag;
}

void http_finish(struct http_exchange *x, int status, uint64_t bytes)
{
	if (x->http->done)
		x->http->done(x->http->done_arg, x->tag, status, bytes);
	free(x);
}

const char *http_phrase(int status)
{
	switch (status) {
	case 200:
		return "OK";
	case 201:
		return "Created";
	case 204:
		return "No Content";
	case 400:
		return "Bad Request";
	case 401:
		return "Unauthorized";
	case 403:
		return "Forbidden";
	case 404:
		return "Not Found";
	case 405:
		return "Method Not Allowed";
	case 409:
		return "Conflict";
	case 411:
		return "Length Required";
	case 412:
		return "Precondition Failed";
	case 413:
		return "Content Too Large";
	case 503:
		return "Service Unavailable";
	case 507:
		return "Insufficient Storage";
	default:
		return "Internal Server Error";
	}
}

static void free_body(const void *data, size_t len, void *arg)
{
	free((void *)data);
}

/* The body of the answer into OUT; HEAD has only its length. */
static size_t fill(
	struct evbuffer *out, const struct http_reply *reply, bool head)
{
	size_t len = 0;

	if (reply->text) {
		len = strlen(reply->text) + 1;
		if (!head)
			evbuffer_add_printf(out, "%s\n", reply->text);
	} else if (reply->body) {
		len = reply->body->len;
		if (!head && len &&
			!evbuffer_add_reference(
				out, reply->body->data, len, free_body, NULL))
			*reply->body = (struct rj_buf){0};
		rj_buf_free(reply->body);
	}
	return len;
}

void http_answer(struct http_exchange *x, const struct http_reply *reply)
{
	struct evhttp_request *ev = ev_of(x);
	struct evkeyvalq *out;
	const char *const *more;
	char text[24];
	size_t len;
	bool head;

	if (x->straight) {
		straight_answer(x->straight, reply);
		return;
	}
	out = evhttp_request_get_output_headers(ev);
	head = evhttp_request_get_command(ev) == EVHTTP_REQ_HEAD;
	len = fill(evhttp_request_get_output_buffer(ev), reply, head);
	if (reply->status != 204) {
		snprintf(text, sizeof(text), "%zu", len);
		evhttp_add_header(out, "Content-Length", text);
		if (reply->body || reply->text)
			evhttp_add_header(out, "Content-Type",
				reply->body ? reply->type : "text/plain");
	}
	if (reply->header)
		evhttp_add_header(out, reply->header, reply->value);
	for (more = reply->more; more && more[0] && more[1]; more += 2)
		evhttp_add_header(out, more[0], more[1]);
	http_finish(x, reply->status, head ? 0 : len);
	evhttp_send_reply(ev, reply->status, http_phrase(reply->status), NULL);
}

/* The listener's own argument is evhttp's. There is one server in a process. */
static struct http *listening;

static void on_accept_again(evutil_socket_t fd, short what, void *arg)
{
	struct http *http = arg;

	if (http->bound)
		evconnlistener_enable(
			evhttp_bound_socket_get_listener(http->bound));
}

/*
 * No descriptor or memory for one more connection, which stays in the queue:
 * libevent would ask for it again at once, and say so each time, 100,000 times
 * in a second.
 */
static void on_accept_failed(struct evconnlistener *listener, void *arg)
{
	static const struct timeval soon = {0, 100000};
	int e = EVUTIL_SOCKET_ERROR();
	int64_t now = rj_monotonic_ns();
	struct http *http = listening;

	if (!http->refused_ns || now - http->refused_ns > REFUSED_NS) {
		http->refused_ns = now;
		say_error("cannot accept a connection: %s", strerror(e));
	}
	evconnlistener_disable(listener);
	if (event_add(http->accept_again, &soon))
		evconnlistener_enable(listener);
}

struct http *http_new(struct event_base *base, int fd, size_t body_max,
	http_handler handler, void *arg)
{
	struct http *http = calloc(1, sizeof(*http));

	if (!http)
		return NULL;
	http->base = base;
	http->body_max = body_max;
	http->input_max = body_max + 2 * READ_AT_ONCE;
	http->handler = handler;
	http->arg = arg;
	http->ev = evhttp_new(base);
	if (!http->ev)
		goto fail;
	evhttp_set_allowed_methods(http->ev, 0xffff); /* we answer 405 */
	evhttp_set_max_headers_size(http->ev, HEADERS_MAX);
	evhttp_set_max_body_size(http->ev, (ev_ssize_t)body_max);
	evhttp_set_flags(http->ev, EVHTTP_SERVER_LINGERING_CLOSE);
	/* 45 bytes of each put's answer, which has no body to be of a type */
	evhttp_set_default_content_type(http->ev, NULL);
	evhttp_set_timeout(http->ev, SLOW_IDLE_SECONDS);
	evhttp_set_gencb(http->ev, on_request, http);
	evhttp_set_bevcb(http->ev, new_bufferevent, http);
	http->bound = evhttp_accept_socket_with_handle(http->ev, fd);
	http->accept_again = event_new(base, -1, 0, on_accept_again, http);
	if (!http->bound || !http->accept_again)
		goto fail;
	listening = http;
	evconnlistener_set_error_cb(
		evhttp_bound_socket_get_listener(http->bound), on_accept_failed);
	return http;
fail:
	http_free(http);
	return NULL;
}

void http_on_done(struct http *http, http_done fn, void *arg)
{
	http->done = fn;
	http->done_arg = arg;
}

void http_on_work(struct http *http, void (*fn)(void *arg), void *arg)
{
	http->work = fn;
	http->work_arg = arg;
}

void http_work(struct http *http)
{
	if (http->work)
		http->work(http->work_arg);
}

void http_use_tls(struct http *http, struct tls *tls)
{
	http->tls = tls;
}

void http_stop(struct http *http)
{
	evhttp_del_accept_socket(http->ev, http->bound);
	http->bound = NULL;
}

unsigned http_unsent(const struct http *http)
{
	return http->unsent;
}

void http_free(struct http *http)
{
	if (!http)
		return;
	listening = NULL;
	straight_free_all(http); /* what evhttp then frees */
	if (http->accept_again)
		event_free(http->accept_again);
	if (http->ev)
		evhttp_free(http->ev);
	free(http);
}
