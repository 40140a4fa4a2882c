// SPDX-License-Identifier: LGPL-2.1-or-later
/* Parse the responses of rj:// and rjs:// servers; those of S3 and WebDAV: http.c. */
#include "store/http/http1-response.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void rj_http1_response_begin(
	struct rj_http1_response *a, struct rj_http_call *call)
{
	a->begun = a->complete = a->head = a->framed = false;
	a->close = a->handed_on = false;
	a->verdict = RJ_HTTP1_GOOD;
	a->kept = a->used = 0;
	a->sink_rc = 0;
	a->start = call->out ? call->out->len : 0;
	a->call = call;
	rj_http_call_begin(call);
}

char *rj_http1_response_space(struct rj_http1_response *a, size_t *bytes)
{
	if (a->head)
		a->used = 0; /* the body passes through */
	*bytes = (a->head ? RJ_HTTP1_BYTES : RJ_HTTP1_HEAD_BYTES) - a->used;
	return a->data + a->used;
}

/* "HTTP/1.x NNN": the status, or -1. */
static int status_of(const char *line, size_t len, bool *old)
{
	if (len < 12 || memcmp(line, "HTTP/1.", 7) ||
		!isdigit((unsigned char)line[7]) || line[8] != ' ' ||
		!isdigit((unsigned char)line[9]) ||
		!isdigit((unsigned char)line[10]) ||
		!isdigit((unsigned char)line[11]) ||
		(len > 12 && line[12] != ' '))
		return -1;
	*old = line[7] == '0';
	return (line[9] - '0') * 100 + (line[10] - '0') * 10 + line[11] - '0';
}

/* A whole number and nothing else, of the SIZE bytes that have space for TEXT. */
static bool read_length(const char *text, size_t size, uint64_t *out)
{
	char *end;

	if (!isdigit((unsigned char)*text) || strlen(text) + 1 == size)
		return false;
	*out = strtoull(text, &end, 10);
	return *end == '\0' && *out < UINT64_MAX / 2;
}

/* "Name: value", with nothing in the name that could hide another one. */
static bool is_header(const char *line, size_t len)
{
	size_t i;

	for (i = 0; i < len && line[i] != ':'; i++)
		if (!isgraph((unsigned char)line[i]))
			return false;
	return i && i < len;
}

static bool take_line(struct rj_http1_response *a, const char *line, size_t len)
{
	uint64_t length;
	char value[64];

	while (len && (line[len - 1] == ' ' || line[len - 1] == '\t'))
		len--;
	if (!is_header(line, len))
		return false;
	if (rj_http_header_is(
		    line, len, "Content-Length", value, sizeof(value))) {
		if (!read_length(value, sizeof(value), &length) ||
			(a->sized && length != a->left))
			return false;
		a->sized = true;
		a->left = length;
	} else if (rj_http_header_is(line, len, "Transfer-Encoding", value,
			   sizeof(value))) {
		if (a->chunked || strcasecmp(value, "chunked"))
			return false;
		a->chunked = true;
	} else if (rj_http_header_is(
			   line, len, "Connection", value, sizeof(value))) {
		a->close = a->close || strcasestr(value, "close");
	}
	rj_http_call_line(a->call, line, len);
	return true;
}

/* The head of AT, LEN bytes with its empty line. */
static bool take_head(struct rj_http1_response *a, const char *at, size_t len)
{
	const char *end = at + len, *eol;
	bool first = true;
	size_t n;

	a->sized = a->chunked = a->close = false;
	a->chunks = (struct rj_http1_chunked){0};
	for (; at < end; at = eol + 1, first = false) {
		eol = memchr(at, '\n', (size_t)(end - at));
		n = (size_t)(eol - at);
		if (n && at[n - 1] == '\r')
			n--;
		if (first) {
			a->call->status = status_of(at, n, &a->close);
			if (a->call->status < 0)
				return false;
		} else if (n && !take_line(a, at, n)) {
			return false;
		}
	}
	a->framed = a->sized || a->chunked;
	/* one of both is a lie, perhaps to what is in between */
	a->close = a->close || (a->sized && a->chunked);
	return true;
}

/* Has the answer the body that was asked for? */
static bool is_content(const struct rj_http1_response *a)
{
	return a->call->status == 200;
}

static void keep_error(struct rj_http1_response *a, const char *at, size_t len)
{
	size_t space = RJ_HTTP_BODY - 1 - a->kept;

	len = len < space ? len : space;
	memcpy(a->call->error + a->kept, at, len);
	a->kept += len;
}

