// SPDX-License-Identifier: GPL-2.0-or-later
#include "http_answer.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "http_impl.h"

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

size_t answer_plain(
	int status, const struct http_reply *reply, char text[ANSWER_TEXT])
{
	if (reply->text || reply->body || reply->header || reply->more ||
		status == 204)
		return 0;
	return (size_t)snprintf(text, ANSWER_TEXT,
		"HTTP/1.1 %d %s\r\nContent-Length: 0\r\nDate: %s\r\n\r\n",
		status, http_phrase(status), date_now());
}

int answer_compose(
	const struct http_reply *reply, struct rj_buf *out, size_t *body)
{
	const char *const *more;
	const char *type = reply->text ? "text/plain" : reply->type;
	int rc;

	*body = reply->text   ? strlen(reply->text) + 1
		: reply->body ? reply->body->len
			      : 0;
	rc = rj_buf_printf(out, "HTTP/1.1 %d %s\r\n", reply->status,
		http_phrase(reply->status));
	if (!rc && reply->status != 204)
		rc = rj_buf_printf(out, "Content-Length: %zu\r\n", *body);
	if (!rc && reply->status != 204 && (reply->text || reply->body))
		rc = rj_buf_printf(out, "Content-Type: %s\r\n", type);
	if (!rc && reply->header)
		rc = rj_buf_printf(
			out, "%s: %s\r\n", reply->header, reply->value);
	for (more = reply->more; !rc && more && more[0] && more[1]; more += 2)
		rc = rj_buf_printf(out, "%s: %s\r\n", more[0], more[1]);
	if (!rc)
		rc = rj_buf_printf(out, "Date: %s\r\n\r\n", date_now());
	if (!rc && reply->text)
		rc = rj_buf_printf(out, "%s\n", reply->text);
	else if (!rc && reply->body)
		rc = rj_buf_append(out, reply->body->data, reply->body->len);
	return rc;
}
