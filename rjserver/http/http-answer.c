// SPDX-License-Identifier: GPL-2.0-or-later
#include "http-answer.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const char *phrase(int status)
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
	case 431:
		return "Request Header Fields Too Large";
	case 503:
		return "Service Unavailable";
	case 507:
		return "Insufficient Storage";
	default:
		return "Internal Server Error";
	}
}

/* RFC 9110 wants it in English. It changes once in a second. */
static const char *date_now(void)
{
	static const char days[] = "SunMonTueWedThuFriSat";
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	static char text[64];
	static time_t made;
	time_t now = time(NULL);
	struct tm t;

	if (now == made || !gmtime_r(&now, &t))
		return text;
	made = now;
	snprintf(text, sizeof(text), "%.3s, %02d %.3s %d %02d:%02d:%02d GMT",
		days + t.tm_wday * 3, t.tm_mday, months + t.tm_mon * 3,
		t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec);
	return text;
}

/* The last lines of each head. */
static int end_head(const struct answer_how *how, struct rj_buf *out)
{
	return rj_buf_printf(out, "Date: %s\r\n%s\r\n", date_now(),
		how->close ? "Connection: close\r\n" : "");
}

int answer_compose(const struct http_reply *reply, const struct answer_how *how,
	struct rj_buf *out, size_t *body)
{
	const char *type = reply->text ? "text/plain" : reply->type;
	size_t len = reply->text   ? strlen(reply->text) + 1
		     : reply->body ? reply->body->len
				   : 0;
	const char *const *more;
	int rc;

	if (reply->status == 204)
		rc = rj_buf_printf(out, "HTTP/1.1 204 No Content\r\n");
	else
		rc = rj_buf_printf(out,
			"HTTP/1.1 %d %s\r\nContent-Length: %zu\r\n",
			reply->status, phrase(reply->status), len);
	if (!rc && (reply->text || reply->body))
		rc = rj_buf_printf(out, "Content-Type: %s\r\n", type);
	if (!rc && reply->header)
		rc = rj_buf_printf(
			out, "%s: %s\r\n", reply->header, reply->value);
	for (more = reply->more; !rc && more && more[0] && more[1]; more += 2)
		rc = rj_buf_printf(out, "%s: %s\r\n", more[0], more[1]);
	rc = rc ? rc : end_head(how, out);
	*body = how->head ? 0 : len;
	if (!rc && reply->text && !how->head)
		rc = rj_buf_printf(out, "%s\n", reply->text);
	return rc;
}

int answer_stream(const char *type, int64_t length, const struct answer_how *how,
	struct rj_buf *out)
{
	int rc = rj_buf_printf(out, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\n", type);

	if (!rc && length >= 0)
		rc = rj_buf_printf(out, "Content-Length: %lld\r\n", (long long)length);
	else if (!rc && !how->old)
		rc = rj_buf_printf(out, "Transfer-Encoding: chunked\r\n");

	return rc ? rc : end_head(how, out);
}