/* Hand LEN bytes of the body on. */
static bool deliver(struct rj_http1_response *a, const char *at, size_t len)
{
	struct rj_http_call *c = a->call;

	if (!len)
		return true;
	if (!is_content(a)) {
		keep_error(a, at, len);
	} else if (c->sink) {
		a->handed_on = true;
		a->sink_rc = c->sink(c->sink_arg, at, len);
		if (a->sink_rc)
			a->verdict = RJ_HTTP1_SINK;
	} else if (c->out) {
		if (len > c->max - (c->out->len - a->start))
			a->verdict = RJ_HTTP1_LONG;
		else if (rj_buf_append(c->out, at, len))
			a->verdict = RJ_HTTP1_NOMEM;
	}
	return !a->verdict;
}

static bool take_chunks(struct rj_http1_response *a, const char *at, size_t len)
{
	bool data;
	size_t n;

	for (; len && !a->complete; at += n, len -= n) {
		n = rj_http1_chunked_take(&a->chunks, at, len, &data);
		if (!n)
			a->verdict = RJ_HTTP1_ALIEN;
		if (!n || (data && !deliver(a, at, n)))
			return false;
		a->complete = a->chunks.state == RJ_CHUNK_END;
	}
	a->close = a->close || len; /* out of step */
	return true;
}

static bool take_body(struct rj_http1_response *a, const char *at, size_t len)
{
	if (a->chunked)
		return take_chunks(a, at, len);
	if (len > a->left) { /* more than was said: out of step */
		len = (size_t)a->left;
		a->close = true;
	}
	a->left -= len;
	a->complete = !a->left;
	return deliver(a, at, len);
}

/* The head is read, and LEN bytes after it are at AT. */
static bool begin_body(struct rj_http1_response *a, const char *at, size_t len)
{
	struct rj_buf *out = a->call->out;

	if (a->call->status == 204 || !a->framed) {
		if (!rj_http_is_success(a->call->status))
			keep_error(a, at, len); /* what came with it */
		a->close = a->close || len || a->call->status != 204;
		a->complete = true;
		return true;
	}
	if (!a->chunked && out && is_content(a)) {
		if (a->left > a->call->max)
			a->verdict = RJ_HTTP1_LONG;
		else if (rj_buf_reserve(out, (size_t)a->left))
			a->verdict = RJ_HTTP1_NOMEM;
	}
	return !a->verdict && take_body(a, at, len);
}

/* After the head's end; 0: it has not come yet. */
static size_t head_bytes(const char *data, size_t len)
{
	const char *p = data, *end = data + len;

	while ((p = memchr(p, '\n', (size_t)(end - p)))) {
		p++;
		if (p < end && *p == '\n')
			return (size_t)(p + 1 - data);
		if (p + 1 < end && p[0] == '\r' && p[1] == '\n')
			return (size_t)(p + 2 - data);
	}
	return 0;
}

static bool is_interim(int status)
{
	return status >= 100 && status < 200;
}

bool rj_http1_response_take(struct rj_http1_response *a, size_t bytes)
{
	const char *at = a->data;
	size_t n;

	a->begun = true;
	if (a->head)
		return take_body(a, a->data, bytes);
	a->used += bytes;
	n = a->used < 5 ? a->used : 5;
	if (memcmp(a->data, "HTTP/", n))
		a->verdict = RJ_HTTP1_ALIEN;
	while (!a->verdict && !a->head) {
		n = head_bytes(at, a->used);
		if (!n)
			break;
		if (!take_head(a, at, n))
			a->verdict = RJ_HTTP1_ALIEN;
		a->head = !a->verdict && !is_interim(a->call->status);
		at += n;
		a->used -= n;
	}
	if (a->head)
		return begin_body(a, at, a->used);
	memmove(a->data, at, a->used);
	if (a->used == RJ_HTTP1_HEAD_BYTES)
		a->verdict = RJ_HTTP1_ALIEN;
	return !a->verdict;
}

int rj_http1_response_end(struct rj_http1_response *a,
	const struct rj_http_peer *p, bool *keep, struct rj_error *err)
{
	*keep = false;
	switch (a->verdict) {
	case RJ_HTTP1_ALIEN:
		return rj_http_fail_alien(p, err);
	case RJ_HTTP1_LONG:
		return rj_http_fail_long(p, a->call->max, err);
	case RJ_HTTP1_NOMEM:
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", p->name);
	case RJ_HTTP1_SINK:
		return a->sink_rc;
	default:
		break;
	}
	rj_http_call_end(a->call, a->kept);
	if (!a->framed && rj_http_needs_end(a->call->status))
		return rj_http_fail_endless(p, a->call->status, err);
	*keep = !a->close;
	return 0;
}
