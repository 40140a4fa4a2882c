// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/http/http.h"

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
#include "store/http/curl.h"

#define KINDS 8 /* of header arrays that a handle remembers */

struct rj_http {
	CURL *easy;
	struct {
		const char *const *lines;
		struct curl_slist *list;
	} kinds[KINDS];
	bool failed;	 /* the last request, and rj.conf may be why */
	int64_t looked_ns; /* when that was looked at again */
	struct rj_http_setup setup; /* name, opts and region are ours, below */
	struct rj_store_opts opts;
	char name[sizeof(((struct rj_store *)0)->url)];
	char host[256];
	char region[64];
	char detail[CURL_ERROR_SIZE];
	int socket; /* of the connection; -1: none */
	int other_socket; /* opened before it; -1: none */
	unsigned connections; /* made so far */
	/* Of the request under way: */
	struct rj_http_call *call;
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

bool rj_http_header_is(const char *line, size_t len, const char *name,
	char *value, size_t size)
{
	size_t n = strlen(name);

	if (len <= n || line[n] != ':' || strncasecmp(line, name, n))
		return false;
	line += n + 1;
	len -= n + 1;
	while (len && (*line == ' ' || *line == '\t')) {
		line++;
		len--;
	}
	snprintf(value, size, "%.*s", (int)len, line);
	return true;
}

bool rj_http_is_success(int status)
{
	return status >= 200 && status < 300;
}

int rj_http_fail_early(const char *name, const char *peer, struct rj_error *err)
{
	return rj_fail(err, RJ_E_UNREACHABLE,
		"%s: the %s answered before all of the request was sent", name,
		peer);
}

bool rj_http_loopback(const char *host)
{
	return !strcasecmp(host, "localhost") || !strcmp(host, "[::1]") ||
	       (!strncmp(host, "127.", 4) &&
		       strspn(host, "0123456789.") == strlen(host));
}

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
	h->connections++;
	return CURL_SOCKOPT_OK;
}

