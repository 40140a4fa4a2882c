// SPDX-License-Identifier: GPL-2.0-or-later
/* Find accounts by token or certificate (compares the token's hash), and change their rights. */
#include "accounts.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/object-key.h"
#include "util/environ.h"
#include "util/hex.h"

static const struct {
	const char *word;
	unsigned right;
} rights[] = {
	{"append", RIGHT_APPEND},
	{"read", RIGHT_READ},
	{"trim", RIGHT_TRIM},
	{"watch", RIGHT_WATCH},
	{"admin", RIGHT_ADMIN},
};
#define RIGHTS (sizeof(rights) / sizeof(rights[0]))

void accounts_free(struct accounts *a)
{
	if (a->list)
		OPENSSL_cleanse(a->list, a->count * sizeof(*a->list));
	free(a->list);
	*a = (struct accounts){0};
}

struct account *accounts_find(const struct accounts *a, const char *name)
{
	size_t i;

	for (i = 0; i < a->count; i++)
		if (!strcmp(a->list[i].name, name))
			return &a->list[i];
	return NULL;
}

struct account *accounts_add(struct accounts *a, const char *name)
{
	struct account *list =
		realloc(a->list, (a->count + 1) * sizeof(*list));
	struct account *x;

	if (!list)
		return NULL;
	a->list = list;
	x = &list[a->count++];
	memset(x, 0, sizeof(*x));
	snprintf(x->name, sizeof(x->name), "%s", name);
	return x;
}

void accounts_remove(struct accounts *a, struct account *which)
{
	struct account *end = a->list + a->count--;

	memmove(which, which + 1, (size_t)(end - (which + 1)) * sizeof(*which));
}

static int hash_of(const uint8_t salt[TOKEN_SALT], const char *secret,
	uint8_t out[TOKEN_HASH])
{
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	int good = md && EVP_DigestInit_ex(md, EVP_sha256(), NULL) &&
		   EVP_DigestUpdate(md, salt, TOKEN_SALT) &&
		   EVP_DigestUpdate(md, secret, strlen(secret)) &&
		   EVP_DigestFinal_ex(md, out, NULL);

	EVP_MD_CTX_free(md);
	return good ? 0 : -RJ_E_NOMEM;
}

struct account *accounts_by_token(const struct accounts *a, const char *token)
{
	/* of no account: hashed nevertheless, so that time tells nothing */
	static const struct account nobody;
	const char *dot = strrchr(token, '.');
	const struct account *x;
	uint8_t hash[TOKEN_HASH];
	char name[NAME_BYTES] = "";
	bool same = false;
	unsigned i;

	if (dot && dot - token < NAME_BYTES)
		memcpy(name, token, (size_t)(dot - token));
	x = accounts_find(a, name);
	if (!x)
		x = &nobody;
	for (i = 0; i < ACCOUNT_TOKENS; i++) {
		if (hash_of(x->tokens[i].salt, dot ? dot + 1 : token, hash))
			return NULL;
		same |= !CRYPTO_memcmp(hash, x->tokens[i].hash, sizeof(hash)) &
			(i < x->token_count);
	}
	return same ? (struct account *)x : NULL;
}

struct account *accounts_by_certificate(
	const struct accounts *a, const char *cn)
{
	size_t i;

	for (i = 0; *cn && i < a->count; i++)
		if (!strcmp(a->list[i].certificate, cn))
			return &a->list[i];
	return NULL;
}

void account_drop_tokens(struct account *x, bool all)
{
	struct account_token newest = {0};

	if (x->token_count && !all)
		newest = x->tokens[x->token_count - 1];
	x->token_count = x->token_count && !all;
	OPENSSL_cleanse(x->tokens, sizeof(x->tokens));
	x->tokens[0] = newest;
}

int account_new_token(
	struct account *x, char token[TOKEN_TEXT], struct rj_error *err)
{
	struct account_token *t = &x->tokens[x->token_count];
	uint8_t secret[32];
	char *at;

