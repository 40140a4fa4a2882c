// SPDX-License-Identifier: LGPL-2.1-or-later
/* Send requests of S3 and WebDAV over libcurl. rj:// has its own engine: http1.c. */
#include "store/curl/http.h"

#include <ctype.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "store/conf.h"
#include "store/curl/curl.h"

#define KINDS 8 /* of header arrays that a handle remembers */

struct rj_http {
	CURL *easy;
	struct {
		const char *const *lines;
		struct curl_slist *list;
	} kinds[KINDS];
	struct rj_http_peer peer;
	char detail[CURL_ERROR_SIZE];
	int socket; /* of the connection; -1: none */
	int other_socket; /* opened before it; -1: none */
	/* Of the request under way: */
	struct rj_http_call *call;
	size_t body_read; /* bytes handed over by read_body() */
	size_t start;  /* length of call->out at the beginning */
	size_t error;  /* bytes in call->error */
	bool head_ended; /* by an empty line */
	bool framed;   /* the answer says where it ends */
	bool early;    /* it began before the body was sent whole */
	bool not_http; /* by its status line */
	bool too_long; /* of more than call->max bytes */
	bool no_memory;
	int sink_rc; /* what call->sink ended the request with */
};

/*
 * Some servers (Ceph's radosgw) send head and body of an answer in two packets
 * with Nagle's algorithm on: the body then waits for our delayed ACK of the
 * head, 40 ms. The ACK is sent at once instead. It does not last; so it is said
 * for each answer.
 */
static void acknowledge_now(struct rj_http *h)
{
	int on = 1;

	if (h->socket >= 0)
		setsockopt(h->socket, IPPROTO_TCP, TCP_QUICKACK, &on,
			sizeof(on));
}

static int on_socket(void *arg, curl_socket_t fd, curlsocktype purpose)
{
	struct rj_http *h = arg;

	h->other_socket = h->socket;
	h->socket = fd;
	return CURL_SOCKOPT_OK;
}

static int on_close(void *arg, curl_socket_t fd)
{
	struct rj_http *h = arg;

	/* of two addresses that were tried at once, the first one may win */
	if (h->socket == fd) {
		h->socket = h->other_socket;
		h->other_socket = -1;
	} else if (h->other_socket == fd) {
		h->other_socket = -1;
	}
	return close(fd);
}

static bool is_sent(const struct rj_http *h)
{
	curl_off_t sent = 0;

	curl_easy_getinfo(h->easy, CURLINFO_SIZE_UPLOAD_T, &sent);
	return !h->call->has_body || sent >= (curl_off_t)h->call->body_len;
}

/* "HTTP/1.1 201" or "HTTP/1.1 201 Created". libcurl takes any line that begins with
 * "HTTP/" and has no such number for status 200. */
static bool is_status_line(const char *line, size_t len)
{
	static const char form[] = "HTTP/1.d ddd";
	size_t i;

	if (len < sizeof(form) - 1 ||
		(len > sizeof(form) - 1 && line[sizeof(form) - 1] != ' '))
		return false;
	for (i = 0; i < sizeof(form) - 1; i++)
		if (form[i] == 'd' ? !isdigit((unsigned char)line[i])
				   : line[i] != form[i])
			return false;
	return true;
}

static size_t on_header(char *line, size_t one, size_t len, void *arg)
{
	struct rj_http *h = arg;
	size_t n = len;
	char value[32];

	while (n && (line[n - 1] == '\r' || line[n - 1] == '\n'))
		n--;
	if (!n) {
		h->head_ended = true;
		acknowledge_now(h);
	}
	/* libcurl takes "http/" for a status line, too */
	if (n >= 5 && !strncasecmp(line, "HTTP/", 5)) {
		/* a new answer, perhaps after a 1xx */
		h->framed = h->head_ended = false;
		h->early = !is_sent(h);
		h->not_http = !is_status_line(line, n);
		if (h->not_http)
			return 0; /* ends the request */
	} else if (rj_http_header_is(
			   line, n, "Content-Length", value, sizeof(value)) ||
		   rj_http_header_is(line, n, "Transfer-Encoding", value,
			   sizeof(value))) {
		h->framed = true;
	}
	rj_http_call_line(h->call, line, n);
	return len;
}

