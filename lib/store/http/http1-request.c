// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/http/http1-request.h"

#include <stdio.h>
#include <string.h>

#include "module/openssl.h"

/* USER:PASSWORD in base64. *FITS false: it has no space. */
static int put_basic(const char *user, const char *password,
	char line[RJ_HTTP1_AUTH_BYTES], bool *fits, struct rj_error *err)
{
	static const char start[] = "Authorization: Basic ";
	char plain[RJ_HTTP1_AUTH_BYTES / 4 * 3 - sizeof(start) - 3];
	const struct rj_openssl *o;
	int n, rc = rj_openssl(&o, err);

	if (rc)
		return rc;
	n = snprintf(plain, sizeof(plain), "%s:%s", user, password);
	*fits = n > 0 && (size_t)n < sizeof(plain);
	if (*fits) {
		memcpy(line, start, sizeof(start));
		o->base64((unsigned char *)line + sizeof(start) - 1,
			(const unsigned char *)plain, n);
	}
	explicit_bzero(plain, sizeof(plain));
	return 0;
}

int rj_http1_auth_line(const struct rj_conf *c, const char *name,
	char line[RJ_HTTP1_AUTH_BYTES], struct rj_error *err)
{
	bool fits = true;
	int rc = 0;

	line[0] = '\0';
	if (c->token)
		fits = snprintf(line, RJ_HTTP1_AUTH_BYTES,
			       "Authorization: Bearer %s",
			       c->token) < RJ_HTTP1_AUTH_BYTES;
	else if (c->user || c->password)
		rc = put_basic(c->user ? c->user : "", c->password ? c->password : "", line,
			&fits, err);
	if (rc || fits)
		return rc;
	return rj_fail_cause(rj_fail(err, RJ_E_INVAL,
				     "%s: the %s of rj.conf is too long", name,
				     c->token ? "token" : "password"),
		RJ_CAUSE_SETTINGS, err);
}

/* Append TEXT and END at *AT of HEAD. */
static void put(char *head, size_t *at, const char *text, const char *end)
{
	size_t len = strlen(text), more = strlen(end);

	if (len + more > RJ_HTTP1_REQUEST_BYTES - *at) {
		*at = RJ_HTTP1_REQUEST_BYTES; /* nothing fits from here on */
		return;
	}
	memcpy(head + *at, text, len);
	memcpy(head + *at + len, end, more);
	*at += len + more;
}

size_t rj_http1_request_head(const struct rj_http_call *call, const char *base,
	const char *auth, char head[RJ_HTTP1_REQUEST_BYTES])
{
	const char *const *line;
	char length[48];
	size_t at = 0;
	unsigned i;

	put(head, &at, call->method, " ");
	put(head, &at, call->url + strlen(base), " HTTP/1.1\r\n");
	put(head, &at, "Host: ", strstr(base, "://") + 3);
	put(head, &at, "\r\n", auth);
	if (*auth)
		put(head, &at, "\r\n", "");
	for (line = call->headers; line && *line; line++)
		put(head, &at, *line, "\r\n");
	for (i = 0; i < RJ_HTTP_EXTRA && call->extra[i]; i++)
		put(head, &at, call->extra[i], "\r\n");
	if (call->has_body) {
		snprintf(length, sizeof(length), "Content-Length: %zu\r\n",
			rj_http_call_body_bytes(call));
		put(head, &at, length, "");
	}
	put(head, &at, "\r\n", "");
	return at < RJ_HTTP1_REQUEST_BYTES ? at : 0;
}