	if (x->token_count == ACCOUNT_TOKENS)
		return rj_fail(err, RJ_E_INVAL,
			"account %s has two tokens already: --drop-token ends the older one",
			x->name);
	if (rj_random_bytes(secret, sizeof(secret)) ||
		rj_random_bytes(t->salt, sizeof(t->salt)))
		return rj_fail(err, RJ_E_IO, "cannot get random bytes");
	at = token + snprintf(token, TOKEN_TEXT, "%s.", x->name);
	rj_hex_text(secret, sizeof(secret), at);
	OPENSSL_cleanse(secret, sizeof(secret));
	if (hash_of(t->salt, at, t->hash))
		return rj_fail(err, RJ_E_NOMEM, "cannot hash a token");
	x->token_count++;
	return 0;
}

bool account_pattern_matches(const char *pattern, const char *name)
{
	size_t len = strlen(pattern);

	if (len && pattern[len - 1] == '*')
		return !strncmp(pattern, name, len - 1);
	return !strcmp(pattern, name);
}

bool account_covers(const struct account *x, const char *name)
{
	unsigned i;

	for (i = 0; i < x->volume_count; i++)
		if (account_pattern_matches(x->volumes[i], name))
			return true;
	return false;
}

/* The next word of *TEXT, and *TEXT past it; its length, 0: no more. */
static size_t next_word(const char **text, const char **word)
{
	size_t len;

	*text += strspn(*text, ", \t");
	*word = *text;
	len = strcspn(*text, ", \t");
	*text += len;
	return len;
}

int account_add_rights(
	struct account *x, const char *text, struct rj_error *err)
{
	const char *word;
	size_t len, i;

	while ((len = next_word(&text, &word))) {
		for (i = 0; i < RIGHTS; i++)
			if (strlen(rights[i].word) == len &&
				!memcmp(rights[i].word, word, len))
				break;
		if (i == RIGHTS)
			return rj_fail(err, RJ_E_INVAL,
				"\"%.*s\" is no right; there are append, read, "
				"trim, watch and admin",
				len > 40 ? 40 : (int)len, word);
		x->rights |= rights[i].right;
	}
	return 0;
}

int account_add_volumes(
	struct account *x, const char *text, struct rj_error *err)
{
	const char *word;
	size_t len, plain;

	while ((len = next_word(&text, &word))) {
		plain = len - (word[len - 1] == '*');
		if (len >= NAME_BYTES ||
			(plain && !rj_key_name_valid(word, plain)))
			return rj_fail(err, RJ_E_INVAL,
				"\"%.*s\" names no volumes; write a name, the "
				"beginning of names and a *, or a * for all",
				len > 70 ? 70 : (int)len, word);
		if (x->volume_count == ACCOUNT_VOLUMES)
			return rj_fail(err, RJ_E_INVAL,
				"more than %d names of volumes; use a prefix "
				"and a *",
				ACCOUNT_VOLUMES);
		memset(x->volumes[x->volume_count], 0, NAME_BYTES);
		memcpy(x->volumes[x->volume_count++], word, len);
	}
	return 0;
}

int account_set_certificate(
	struct account *x, const char *cn, struct rj_error *err)
{
	size_t i, len = strlen(cn);

	for (i = 0; i < len; i++)
		if ((unsigned char)cn[i] < 0x20 || cn[i] == ';' ||
			cn[i] == 0x7f)
			break;
	if (!len || len > 120 || i < len || cn[0] == ' ' ||
		cn[len - 1] == ' ')
		return rj_fail(err, RJ_E_INVAL,
			"a certificate is named by its subject's common name: "
			"1 to 120 characters without a semicolon");
	snprintf(x->certificate, sizeof(x->certificate), "%s", cn);
	return 0;
}

const char *account_rights_text(unsigned has, char out[48])
{
	size_t i, at = 0;

	strcpy(out, "none");
	for (i = 0; i < RIGHTS; i++)
		if (has & rights[i].right)
			at += (size_t)snprintf(out + at, 48 - at, "%s%s",
				at ? "," : "", rights[i].word);
	return out;
}