unsigned rj_http_connections(const struct rj_http *h)
{
	return h->connections;
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
	if (h->call->header)
		h->call->header(h->call->arg, line, n);
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

/* The first line of an error's body, made harmless for a terminal. */
static void keep_text(struct rj_http *h)
{
	struct rj_http_call *c = h->call;
	size_t i;

	for (i = 0; i < h->error && i < RJ_HTTP_TEXT - 1; i++) {
		if (c->error[i] == '\n')
			break;
		c->text[i] = c->error[i] >= 0x20 && c->error[i] < 0x7f
				     ? c->error[i]
				     : '?';
	}
}

static size_t on_body(char *data, size_t one, size_t len, void *arg)
{
	struct rj_http *h = arg;
	struct rj_buf *out = h->call->out;
	long status = status_of(h);
	curl_off_t whole = -1;

	if (status != 200 && status != 207) {
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

void rj_http_hang_up(struct rj_http *h)
{
	if (h->socket >= 0)
		shutdown(h->socket, SHUT_RDWR);
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
		curl_easy_setopt(e, CURLOPT_POSTFIELDS, c->body ? c->body : "");
		curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE,
			(curl_off_t)c->body_len);
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

static void set_limits(struct rj_http *h, bool stream)
{
	long seconds = (h->opts.request_timeout_ms + 999) / 1000;

	curl_easy_setopt(h->easy, CURLOPT_TIMEOUT_MS,
		stream ? 0L : (long)h->opts.request_timeout_ms);
	curl_easy_setopt(h->easy, CURLOPT_LOW_SPEED_LIMIT, stream ? 1L : 0L);
	curl_easy_setopt(
		h->easy, CURLOPT_LOW_SPEED_TIME, stream ? seconds : 0L);
}

enum rj_cause rj_http_cause(int status)
{
	switch (status) {
	case 401:
		return RJ_CAUSE_TOKEN;
	case 403:
		return RJ_CAUSE_RIGHTS;
	case 404:
	case 410:
		return RJ_CAUSE_NOTFOUND;
	case 407:
		return RJ_CAUSE_LOGIN;
	default:
		return status >= 300 && status < 400 ? RJ_CAUSE_REDIRECT
						     : RJ_CAUSE_CODE;
	}
}

bool rj_http_needs_end(int status)
{
	return status != 204 && status != 401 && status != 403 &&
	       status != 407 && status != 408 && status != 429 && status < 500;
}

/* The transfer went well as far as curl can tell. */
static int check_answer(struct rj_http *h, struct rj_error *err)
{
	int status = (int)status_of(h);

	h->call->status = status;
	if (!h->head_ended)
		return rj_fail(err, RJ_E_UNREACHABLE,
			"%s: the %s's answer was cut short", h->name,
			h->setup.peer);
	if (!h->framed && rj_http_needs_end(status) &&
		strcmp(h->call->method, "HEAD"))
		return rj_fail_cause(
			rj_fail(err, RJ_E_PROTOCOL,
				"%s: an HTTP answer without a length (status "
				"%d): is a %s listening there?",
				h->name, status, h->setup.peer),
			rj_http_cause(status), err);
	if (h->early && rj_http_is_success(status))
		return rj_http_fail_early(h->name, h->setup.peer, err);
	return 0;
}

static int fail_perform(struct rj_http *h, CURLcode code, struct rj_error *err)
{
	if (h->sink_rc)
		return h->sink_rc;
	if (h->too_long)
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: the answer is longer than the %zu bytes that make "
			"sense",
			h->name, h->call->max);
	if (h->no_memory)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", h->name);
	if (h->not_http || code == CURLE_UNSUPPORTED_PROTOCOL ||
		code == CURLE_WEIRD_SERVER_REPLY)
		return rj_fail(err, RJ_E_PROTOCOL,
			"%s: the answer is not HTTP: is a %s listening there?",
			h->name, h->setup.peer);
	return rj_curl_fail(h->easy, code, h->name, h->setup.peer, h->detail,
		&h->opts, err);
}

/* Is STATUS an answer of the store to a client with the right settings? */
static bool means_something(int status)
{
	return status < 300 || status == 404 || status == 409 || status == 412;
}

int rj_http_perform(
	struct rj_http *h, struct rj_http_call *call, struct rj_error *err)
{
	struct curl_slist extra[RJ_HTTP_EXTRA];
	CURLcode code;
	int rc;

	rc = rj_http_renew(h, false, err);
	if (rc)
		return rc;
	h->call = call;
	h->start = call->out ? call->out->len : 0;
	h->error = 0;
	h->sink_rc = 0;
	h->framed = h->early = h->not_http = h->too_long = h->no_memory = false;
	h->head_ended = false;
	h->detail[0] = '\0';
	memset(call->text, 0, sizeof(call->text));
	memset(call->error, 0, sizeof(call->error));
	call->status = 0;
	set_limits(h, call->sink != NULL);
	code = set_call(h, call, extra);
	if (!code)
		code = rj_curl_perform(h->easy);
	curl_easy_setopt(h->easy, CURLOPT_HTTPHEADER, NULL);
	keep_text(h);
	if (code || h->sink_rc)
		rc = fail_perform(h, code, err);
	else
		rc = check_answer(h, err);
	if (rc && call->out)
		call->out->len = h->start;
	h->call = NULL;
	h->failed = rc || !means_something(call->status);
	return rc;
}

/* What of rj.conf a store that answers 401 did not take, or misses. */
static const char *not_taken(const struct rj_http *h, int status)
{
	const struct rj_conf *c = h->opts.conf;

	if (status != 401 || c->withheld || h->setup.auth == RJ_HTTP_SIGV4)
		return "";
	if (c->token)
		return "; it does not take the token of rj.conf";
	if (c->user)
		return "; it does not take the user and password of rj.conf";
	if (c->cert)
		return "; rj.conf has no token for this URL, and the certificate is not enough";
	return "; rj.conf has no token or user for this URL";
}

int rj_http_fail_status(const struct rj_http *h, const struct rj_http_call *c,
	const char *doing, const char *why, struct rj_error *err)
{
	enum rj_cause cause = rj_http_cause(c->status);
	enum rj_code code = RJ_E_PROTOCOL;
	const char *what = "gave an invalid answer";
	int shown = (int)strlen(doing);

	if (!why)
		why = c->text[0] == '<' ? "" : c->text; /* HTML is no message */
	if (c->status == 401 || c->status == 403) {
		code = RJ_E_DENIED;
		what = h->opts.conf->withheld
			? "refuses us, without the secret of [*] in rj.conf, which goes only to hosts that a section of its own names"
			: "refuses us";
	} else if (c->status == 407) {
		code = RJ_E_DENIED;
		what = "cannot be reached: the proxy wants a password";
	} else if (c->status == 507) {
		code = RJ_E_NOSPACE;
		what = "is full";
	} else if (c->status == 413 || c->status == 414) {
		code = RJ_E_INVAL;
		what = "does not take an object that large";
	} else if (c->status >= 500 || c->status == 408 || c->status == 423 ||
		   c->status == 425 || c->status == 429) {
		code = RJ_E_UNREACHABLE;
		what = "cannot do it now";
	}
	/* it is the account that matters, or what may be done, and no object */
	if (c->status == 401)
		shown = 0;
	else if (c->status == 403)
		shown = (int)strcspn(doing, " ");
	if (code == RJ_E_INVAL) /* by something in between, perhaps */
		cause = RJ_CAUSE_RIGHTS;
	if (cause == RJ_CAUSE_TOKEN && h->opts.conf->user)
		cause = RJ_CAUSE_LOGIN;
	return rj_fail_cause(
		rj_fail(err, code, "%s: %.*s%sthe %s %s (status %d%s%s)%s",
			h->name, shown, doing, shown ? ": " : "",
			h->setup.peer, what, c->status, *why ? ": " : "", why,
			not_taken(h, c->status)),
		cause, err);
}

static CURLcode set_auth(struct rj_http *h)
{
	const struct rj_conf *c = h->opts.conf;
	CURL *e = h->easy;
	char provider[96];
	CURLcode code = 0;

	if (h->setup.auth == RJ_HTTP_SIGV4) {
		snprintf(provider, sizeof(provider), "aws:amz:%s:s3",
			h->region);
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

/* A password or token must not travel for all to read. */
static int check_wire(const struct rj_http_setup *s, struct rj_error *err)
{
	const struct rj_conf *c = s->opts->conf;

	if (s->tls || c->insecure || s->auth == RJ_HTTP_SIGV4 ||
		!(c->token || c->password) || rj_http_loopback(s->host))
		return 0;
	return rj_fail(err, RJ_E_REFUSED,
		"%s: a password or token would travel unencrypted: use TLS, or "
		"say insecure=yes in rj.conf",
		s->name);
}

static int make_easy(struct rj_http *h, struct rj_error *err)
{
	int rc = check_wire(&h->setup, err);

	if (rc)
		return rj_fail_cause(rc, RJ_CAUSE_SETTINGS, err);
	rc = rj_curl_new(h->name, &h->opts, h->setup.tls ? "https" : "http",
		h->detail, &h->easy, err);
	if (!rc && set_up(h))
		rc = rj_fail(err, RJ_E_NOMEM, "%s: out of memory", h->name);
	return rc;
}

int rj_http_renew(struct rj_http *h, bool failed, struct rj_error *err)
{
	int rc;

	if (!failed && !h->failed)
		return 0;
	if (rj_conf_renew(&h->opts.conf, &h->looked_ns)) {
		rj_curl_cleanup(h->easy);
		h->easy = NULL;
	}
	if (h->easy)
		return 0;
	rc = make_easy(h, err);
	if (rc) {
		rj_curl_cleanup(h->easy);
		h->easy = NULL;
		h->failed = true;
	}
	return rc;
}

struct rj_conf *rj_http_conf(const struct rj_http *h)
{
	return h->opts.conf;
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
	h->setup = *setup;
	h->opts = *setup->opts;
	rj_conf_ref(h->opts.conf);
	h->setup.opts = &h->opts;
	snprintf(h->name, sizeof(h->name), "%s", setup->name);
	h->setup.name = h->name;
	snprintf(h->host, sizeof(h->host), "%s", setup->host);
	h->setup.host = h->host;
	snprintf(h->region, sizeof(h->region), "%s",
		setup->region ? setup->region : "");
	h->setup.region = h->region;
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
	return rj_http_new(&h->setup, out, err);
}

void rj_http_free(struct rj_http *h)
{
	unsigned i;

	if (!h)
		return;
	rj_curl_cleanup(h->easy);
	for (i = 0; i < KINDS; i++)
		curl_slist_free_all(h->kinds[i].list);
	rj_conf_release(h->opts.conf);
	free(h);
}
