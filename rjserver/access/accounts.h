/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Load and change accounts and their rights, and find an account by its token. The
 * accounts file is INI, one section an account; see rjserver(8). Tokens are kept as salted
 * hashes: a token is 256 random bits, so one SHA-256 is as hard to invert as a slow hash
 * would be for a password.
 */
#ifndef RJSERVER_ACCOUNTS_H
#define RJSERVER_ACCOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rjserver/record/record.h"
#include "util/error.h"

enum right {
	RIGHT_APPEND = 1,
	RIGHT_READ = 2,
	RIGHT_TRIM = 4,
	RIGHT_WATCH = 8, /* the page and the metrics; not the segments */
	RIGHT_ADMIN = 16, /* all of these, the server's health, and epochs */
};

#define ACCOUNT_VOLUMES 64 /* patterns of one account */
#define ACCOUNT_CERT    200
#define TOKEN_SALT      16
#define TOKEN_HASH      32
#define TOKEN_TEXT      (NAME_BYTES + 1 + 64 + 1) /* NAME.<64 hex>, NUL */

#define ACCOUNT_TOKENS  2 /* while one takes the place of the other */

struct account {
	char name[NAME_BYTES];
	unsigned rights;
	unsigned token_count;
	struct account_token {
		uint8_t salt[TOKEN_SALT], hash[TOKEN_HASH];
	} tokens[ACCOUNT_TOKENS]; /* the older one first */
	char certificate[ACCOUNT_CERT]; /* the subject's CN; "": none */
	unsigned volume_count;
	char volumes[ACCOUNT_VOLUMES][NAME_BYTES]; /* NAME, PREFIX* or * */
	uint64_t max_bytes, max_objects, max_volumes; /* 0: no limit */
	/* In the server: what its volumes hold now. */
	uint64_t used_bytes, used_objects, used_volumes;
};

struct accounts {
	struct account *list;
	size_t count;
};

/* RJ_E_NOTFOUND: no such file. RJ_E_DENIED: others may read it. On failure
 * *OUT is empty. */
int accounts_load(
	const char *path, struct accounts *out, struct rj_error *err);
/* Replace the file, durably; mode 0600. */
int accounts_save(
	const char *path, const struct accounts *a, struct rj_error *err);
/* Lock the file for a change (load, change, save); close(*FD) unlocks it. */
int accounts_lock(const char *path, int *fd, struct rj_error *err);
void accounts_free(struct accounts *a); /* leaves it empty */

struct account *accounts_find(const struct accounts *a, const char *name);
/* Add an account with all else zero. NULL: no memory. */
struct account *accounts_add(struct accounts *a, const char *name);
void accounts_remove(struct accounts *a, struct account *which);

/* Find the account with TOKEN. NULL: none. Takes as long for an unknown account as
 * for a wrong token. */
struct account *accounts_by_token(
	const struct accounts *a, const char *token);
/* Find the account whose verified certificate has the subject CN. NULL: none. */
struct account *accounts_by_certificate(
	const struct accounts *a, const char *cn);
/* Forget X's tokens but the newest one; with ALL, that too. */
void account_drop_tokens(struct account *x, bool all);
/* Make a further token for X: TOKEN gets its text, X only its hash. RJ_E_INVAL: X has
 * ACCOUNT_TOKENS. */
int account_new_token(
	struct account *x, char token[TOKEN_TEXT], struct rj_error *err);

/* Is a volume of NAME among those of X? */
bool account_covers(const struct account *x, const char *name);
/* Does PATTERN (NAME, PREFIX* or *) match? */
bool account_pattern_matches(const char *pattern, const char *name);

/* Add the words of TEXT, separated by commas or blanks, to what X has. */
int account_add_rights(
	struct account *x, const char *text, struct rj_error *err);
int account_add_volumes(
	struct account *x, const char *text, struct rj_error *err);
int account_set_certificate(
	struct account *x, const char *cn, struct rj_error *err);
/* "append,read"; "none". */
const char *account_rights_text(unsigned rights, char out[48]);

#endif