static long status_of(struct rj_http *h)
{
	long status = 0;

	curl_easy_getinfo(h->easy, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

static void keep_error(struct rj_http *h, const char *data, size_t len)
{
	size_t room = RJ_HTTP_BODY - 1 - h->error;

	if (len > room)
		len = room;
	memcpy(h->call->error + h->error, data, len);
	h->error += len;
}

static size_t on_body(char *data, size_t one, size_t len, void *arg)
{
	struct rj_http *h = arg;
	struct rj_buf *out = h->call->out;
	long status = status_of(h);
	curl_off_t whole = -1;

	/* a listing of WebDAV has 207, and nothing else has */
	if (status != (strcmp(h->call->method, "PROPFIND") ? 200 : 207)) {
		keep_error(h, data, len);
		return len;
	}
	if (h->call->sink) {
		h->sink_rc = h->call->sink(h->call->sink_arg, data, len);
		return h->sink_rc ? 0 : len;
	}
	if (!out)
		return len;
	if (out->len == h->start)
		curl_easy_getinfo(
			h->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &whole);
	if (whole > (curl_off_t)h->call->max ||
		len > h->call->max - (out->len - h->start)) {
		h->too_long = true;
		return 0;
	}
	if ((whole > 0 && rj_buf_reserve(out, (size_t)whole)) ||
		rj_buf_append(out, data, len)) {
		h->no_memory = true;
		return 0;
	}
	return len;
}

/* Append the LINES to a list; NULL: no memory. */
static struct curl_slist *make_list(const char *const *lines)
{
	struct curl_slist *list = NULL, *more;

	for (; *lines; lines++) {
		more = curl_slist_append(list, *lines);
		if (!more) {
			curl_slist_free_all(list);
			return NULL;
		}
		list = more;
	}
	return list;
}

/* The list of LINES, made once. */
static CURLcode find_list(struct rj_http *h, const char *const *lines,
	struct curl_slist **out)
{
	unsigned i;

	*out = NULL;
	if (!lines || !*lines)
		return 0;
	for (i = 0; i < KINDS - 1 && h->kinds[i].lines; i++) {
		if (h->kinds[i].lines == lines)
			break;
	}
	if (h->kinds[i].lines != lines) {
		curl_slist_free_all(h->kinds[i].list);
		h->kinds[i].lines = NULL;
		h->kinds[i].list = make_list(lines);
		if (!h->kinds[i].list)
			return CURLE_OUT_OF_MEMORY;
		h->kinds[i].lines = lines;
	}
	*out = h->kinds[i].list;
	return 0;
}

/* EXTRA are list heads of the caller's; they stand before the array's lines. */
static CURLcode set_headers(struct rj_http *h, const struct rj_http_call *c,
	struct curl_slist extra[RJ_HTTP_EXTRA])
{
	struct curl_slist *list;
	CURLcode code = find_list(h, c->headers, &list);
	unsigned i;

	for (i = 0; i < RJ_HTTP_EXTRA && c->extra[i]; i++) {
		extra[i].data = (char *)c->extra[i];
		extra[i].next = list;
		list = &extra[i];
	}
	return code ? code
		    : curl_easy_setopt(h->easy, CURLOPT_HTTPHEADER, list);
}

/* Is anything there before we have asked? Then it is no answer to what comes, though
 * libcurl would take it for one: a proxy said one twice, or would wait no longer. The
 * server hears that the connection is not used again. */
static bool is_stale(const struct rj_http *h)
{
	char c;

	if (h->socket < 0 ||
		recv(h->socket, &c, 1, MSG_PEEK | MSG_DONTWAIT) == -1)
		return false;
	shutdown(h->socket, SHUT_RDWR);
	return true;
}

/* Hand the body over in two parts, the second one of one byte. */
static size_t read_body(char *out, size_t size, size_t n, void *arg)
{
	struct rj_http *h = arg;
	const struct rj_http_call *c = h->call;
	size_t left = c->body_len - h->body_read, take = size * n;

	if (left == 1)
		c->before_last->wait(c->before_last->arg, -1);
	if (take > (left > 1 ? left - 1 : left))
		take = left > 1 ? left - 1 : left;
	memcpy(out, (const char *)c->body + h->body_read, take);
	h->body_read += take;
	return take;
}

static CURLcode set_call(struct rj_http *h, const struct rj_http_call *c,
	struct curl_slist extra[RJ_HTTP_EXTRA])
{
	CURL *e = h->easy;
	CURLcode code;

	curl_easy_setopt(e, CURLOPT_FRESH_CONNECT, (long)is_stale(h));
	code = curl_easy_setopt(e, CURLOPT_URL, c->url);
	if (code)
		return code;
	if (c->has_body) {
		curl_easy_setopt(e, CURLOPT_NOBODY, 0L);
		/* POSTFIELDS, not UPLOAD: curl then sends the header and a
		 * body of up to 64 KiB in one go. */
		curl_easy_setopt(e, CURLOPT_POSTFIELDS,
			c->before_last ? NULL : c->body ? c->body : "");
		curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE,
			(curl_off_t)c->body_len);
		curl_easy_setopt(e, CURLOPT_POST, 1L);
		curl_easy_setopt(e, CURLOPT_READFUNCTION, read_body);
		curl_easy_setopt(e, CURLOPT_READDATA, h);
		h->body_read = 0;
	} else if (!strcmp(c->method, "HEAD")) {
		curl_easy_setopt(e, CURLOPT_NOBODY, 1L);
	} else {
		curl_easy_setopt(e, CURLOPT_HTTPGET, 1L);
	}
	code = set_headers(h, c, extra);
	if (code)
		return code;
	return curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST,
		strcmp(c->method, "GET") && strcmp(c->method, "HEAD")
			? c->method
			: NULL);
}

