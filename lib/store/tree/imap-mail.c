// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/tree/imap-mail.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LINE_BYTES 57 /* 76 characters */
#define MARK       "rj-object"

static const char digits[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Up to LINE_BYTES of P as one line; returns its length. */
static size_t encode_line(const uint8_t *p, size_t len, char *out)
{
	char *o = out;
	uint32_t v;

	for (; len >= 3; p += 3, len -= 3) {
		v = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
		*o++ = digits[v >> 18];
		*o++ = digits[v >> 12 & 63];
		*o++ = digits[v >> 6 & 63];
		*o++ = digits[v & 63];
	}
	if (len) {
		v = (uint32_t)p[0] << 16 | (len > 1 ? (uint32_t)p[1] << 8 : 0);
		*o++ = digits[v >> 18];
		*o++ = digits[v >> 12 & 63];
		*o++ = len > 1 ? digits[v >> 6 & 63] : '=';
		*o++ = '=';
	}
	*o++ = '\r';
	*o++ = '\n';
	return (size_t)(o - out);
}

int rj_mail_write(
	const char *name, const void *data, size_t len, struct rj_buf *out)
{
	const uint8_t *p = data;
	size_t n;
	int rc;

	rc = rj_buf_printf(out,
		"Subject: " MARK " %s %zu\r\n"
		"MIME-Version: 1.0\r\n"
		"Content-Type: application/octet-stream\r\n"
		"Content-Transfer-Encoding: base64\r\n\r\n",
		name, len);
	if (!rc)
		rc = rj_buf_reserve(out, rj_mail_most(len));
	if (rc)
		return rc;
	for (; len; p += n, len -= n) {
		n = len < LINE_BYTES ? len : LINE_BYTES;
		out->len += encode_line(p, n, (char *)out->data + out->len);
	}
	return 0;
}

size_t rj_mail_most(size_t len)
{
	return len / LINE_BYTES * 78 + 78 + 65536;
}

static int value_of(unsigned char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Exactly LEN bytes from the base64 text P..END; line ends are skipped. */
static bool decode(
	const char *p, const char *end, uint8_t *out, size_t len)
{
	uint32_t v = 0;
	unsigned bits = 0;
	size_t done = 0;
	int d;

	for (; p < end; p++) {
		if (isspace((unsigned char)*p) || *p == '=')
			continue;
		d = value_of((unsigned char)*p);
		if (d < 0)
			return false;
		v = v << 6 | (uint32_t)d;
		bits += 6;
		if (bits < 8)
			continue;
		bits -= 8;
		if (done == len)
			return false;
		out[done++] = (uint8_t)(v >> bits);
		v &= (1u << bits) - 1;
	}
	return done == len;
}

/* "rj-object NAME BYTES" */
static bool parse_subject(const char *p, size_t len, struct rj_mail *out)
{
	char text[RJ_TREE_NAME + 48], name[RJ_TREE_NAME];
	unsigned long long bytes;
	int n = 0;

	if (len >= sizeof(text))
		return false;
	memcpy(text, p, len);
	text[len] = '\0';
	if (sscanf(text, MARK " %63[A-Za-z0-9-] %20llu%n", name, &bytes, &n) !=
			2 ||
		text[n])
		return false;
	memcpy(out->name, name, sizeof(name));
	out->bytes = bytes;
	return true;
}

int rj_mail_read(const struct rj_buf *text, const char *name, size_t max,
	struct rj_buf *out)
{
	const char *p = (const char *)text->data, *end = p + text->len, *eol;
	struct rj_mail m = {0};
	bool found = false;
	size_t len;

	for (; p < end; p = eol + 1) {
		eol = memchr(p, '\n', (size_t)(end - p));
		if (!eol)
			return -RJ_E_CORRUPT;
		len = (size_t)(eol - p);
		if (len && p[len - 1] == '\r')
			len--;
		if (!len)
			break; /* the body comes */
		if (len > 9 && !strncasecmp(p, "Subject: ", 9))
			found = parse_subject(p + 9, len - 9, &m);
	}
	if (p >= end && !(p == end && found))
		return -RJ_E_CORRUPT;
	if (!found || strcmp(m.name, name) || m.bytes > max)
		return -RJ_E_CORRUPT;
	if (rj_buf_reserve(out, (size_t)m.bytes + 1))
		return -RJ_E_NOMEM;
	if (!decode(p, end, out->data + out->len, (size_t)m.bytes))
		return -RJ_E_CORRUPT;
	out->len += (size_t)m.bytes;
	return 0;
}

/* After NIL or a quoted string and the blank; NULL: neither. */
static const char *skip_string(const char *p, const char *end)
{
	if (end - p >= 4 && !strncasecmp(p, "NIL ", 4))
		return p + 4;
	if (p == end || *p != '"')
		return NULL;
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\')
			p++;
	return end - p >= 2 && p[1] == ' ' ? p + 2 : NULL;
}

static const char *find(const char *p, const char *end, const char *what)
{
	return memmem(p, (size_t)(end - p), what, strlen(what));
}

bool rj_mail_parse_line(const char *line, size_t len, struct rj_mail *out)
{
	const char *end = line + len, *p, *quote;
	struct rj_mail m = {0};

	p = find(line, end, "UID ");
	if (!p)
		return false;
	m.uid = (uint32_t)strtoul(p + 4, NULL, 10);
	p = find(line, end, "ENVELOPE (");
	if (!p || !m.uid)
		return false;
	p = skip_string(p + strlen("ENVELOPE ("), end);
	if (!p || p == end || *p != '"')
		return false;
	p++;
	quote = memchr(p, '"', (size_t)(end - p));
	if (!quote || !parse_subject(p, (size_t)(quote - p), &m))
		return false;
	*out = m;
	return true;
}
