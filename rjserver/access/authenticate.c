// SPDX-License-Identifier: GPL-2.0-or-later
/* Read a request's token or certificate, and find its account. */
#include "authenticate.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define CREDENTIALS 400 /* longer ones are of no account */

static struct account *by_password(
	const struct accounts *a, const char *user, const char *password)
{
	struct account *x;
	char token[CREDENTIALS + 2];

	/* the whole token, or what is after its dot */
	if (strchr(password, '.')) {
		x = accounts_by_token(a, password);
		return x && !strcmp(x->name, user) ? x : NULL;
	}
	if (snprintf(token, sizeof(token), "%s.%s", user, password) >=
		(int)sizeof(token))
		return NULL;
	x = accounts_by_token(a, token);
	OPENSSL_cleanse(token, sizeof(token));
	return x;
}

static struct account *by_basic(const struct accounts *a, const char *text)
{
	unsigned char plain[CREDENTIALS];
	size_t len = strlen(text);
	struct account *x = NULL;
	char *colon;
	int n;

	if (!len || len % 4 || len / 4 * 3 >= sizeof(plain))
		return NULL;
	n = EVP_DecodeBlock(plain, (const unsigned char *)text, (int)len);
	if (n < 0)
		return NULL;
	plain[n] = 0; /* the padding came out as NULs, too */
	colon = strchr((char *)plain, ':');
	if (colon) {
		*colon = 0;
		x = by_password(a, (char *)plain, colon + 1);
	}
	OPENSSL_cleanse(plain, sizeof(plain));
	return x;
}

struct account *authenticate(const struct accounts *a,
	const struct http_request *req, bool *shown)
{
	const char *text = http_header(req, "Authorization");
	char cn[ACCOUNT_CERT];

	*shown = true;
	if (text && strlen(text) >= CREDENTIALS)
		return NULL;
	if (text && !strncasecmp(text, "Bearer ", 7))
		return accounts_by_token(a, text + 7);
	if (text && !strncasecmp(text, "Basic ", 6))
		return by_basic(a, text + 6);
	if (text)
		return NULL;
	*shown = http_peer_name(req, cn, sizeof(cn));
	return *shown ? accounts_by_certificate(a, cn) : NULL;
}
