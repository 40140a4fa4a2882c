// SPDX-License-Identifier: GPL-2.0-or-later
#include "users.h"

#include <errno.h>
#include <limits.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/object-key.h"
#include "inifile.h"
#include "log.h"
#include "rjserver/access/accounts.h"

static int exit_status(int rc)
{
	return !rc ? 0 : rc == -RJ_E_INVAL ? EXIT_USAGE : EXIT_FAILED;
}

/* Lock and load; no file is an empty one. */
static int begin(const struct settings *s, struct accounts *a, int *lock,
	struct rj_error *err)
{
	int rc = accounts_lock(s->accounts, lock, err);

	if (!rc)
		rc = accounts_load(s->accounts, a, err);
	return rc == -RJ_E_NOTFOUND && *lock >= 0 ? 0 : rc;
}

static void end(struct accounts *a, int lock)
{
	accounts_free(a);
	if (lock >= 0)
		close(lock); /* nothing was written to it */
}

static bool says_nothing(const struct options *o)
{
	return !o->rights && !o->volumes && !o->certificate && !o->max_bytes &&
	       !o->max_objects && !o->max_volumes && !o->no_token && !o->new_token &&
	       !o->add_token && !o->drop_token;
}

static bool makes_token(const struct options *o, bool new)
{
	return o->new_token || o->add_token || (new && !o->no_token);
}

/* Drop the tokens that the command line ends; users_add() makes the new token. */
static int change_tokens(
	const struct options *o, struct account *x, bool new, struct rj_error *err)
{
	if (o->drop_token && x->token_count < ACCOUNT_TOKENS)
		return rj_fail(err, RJ_E_INVAL,
			"account %s has %s token: --drop-token ends the older one of two",
			x->name, x->token_count ? "one" : "no");
	if (o->no_token || o->new_token || o->drop_token)
		account_drop_tokens(x, !o->drop_token);
	if (!makes_token(o, new) && !x->token_count && !x->certificate[0])
		return rj_fail(err, RJ_E_INVAL,
			"account %s would have neither a token nor a certificate", x->name);
	return 0;
}

/* What the command line says of X. */
static int change(
	const struct options *o, struct account *x, bool new, struct rj_error *err)
{
	const char *rights = new && !o->rights ? "append,read,trim" : o->rights;
	const char *volumes = new && !o->volumes ? x->name : o->volumes;
	int rc = 0;

	if (!new && says_nothing(o))
		return rj_fail(err, RJ_E_INVAL,
			"account %s exists already, and %s token: --new-token gives it %s",
			x->name, x->token_count ? "keeps its" : "has no",
			x->token_count ? "another one" : "one");
	if (rights) {
		x->rights = 0;
		rc = account_add_rights(x, rights, err);
	}
	if (!rc && volumes) {
		x->volume_count = 0;
		rc = account_add_volumes(x, volumes, err);
	}
	if (!rc && o->certificate)
		rc = account_set_certificate(x, o->certificate, err);
	if (!rc && o->max_bytes)
		rc = inifile_size(
			"--max-bytes", o->max_bytes, &x->max_bytes, err);
	if (!rc && o->max_objects)
		rc = inifile_size(
			"--max-objects", o->max_objects, &x->max_objects, err);
	if (!rc && o->max_volumes)
		rc = inifile_size(
			"--max-volumes", o->max_volumes, &x->max_volumes, err);
	return rc ? rc : change_tokens(o, x, new, err);
}

/* Of two accounts with one certificate, the server could not tell which. */
static int check_certificate(
	const struct accounts *a, const struct account *x, struct rj_error *err)
{
	size_t i;

	for (i = 0; x->certificate[0] && i < a->count; i++)
		if (&a->list[i] != x &&
			!strcmp(a->list[i].certificate, x->certificate))
			return rj_fail(err, RJ_E_INVAL,
				"the certificate %s is that of account %s",
				x->certificate, a->list[i].name);
	return 0;
}

/* Has a server the lock of DIR? Looked up, and not tried: a server that starts
 * at this moment would find it taken. */
static bool is_served(const char *dir)
{
	FILE *f = fopen("/proc/locks", "re");
	char path[PATH_MAX + 8], line[256];
	unsigned long inode;
	bool served = false;
	struct stat st;

	snprintf(path, sizeof(path), "%s/lock", dir);
	if (f && !stat(path, &st))
		while (!served && fgets(line, sizeof(line), f))
			served = sscanf(line, "%*d: FLOCK %*s WRITE %*d %*x:%*x:%lu",
					 &inode) == 1 &&
				 inode == st.st_ino;
	if (f)
		fclose(f);
	return served;
}