int rj_http_socket(const struct rj_http *h)
{
	return h->socket;
}

/* The transfer went well as far as curl can tell. */
static int check_answer(struct rj_http *h, struct rj_error *err)
{
	int status = (int)status_of(h);

	h->call->status = status;
	if (!h->head_ended)
		return rj_http_fail_cut(&h->peer, err);
	if (!h->framed && rj_http_needs_end(status) &&
		strcmp(h->call->method, "HEAD"))
		return rj_http_fail_endless(&h->peer, status, err);
	if (h->early && rj_http_is_success(status))
		return rj_http_fail_early(&h->peer, err);
	return 0;
}

static int fail_perform(struct rj_http *h, CURLcode code, struct rj_error *err)
{
	if (h->sink_rc)
		return h->sink_rc;
	if (h->too_long)
		return rj_http_fail_long(&h->peer, h->call->max, err);
	if (h->no_memory)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", h->peer.name);
	if (h->not_http || code == CURLE_UNSUPPORTED_PROTOCOL ||
		code == CURLE_WEIRD_SERVER_REPLY)
		return rj_http_fail_alien(&h->peer, err);
	return rj_curl_fail(h->easy, code, h->peer.name, h->peer.setup.peer,
		h->detail, &h->peer.opts, err);
}

int rj_http_perform(
	struct rj_http *h, struct rj_http_call *call, struct rj_error *err)
{
	struct curl_slist extra[RJ_HTTP_EXTRA];
	CURLcode code;
	int rc;

	rc = rj_http_renew(h, err);
	if (rc)
		return rc;
	h->call = call;
	h->start = call->out ? call->out->len : 0;
	h->error = 0;
	h->sink_rc = 0;
	h->framed = h->early = h->not_http = h->too_long = h->no_memory = false;
	h->head_ended = false;
	h->detail[0] = '\0';
	rj_http_call_begin(call);
	code = set_call(h, call, extra);
	if (!code)
		code = rj_curl_perform(h->easy);
	curl_easy_setopt(h->easy, CURLOPT_HTTPHEADER, NULL);
	rj_http_call_end(call, h->error);
	if (code || h->sink_rc)
		rc = fail_perform(h, code, err);
	else
		rc = check_answer(h, err);
	if (rc && call->out)
		call->out->len = h->start;
	h->call = NULL;
	h->peer.failed = rc || !rj_http_means_something(call->status);
	return rc;
}

