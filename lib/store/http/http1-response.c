// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/http/http1-response.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void rj_http1_response_begin(
	struct rj_http1_response *a, struct rj_http_call *call)
{
	a->begun = a->complete = a->bad = a->head = a->framed = false;
	a->chunked = a->close = false;
	a->left = a->kept = a->used = 0;
	a->call = call;
	call->status = 0;
	memset(call->text, 0, sizeof(call->text));
	memset(call->error, 0, sizeof(call->error));
}

char *rj_http1_response_space(struct rj_http1_response *a, size_t *bytes)
{
	if (a->head)
		a->used = 0; /* the body passes through */
	*bytes = sizeof(a->data) - a->used;
	return a->data + a->used;
}

/* "HTTP/1.x NNN": the status, or -1. */
static int status_of(const char *line, size_t len, bool *old)
{
	if (len < 12 || memcmp(line, "HTTP/1.", 7) || line[8] != ' ' ||
		!isdigit((unsigned char)line[9]) ||
		!isdigit((unsigned char)line[10]) ||
		!isdigit((unsigned char)line[11]) ||
		(len > 12 && line[12] != ' '))
		return -1;
	*old = line[7] == '0';
	return (line[9] - '0') * 100 + (line[10] - '0') * 10 + line[11] - '0';
}

/* A whole number and nothing else. */
static bool read_length(const char *text, uint64_t *out)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	*out = strtoull(text, &end, 10);
	return *end == '\0' && *out < UINT64_MAX / 2;
}

static bool take_line(struct rj_http1_response *a, const char *line, size_t len)
{
	char value[32];

	if (rj_http_header_is(
		    line, len, "Content-Length", value, sizeof(value))) {
		a->framed = true;
		if (!read_length(value, &a->left))
			return false;
	} else if (rj_http_header_is(line, len, "Transfer-Encoding", value,
			   sizeof(value))) {
		a->chunked = a->framed = true;
	} else if (rj_http_header_is(
			   line, len, "Connection", value, sizeof(value))) {
		a->close = a->close || !strcasecmp(value, "close");
	}
	if (a->call->header)
		a->call->header(a->call->arg, line, len);
	return true;
}

/* The head of AT, LEN bytes with its empty line. */
static bool take_head(struct rj_http1_response *a, const char *at, size_t len)
{
	const char *end = at + len, *eol;
	bool first = true;
	size_t n;

	a->framed = a->chunked = a->close = false;
	a->left = 0;
	for (; at < end; at = eol + 1, first = false) {
		eol = memchr(at, '\n', (size_t)(end - at));
		n = (size_t)(eol - at);
		while (n && at[n - 1] == '\r')
			n--;
		if (first) {
			a->call->status = status_of(at, n, &a->close);
			if (a->call->status < 0)
				return false;
		} else if (n && !take_line(a, at, n)) {
			return false;
		}
	}
	return true;
}

static void keep(struct rj_http1_response *a, const char *at, size_t len)
{
	size_t room = RJ_HTTP_BODY - 1 - a->kept;

	if (a->call->status == 200 || a->call->status == 207)
		return;
	room = len < room ? len : room;
	memcpy(a->call->error + a->kept, at, room);
	a->kept += room;
}

/* One byte of a piece's size, or of what stands around it. */
static bool take_size(struct rj_http1_response *a, char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *d = strchr(digits, tolower((unsigned char)c));

	if (c == '\r')
		return true;
	if (c != '\n') {
		a->column++;
		if (a->last || !a->sizing)
			return true; /* the trailer; an extension */
		if (!c || !d || a->left >> 32) {
			a->sizing = false;
			return c == ';' || c == ' ';
		}
		a->left = a->left * 16 + (uint64_t)(d - digits);
		return true;
	}
	if (a->last)
		a->complete = !a->column;
	else if (a->column) /* else the end of the piece before */
		a->last = !a->left;
	a->sizing = !a->left;
	a->column = 0;
	return true;
}

/* False: not a body in pieces. */
static bool take_pieces(struct rj_http1_response *a, const char *at, size_t len)
{
	size_t n;

	for (; len && !a->complete; at += n, len -= n) {
		n = 1;
		if (a->left && !a->column && !a->sizing) {
			n = len < a->left ? len : (size_t)a->left;
			keep(a, at, n);
			a->left -= n;
			a->sizing = !a->left;
		} else if (!take_size(a, *at)) {
			return false;
		}
	}
	a->close = a->close || len; /* out of step */
	return true;
}

static bool take_body(struct rj_http1_response *a, const char *at, size_t len)
{
	if (a->chunked)
		return take_pieces(a, at, len);
	if (len > a->left) { /* more than was said: out of step */
		len = (size_t)a->left;
		a->close = true;
	}
	a->left -= len;
	keep(a, at, len);
	a->complete = !a->left;
	return true;
}

/* Behind the head's end; 0: it has not come yet. */
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
	if (a->head) {
		a->bad = !take_body(a, a->data, bytes);
		return !a->bad;
	}
	a->used += bytes;
	n = a->used < 5 ? a->used : 5;
	a->bad = memcmp(a->data, "HTTP/", n) != 0;
	while (!a->bad && !a->head) {
		n = head_bytes(at, a->used);
		if (!n)
			break;
		a->bad = !take_head(a, at, n);
		a->head = !is_interim(a->call->status);
		at += n;
		a->used -= n;
	}
	if (a->bad)
		return false;
	if (!a->head) {
		memmove(a->data, at, a->used);
		a->bad = a->used == sizeof(a->data);
		return !a->bad;
	}
	if (!a->framed || a->call->status == 204) {
		a->close = a->close || a->used || a->call->status != 204;
		a->complete = true;
		return true;
	}
	if (a->chunked)
		a->left = 0; /* of the first piece, whose size comes now */
	a->sizing = a->chunked;
	a->last = false;
	a->column = 0;
	a->bad = !take_body(a, at, a->used);
	return !a->bad;
}

/* The first line of an error's body, made harmless for a terminal. */
static void keep_text(struct rj_http_call *c, size_t len)
{
	size_t i;

	for (i = 0; i < len && i < RJ_HTTP_TEXT - 1; i++) {
		if (c->error[i] == '\n')
			break;
		c->text[i] = c->error[i] >= 0x20 && c->error[i] < 0x7f
				     ? c->error[i]
				     : '?';
	}
}

int rj_http1_response_end(struct rj_http1_response *a, const char *name,
	const char *peer, bool *keep, struct rj_error *err)
{
	*keep = false;
	if (a->bad)
		return rj_fail(err, RJ_E_PROTOCOL,
			"%s: the answer is not HTTP: is a %s listening there?",
			name, peer);
	keep_text(a->call, a->kept);
	if (!a->framed && rj_http_needs_end(a->call->status))
		return rj_fail_cause(
			rj_fail(err, RJ_E_PROTOCOL,
				"%s: an HTTP answer without a length (status "
				"%d): is a %s listening there?",
				name, a->call->status, peer),
			rj_http_cause(a->call->status), err);
	*keep = !a->close;
	return 0;
}