static void tell_reload(const struct settings *s)
{
	if (!s->quiet && is_served(s->dir))
		log_notice("the running server takes this up at SIGHUP (systemctl "
			   "reload rjserver)");
}

int users_add(const struct options *o, const struct settings *s)
{
	char token[TOKEN_TEXT] = "";
	struct rj_error err = {0};
	struct accounts a = {0};
	struct account *x = NULL;
	int lock = -1, rc = 0;
	bool new;

	if (!rj_key_name_valid(o->name, strlen(o->name))) {
		log_error("%.70s: no name for an account: 1 to 63 letters, "
			  "digits, dots, dashes or underscores",
			o->name);
		return EXIT_USAGE;
	}
	if (s->dir[0] && mkdir(s->dir, 0700) && errno != EEXIST)
		rc = rj_fail_errno(&err, errno, "%s: cannot make the directory",
			s->dir);
	rc = rc ? rc : begin(s, &a, &lock, &err);
	if (!rc) {
		x = accounts_find(&a, o->name);
		new = !x;
		if (new)
			x = accounts_add(&a, o->name);
		rc = x ? change(o, x, new, &err)
		       : rj_fail(&err, RJ_E_NOMEM, "out of memory");
		if (!rc)
			rc = check_certificate(&a, x, &err);
		if (!rc && makes_token(o, new))
			rc = account_new_token(x, token, &err);
	}
	rc = rc ? rc : accounts_save(s->accounts, &a, &err);
	if (rc)
		log_error("%s", err.msg);
	else if (token[0])
		printf("%s\n", token);
	else if (!s->quiet && !new)
		log_notice("account %s is changed, and %s token%s", x->name,
			x->token_count ? "keeps its" : "has no", x->token_count > 1 ? "s" : "");
	if (!rc && (fflush(stdout) || ferror(stdout))) {
		log_error("stdout: cannot write the token");
		rc = -RJ_E_IO;
	}
	if (!rc)
		tell_reload(s);
	OPENSSL_cleanse(token, sizeof(token));
	end(&a, lock);
	return exit_status(rc);
}

int users_delete(const struct options *o, const struct settings *s)
{
	struct rj_error err = {0};
	struct accounts a = {0};
	struct account *x;
	int lock = -1, rc;

	rc = begin(s, &a, &lock, &err);
	if (!rc) {
		x = accounts_find(&a, o->name);
		if (x)
			accounts_remove(&a, x);
		else
			rc = rj_fail(&err, RJ_E_NOTFOUND, "%s: no account %.70s",
				s->accounts, o->name);
	}
	rc = rc ? rc : accounts_save(s->accounts, &a, &err);
	if (rc)
		log_error("%s", err.msg);
	else
		tell_reload(s);
	end(&a, lock);
	return exit_status(rc);
}

static void list_one(const struct account *x)
{
	char text[48];
	unsigned i;

	printf("%s: %s; volumes", x->name, account_rights_text(x->rights, text));
	for (i = 0; i < x->volume_count; i++)
		printf("%s%s", i ? "," : " ", x->volumes[i]);
	printf("%s; %s", x->volume_count ? "" : " none",
		x->token_count > 1 ? "two tokens" : x->token_count ? "token" : "no token");
	if (x->certificate[0])
		printf("; certificate %s", x->certificate);
	if (x->max_bytes)
		printf("; at most %llu bytes", (unsigned long long)x->max_bytes);
	if (x->max_objects)
		printf("; at most %llu objects",
			(unsigned long long)x->max_objects);
	if (x->max_volumes)
		printf("; at most %llu volumes",
			(unsigned long long)x->max_volumes);
	putchar('\n');
}

int users_list(const struct settings *s)
{
	struct rj_error err = {0};
	struct accounts a = {0};
	size_t i;
	int rc = accounts_load(s->accounts, &a, &err);

	if (rc)
		log_error("%s", err.msg);
	for (i = 0; i < a.count; i++)
		list_one(&a.list[i]);
	if (!rc && (fflush(stdout) || ferror(stdout))) {
		log_error("stdout: cannot write");
		rc = -RJ_E_IO;
	}
	accounts_free(&a);
	return exit_status(rc);
}