static CURLcode set_auth(struct rj_http *h)
{
	const struct rj_conf *c = h->peer.opts.conf;
	CURL *e = h->easy;
	char provider[96];
	CURLcode code = 0;

	if (h->peer.setup.auth == RJ_HTTP_SIGV4) {
		snprintf(provider, sizeof(provider), "aws:amz:%s:s3",
			h->peer.region);
		code = curl_easy_setopt(e, CURLOPT_AWS_SIGV4, provider);
	} else if (c->token) {
		curl_easy_setopt(e, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
		return curl_easy_setopt(e, CURLOPT_XOAUTH2_BEARER, c->token);
	}
	if (!code && c->user)
		code = curl_easy_setopt(e, CURLOPT_USERNAME, c->user);
	if (!code && c->password)
		code = curl_easy_setopt(e, CURLOPT_PASSWORD, c->password);
	return code;
}

static CURLcode set_up(struct rj_http *h)
{
	CURL *e = h->easy;

	curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(e, CURLOPT_HTTP09_ALLOWED, 0L);
	/* with a large body curl asks first; a server that keeps silent is
	 * not waited for */
	curl_easy_setopt(e, CURLOPT_EXPECT_100_TIMEOUT_MS, 1L);
	curl_easy_setopt(e, CURLOPT_SOCKOPTFUNCTION, on_socket);
	curl_easy_setopt(e, CURLOPT_SOCKOPTDATA, h);
	curl_easy_setopt(e, CURLOPT_CLOSESOCKETFUNCTION, on_close);
	curl_easy_setopt(e, CURLOPT_CLOSESOCKETDATA, h);
	curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(e, CURLOPT_HEADERDATA, h);
	curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(e, CURLOPT_WRITEDATA, h);
	return set_auth(h);
}

static int make_easy(struct rj_http *h, struct rj_error *err)
{
	int rc = rj_http_peer_check(&h->peer, err);

	if (!rc)
		rc = rj_curl_new_http(&h->peer, h->detail, &h->easy, err);
	if (!rc && set_up(h))
		rc = rj_fail(err, RJ_E_NOMEM, "%s: out of memory", h->peer.name);
	return rc;
}

int rj_http_renew(struct rj_http *h, struct rj_error *err)
{
	int rc;

	if (rj_http_peer_renew(&h->peer)) {
		rj_curl_cleanup(h->easy);
		h->easy = NULL;
	}
	if (h->easy)
		return 0;
	rc = make_easy(h, err);
	if (rc) {
		rj_curl_cleanup(h->easy);
		h->easy = NULL;
		h->peer.failed = true;
	}
	return rc;
}

struct rj_conf *rj_http_conf(const struct rj_http *h)
{
	return h->peer.opts.conf;
}

const struct rj_http_peer *rj_http_peer_of(const struct rj_http *h)
{
	return &h->peer;
}

int rj_http_new(const struct rj_http_setup *setup, struct rj_http **out,
	struct rj_error *err)
{
	struct rj_http *h;
	int rc;

	h = calloc(1, sizeof(*h));
	if (!h)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory",
			setup->name);
	h->socket = h->other_socket = -1;
	rj_http_peer_init(&h->peer, setup);
	rc = make_easy(h, err);
	if (rc) {
		rj_http_free(h);
		return rc;
	}
	*out = h;
	return 0;
}

int rj_http_dup(
	const struct rj_http *h, struct rj_http **out, struct rj_error *err)
{
	return rj_http_new(&h->peer.setup, out, err);
}

void rj_http_free(struct rj_http *h)
{
	unsigned i;

	if (!h)
		return;
	rj_curl_cleanup(h->easy);
	for (i = 0; i < KINDS; i++)
		curl_slist_free_all(h->kinds[i].list);
	rj_http_peer_release(&h->peer);
	free(h);
}
