// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/http.h"

#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct rj_http {
	CURL *easy;
	struct curl_slist *plain, *put_new; /* request headers */
	int connect_timeout_ms, request_timeout_ms;
	char name[sizeof(((struct rj_store *)0)->url)];
	char detail[CURL_ERROR_SIZE];
	/* Of the request under way: */
	struct rj_http_call *call;
	size_t start;  /* length of call->out at the beginning */
	size_t text;   /* bytes in call->text */
	bool framed;   /* the answer says where it ends */
	bool too_long; /* of more than call->max bytes */
	bool no_memory;
	int sink_rc;   /* what call->sink ended the request with */
};

static pthread_once_t global_once = PTHREAD_ONCE_INIT;
static CURLcode global_result;

static void global_init(void)
{
	global_result = curl_global_init(CURL_GLOBAL_DEFAULT);
}

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

static size_t on_header(char *line, size_t one, size_t len, void *arg)
{
	struct rj_http *h = arg;
	size_t n = len;
	char value[32];

	while (n && (line[n - 1] == '\r' || line[n - 1] == '\n'))
		n--;
	if (n >= 5 && !memcmp(line, "HTTP/", 5)) {
		h->framed = false; /* a new answer, perhaps after a 1xx */
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

/* The first line of an error's body, made harmless for a terminal. */
static void keep_text(struct rj_http *h, const char *data, size_t len)
{
	size_t i;

	for (i = 0; i < len && h->text < RJ_HTTP_TEXT - 1; i++) {
		if (data[i] == '\n') {
			h->text = RJ_HTTP_TEXT;
			return;
		}
		h->call->text[h->text++] =
			data[i] >= 0x20 && data[i] < 0x7f ? data[i] : '?';
	}
}

static size_t on_body(char *data, size_t one, size_t len, void *arg)
{
	struct rj_http *h = arg;
	struct rj_buf *out = h->call->out;
	curl_off_t whole = -1;

	if (status_of(h) != 200) {
		keep_text(h, data, len);
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

/* What the operating system said about a connection that failed. */
static const char *why_no_connection(long sys_errno)
{
	switch (sys_errno) {
	case ECONNREFUSED:
		return "connection refused";
	case EHOSTUNREACH:
		return "no route to the host";
	case ENETUNREACH:
		return "network is unreachable";
	case ECONNRESET:
		return "connection reset";
	case ETIMEDOUT:
		return "timed out";
	case 0:
		return "no connection";
	default:
		return strerror((int)sys_errno);
	}
}

static int fail_timeout(struct rj_http *h, struct rj_error *err)
{
	curl_off_t connected = 0;

	curl_easy_getinfo(h->easy, CURLINFO_PRETRANSFER_TIME_T, &connected);
	if (!connected)
		return rj_fail(err, RJ_E_UNREACHABLE,
			"%s: cannot reach the journal server: timed out after "
			"%d ms",
			h->name,
			h->connect_timeout_ms < h->request_timeout_ms
				? h->connect_timeout_ms
				: h->request_timeout_ms);
	return rj_fail(err, RJ_E_UNREACHABLE,
		"%s: no answer from the journal server: timed out after %d ms",
		h->name, h->request_timeout_ms);
}

static int fail_curl(struct rj_http *h, CURLcode code, struct rj_error *err)
{
	const char *detail =
		h->detail[0] ? h->detail : curl_easy_strerror(code);
	long sys_errno = 0;

	switch (code) {
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
		return rj_fail(err, RJ_E_UNREACHABLE,
			"%s: cannot reach the journal server: could not "
			"resolve "
			"the name of the %s",
			h->name,
			code == CURLE_COULDNT_RESOLVE_PROXY ? "proxy" : "host");
	case CURLE_COULDNT_CONNECT:
		curl_easy_getinfo(h->easy, CURLINFO_OS_ERRNO, &sys_errno);
		return rj_fail(err, RJ_E_UNREACHABLE,
			"%s: cannot reach the journal server: %s", h->name,
			why_no_connection(sys_errno));
	case CURLE_OPERATION_TIMEDOUT:
		return fail_timeout(h, err);
	case CURLE_GOT_NOTHING:
		return rj_fail(err, RJ_E_UNREACHABLE,
			"%s: the journal server closed the connection without "
			"an answer",
			h->name);
	case CURLE_PARTIAL_FILE:
		return rj_fail(err, RJ_E_UNREACHABLE,
			"%s: the journal server's answer was cut short",
			h->name);
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
		return rj_fail(err, RJ_E_UNREACHABLE,
			"%s: lost the connection to the journal server: %s",
			h->name,
			strstr(detail, "reset") ? "connection reset" : detail);
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_WEIRD_SERVER_REPLY:
		return rj_fail(err, RJ_E_PROTOCOL,
			"%s: the answer is not HTTP: is a journal server "
			"listening there?",
			h->name);
	case CURLE_OUT_OF_MEMORY:
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", h->name);
	default:
		return rj_fail(err, RJ_E_UNREACHABLE,
			"%s: request to the journal server failed: %s", h->name,
			detail);
	}
}

static CURLcode set_call(struct rj_http *h, const struct rj_http_call *c)
{
	static const char *const verbs[] = {
		[RJ_HTTP_GET] = NULL,
		[RJ_HTTP_PUT_NEW] = "PUT",
		[RJ_HTTP_DELETE] = "DELETE",
	};
	CURL *e = h->easy;
	CURLcode code;

	code = curl_easy_setopt(e, CURLOPT_URL, c->url);
	if (code)
		return code;
	if (c->method == RJ_HTTP_PUT_NEW) {
		/* POSTFIELDS, not UPLOAD: curl then sends the header and a
		 * body of up to 64 KiB in one go. */
		curl_easy_setopt(e, CURLOPT_POSTFIELDS, c->body ? c->body : "");
		curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE,
			(curl_off_t)c->body_len);
		curl_easy_setopt(e, CURLOPT_HTTPHEADER, h->put_new);
	} else {
		curl_easy_setopt(e, CURLOPT_HTTPGET, 1L);
		curl_easy_setopt(e, CURLOPT_HTTPHEADER, h->plain);
	}
	return curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, verbs[c->method]);
}

static void set_limits(struct rj_http *h, bool stream)
{
	long seconds = (h->request_timeout_ms + 999) / 1000;

	curl_easy_setopt(h->easy, CURLOPT_TIMEOUT_MS,
		stream ? 0L : (long)h->request_timeout_ms);
	curl_easy_setopt(h->easy, CURLOPT_LOW_SPEED_LIMIT, stream ? 1L : 0L);
	curl_easy_setopt(
		h->easy, CURLOPT_LOW_SPEED_TIME, stream ? seconds : 0L);
}

/* The transfer went well as far as curl can tell. */
static int check_answer(struct rj_http *h, struct rj_error *err)
{
	h->call->status = (int)status_of(h);
	if (h->call->status != 204 && !h->framed)
		return rj_fail(err, RJ_E_PROTOCOL,
			"%s: an HTTP answer without a length (status %d): is a "
			"journal server listening there?",
			h->name, h->call->status);
	return 0;
}

int rj_http_perform(
	struct rj_http *h, struct rj_http_call *call, struct rj_error *err)
{
	CURLcode code;
	int rc;

	h->call = call;
	h->start = call->out ? call->out->len : 0;
	h->text = 0;
	h->framed = h->too_long = h->no_memory = false;
	h->detail[0] = '\0';
	memset(call->text, 0, sizeof(call->text));
	call->status = 0;
	h->sink_rc = 0;
	code = set_call(h, call);
	set_limits(h, call->sink != NULL);
	if (!code)
		code = curl_easy_perform(h->easy);
	if (h->too_long)
		rc = rj_fail(err, RJ_E_CORRUPT,
			"%s: the answer is longer than the %zu bytes that make "
			"sense",
			h->name, call->max);
	else if (h->sink_rc)
		rc = h->sink_rc;
	else if (h->no_memory)
		rc = rj_fail(err, RJ_E_NOMEM, "%s: out of memory", h->name);
	else if (code)
		rc = fail_curl(h, code, err);
	else
		rc = check_answer(h, err);
	if (rc && call->out)
		call->out->len = h->start;
	h->call = NULL;
	return rc;
}

static bool add_header(struct curl_slist **list, const char *line)
{
	struct curl_slist *more = curl_slist_append(*list, line);

	if (more)
		*list = more;
	return more != NULL;
}

static bool set_up(struct rj_http *h)
{
	CURL *e = h->easy;

	curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(e, CURLOPT_TCP_NODELAY, 1L);
	curl_easy_setopt(e, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(e, CURLOPT_HTTP09_ALLOWED, 0L);
	curl_easy_setopt(
		e, CURLOPT_CONNECTTIMEOUT_MS, (long)h->connect_timeout_ms);
	curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, (long)h->request_timeout_ms);
	curl_easy_setopt(e, CURLOPT_BUFFERSIZE, 64L * 1024);
	curl_easy_setopt(e, CURLOPT_UPLOAD_BUFFERSIZE, 256L * 1024);
	curl_easy_setopt(e, CURLOPT_ERRORBUFFER, h->detail);
	curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(e, CURLOPT_HEADERDATA, h);
	curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(e, CURLOPT_WRITEDATA, h);
#if LIBCURL_VERSION_NUM >= 0x075500
	if (curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http"))
		return false;
#else
	if (curl_easy_setopt(e, CURLOPT_PROTOCOLS, (long)CURLPROTO_HTTP))
		return false;
#endif
	return add_header(&h->plain, "Accept:") &&
	       add_header(&h->put_new, "Accept:") &&
	       /* an Expect would cost a round trip */
	       add_header(&h->put_new, "Expect:") &&
	       add_header(
		       &h->put_new, "Content-Type: application/octet-stream") &&
	       add_header(&h->put_new, "If-None-Match: *");
}

int rj_http_new(const char *name, const struct rj_store_opts *opts,
	struct rj_http **out, struct rj_error *err)
{
	struct rj_http *h;

	pthread_once(&global_once, global_init);
	if (global_result)
		return rj_fail(err, RJ_E_IO, "%s: cannot start libcurl: %s",
			name, curl_easy_strerror(global_result));
	h = calloc(1, sizeof(*h));
	if (!h)
		goto no_memory;
	snprintf(h->name, sizeof(h->name), "%s", name);
	h->connect_timeout_ms = opts->connect_timeout_ms;
	h->request_timeout_ms = opts->request_timeout_ms;
	h->easy = curl_easy_init();
	if (!h->easy || !set_up(h))
		goto no_memory;
	*out = h;
	return 0;

no_memory:
	rj_http_free(h);
	return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", name);
}

void rj_http_free(struct rj_http *h)
{
	if (!h)
		return;
	if (h->easy)
		curl_easy_cleanup(h->easy);
	curl_slist_free_all(h->plain);
	curl_slist_free_all(h->put_new);
	free(h);
}
