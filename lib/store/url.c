// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/url.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

static bool printable(const char *s)
{
	for (; *s; s++) {
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			return false;
	}
	return true;
}

/* RFC 3986: a letter, then letters, digits, + - and dot. */
static bool parse_scheme(const char *text, size_t len, struct rj_url *u)
{
	size_t i;

	if (!len || len >= sizeof(u->scheme) || !isalpha((unsigned char)*text))
		return false;
	for (i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (!isalnum(c) && !strchr("+-.", c))
			return false;
		u->scheme[i] = (char)tolower(c);
	}
	u->scheme[len] = '\0';
	return true;
}

static bool parse_host(const char *text, size_t len, struct rj_url *u)
{
	bool v6 = len > 2 && text[0] == '[' && text[len - 1] == ']';
	size_t i;

	if (!len || len >= sizeof(u->host))
		return false;
	for (i = v6 ? 1 : 0; i < len - (v6 ? 1 : 0); i++) {
		unsigned char c = (unsigned char)text[i];

		if (v6 ? !isxdigit(c) && c != ':' && c != '.'
		       : !isalnum(c) && !strchr(".-_", c))
			return false;
	}
	memcpy(u->host, text, len);
	u->host[len] = '\0';
	return true;
}

static bool parse_port(const char *text, size_t len, uint16_t *port)
{
	unsigned v = 0;
	size_t i;

	if (!len || len > 5)
		return false;
	for (i = 0; i < len; i++) {
		if (!isdigit((unsigned char)text[i]))
			return false;
		v = v * 10 + (unsigned)(text[i] - '0');
	}
	*port = (uint16_t)v;
	return v >= 1 && v <= 65535;
}

/* host, host:port, [v6] or [v6]:port */
static int parse_authority(
	const char *auth, size_t len, struct rj_url *u, struct rj_error *err)
{
	const char *end = auth + len, *colon;
	size_t host = len;

	colon = memrchr(auth, ':', len);
	if (colon && memchr(colon, ']', (size_t)(end - colon)))
		colon = NULL;
	if (colon) {
		host = (size_t)(colon - auth);
		if (!parse_port(colon + 1, len - host - 1, &u->port))
			return rj_fail(err, RJ_E_INVAL,
				"%s://%.*s: the port is not a number from 1 to "
				"65535",
				u->scheme, (int)len, auth);
	}
	if (!parse_host(auth, host, u))
		return rj_fail(err, RJ_E_INVAL,
			"%s://%.*s: not a host name or address", u->scheme,
			(int)len, auth);
	return 0;
}

int rj_url_parse(const char *text, struct rj_url *out, struct rj_error *err)
{
	const char *sep = strstr(text, "://"), *auth, *slash;
	struct rj_url u = {0};
	size_t len;
	int rc;

	if (strlen(text) >= RJ_URL_BYTES)
		return rj_fail(err, RJ_E_INVAL,
			"store URL: longer than the %d bytes it may have",
			RJ_URL_BYTES - 1);
	if (!printable(text))
		return rj_fail(err, RJ_E_INVAL,
			"store URL: holds a control character");
	if (!sep || !parse_scheme(text, (size_t)(sep - text), &u))
		return rj_fail(err, RJ_E_INVAL,
			"%s: not a store URL such as rj://host:7490/name or "
			"file:///directory",
			strchr(text, '@') ? "store URL" : text);
	auth = sep + 3;
	slash = strchrnul(auth, '/');
	len = (size_t)(slash - auth);
	/* anywhere: a password may hold a slash, and must not be repeated */
	if (strchr(auth, '@') && (len || strcmp(u.scheme, "file")))
		return rj_fail(err, RJ_E_INVAL,
			"%s://...: a store URL must not hold a user name or "
			"password; name a credentials file in rj.conf instead",
			u.scheme);
	if (strstr(auth, "://"))
		return rj_fail(err, RJ_E_INVAL,
			"%s: more than one store URL: a log is in one store",
			text);
	if (len) {
		rc = parse_authority(auth, len, &u, err);
		if (rc)
			return rc;
	}
	memcpy(u.path, slash, strlen(slash) + 1);
	memcpy(u.text, text, strlen(text) + 1);
	*out = u;
	return 0;
}

uint16_t rj_url_default_port(const char *scheme, size_t len)
{
	static const struct {
		const char *scheme;
		uint16_t port;
	} ports[] = {{"rj", 7490}, {"rjs", 7490}, {"dav", 80}, {"davs", 443},
		{"s3+http", 80}, {"s3+https", 443}, {"ftp", 21}, {"ftps", 990},
		{"sftp", 22}, {"imap", 143}, {"imaps", 993}};
	size_t i;

	for (i = 0; i < sizeof(ports) / sizeof(ports[0]); i++)
		if (strlen(ports[i].scheme) == len &&
			!strncasecmp(ports[i].scheme, scheme, len))
			return ports[i].port;
	return 0;
}

static bool same_but_slashes(const char *a, const char *b)
{
	size_t m = strlen(a), n = strlen(b);

	while (m && a[m - 1] == '/')
		m--;
	while (n && b[n - 1] == '/')
		n--;
	return m == n && !memcmp(a, b, n);
}

uint16_t rj_url_port(const struct rj_url *u)
{
	return u->port ? u->port
		       : rj_url_default_port(u->scheme, strlen(u->scheme));
}

bool rj_url_same(const char *a, const char *b)
{
	struct rj_url u, v;

	if (rj_url_parse(a, &u, NULL) || rj_url_parse(b, &v, NULL))
		return same_but_slashes(a, b);
	return !strcmp(u.scheme, v.scheme) && !strcasecmp(u.host, v.host) &&
	       rj_url_port(&u) == rj_url_port(&v) && same_but_slashes(u.path, v.path);
}
