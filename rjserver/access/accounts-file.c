// SPDX-License-Identifier: GPL-2.0-or-later
/* The accounts file: read whole into a temporary, replaced by rename. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "accounts.h"
#include "format/object-key.h"
#include "os/fileio.h"
#include "rjserver/inifile.h"
#include "util/buf.h"
#include "util/hex.h"

static bool unhex(const char *text, uint8_t *out, size_t len)
{
	/* one way to write a token: in lower case */
	return strspn(text, "0123456789abcdef") >= 2 * len &&
	       rj_hex_parse(text, len, out);
}

/* "sha256:SALT:HASH" */
static int take_token(
	struct account *x, const char *value, struct rj_error *err)
{
	const char *salt = value + 7, *hash = salt + 2 * TOKEN_SALT + 1;
	struct account_token *t = &x->tokens[x->token_count];

	if (x->token_count == ACCOUNT_TOKENS)
		return rj_fail(err, RJ_E_INVAL, "token: account %s has more than %d", x->name,
			ACCOUNT_TOKENS);
	if (strlen(value) == 7 + 2 * TOKEN_SALT + 1 + 2 * TOKEN_HASH &&
		!memcmp(value, "sha256:", 7) && hash[-1] == ':' &&
		unhex(salt, t->salt, TOKEN_SALT) &&
		unhex(hash, t->hash, TOKEN_HASH)) {
		x->token_count++;
		return 0;
	}
	return rj_fail(err, RJ_E_INVAL,
		"token: not what adduser writes; give %s a new one with "
		"rjserver adduser --new-token",
		x->name);
}

static int take(void *arg, const char *section, const char *name,
	const char *value, struct rj_error *err)
{
	struct accounts *a = arg;
	struct account *x;

	if (!rj_key_name_valid(section, strlen(section)))
		return rj_fail(err, RJ_E_INVAL,
			"[%.70s] is no name for an account: 1 to 63 letters, "
			"digits, dots, dashes or underscores",
			section);
	x = accounts_find(a, section);
	if (!x)
		x = accounts_add(a, section);
	if (!x)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	if (!strcmp(name, "token"))
		return take_token(x, value, err);
	if (!strcmp(name, "certificate"))
		return account_set_certificate(x, value, err);
	if (!strcmp(name, "volumes"))
		return account_add_volumes(x, value, err);
	if (!strcmp(name, "rights"))
		return account_add_rights(x, value, err);
	if (!strcmp(name, "max-bytes"))
		return inifile_size(name, value, &x->max_bytes, err);
	if (!strcmp(name, "max-objects"))
		return inifile_size(name, value, &x->max_objects, err);
	if (!strcmp(name, "max-volumes"))
		return inifile_size(name, value, &x->max_volumes, err);
	return rj_fail(err, RJ_E_INVAL,
		"\"%.40s\" means nothing here; an account has token, "
		"certificate, volumes, rights, max-bytes, max-objects, "
		"max-volumes",
		name);
}

int accounts_load(const char *path, struct accounts *out, struct rj_error *err)
{
	struct accounts a = {0};
	struct stat st;
	FILE *file;
	int fd, rc;

	*out = a;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!file) {
		rc = rj_fail_errno(err, errno, "%s: cannot open", path);
		if (fd >= 0)
			close(fd); /* only read */
		return rc;
	}
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		rc = rj_fail(err, RJ_E_INVAL, "%s: not a file", path);
	else if (st.st_mode & 077)
		rc = rj_fail(err, RJ_E_DENIED,
			"%s: others can read it; chmod 600 it", path);
	else
		rc = inifile_read(file, path, take, &a, err);
	fclose(file); /* only read */
	if (rc) {
		accounts_free(&a);
		return rc;
	}
	*out = a;
	return 0;
}

static int put_account(struct rj_buf *b, const struct account *x)
{
	char salt[2 * TOKEN_SALT + 1], hash[2 * TOKEN_HASH + 1], text[48];
	unsigned i;
	int rc;

	rc = rj_buf_printf(b, "\n[%s]\n", x->name);
	if (x->rights)
		rc = rc ?: rj_buf_printf(b, "rights = %s\n",
				account_rights_text(x->rights, text));
	/* one a line: lines have a limit */
	for (i = 0; i < x->volume_count; i++)
		rc = rc ?: rj_buf_printf(b, "volumes = %s\n", x->volumes[i]);
	for (i = 0; i < x->token_count; i++)
		rc = rc ?: rj_buf_printf(b, "token = sha256:%s:%s\n",
				rj_hex_text(x->tokens[i].salt, TOKEN_SALT, salt),
				rj_hex_text(x->tokens[i].hash, TOKEN_HASH, hash));
	if (x->certificate[0])
		rc = rc ?: rj_buf_printf(
				b, "certificate = %s\n", x->certificate);
	if (x->max_bytes)
		rc = rc ?: rj_buf_printf(b, "max-bytes = %llu\n",
				(unsigned long long)x->max_bytes);
	if (x->max_objects)
		rc = rc ?: rj_buf_printf(b, "max-objects = %llu\n",
				(unsigned long long)x->max_objects);
	if (x->max_volumes)
		rc = rc ?: rj_buf_printf(b, "max-volumes = %llu\n",
				(unsigned long long)x->max_volumes);
	return rc;
}

/* A file in a directory of root's may belong to the server, which runs as another
 * user. */
static int give(int fd, const char *path, const char *dir, const char *tmp,
	struct rj_error *err)
{
	struct stat st;

	if (geteuid() || (stat(path, &st) && stat(dir, &st)))
		return 0;
	if (fchown(fd, st.st_uid, st.st_gid))
		return rj_fail_errno(err, errno, "%s: chown", tmp);
	return 0;
}

static int replace(
	const char *path, const struct rj_buf *text, struct rj_error *err)
{
	char tmp[PATH_MAX + 8], dir[PATH_MAX];
	char *slash;
	int fd, rc;

	snprintf(tmp, sizeof(tmp), "%s.new", path);
	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	if (slash)
		slash[slash == dir] = 0;
	unlink(tmp); /* we hold the lock: a leftover */
	fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		0600);
	if (fd < 0)
		return rj_fail_errno(err, errno, "%s: cannot create", tmp);
	rc = fchmod(fd, 0600) ? rj_fail_errno(err, errno, "%s: chmod", tmp) : 0;
	rc = rc ?: give(fd, path, slash ? dir : ".", tmp, err);
	rc = rc ?: rj_write_all(fd, text->data, text->len, tmp, err);
	rc = rc ?: rj_fsync(fd, tmp, err);
	if (rc)
		close(fd); /* its failure is said */
	else
		rc = rj_close(&fd, tmp, err);
	if (!rc && rename(tmp, path))
		rc = rj_fail_errno(err, errno, "%s: cannot replace", path);
	if (rc) {
		unlink(tmp);
		return rc;
	}
	return rj_fsync_dir(slash ? dir : ".", err);
}

int accounts_save(
	const char *path, const struct accounts *a, struct rj_error *err)
{
	struct rj_buf text = {0};
	size_t i;
	int rc;

	rc = rj_buf_printf(&text,
		"# The accounts of this rjserver and their rights; see rjserver(8). Tokens "
		"are salted hashes.\n");
	for (i = 0; i < a->count && !rc; i++)
		rc = put_account(&text, &a->list[i]);
	rc = rc ? rj_fail(err, RJ_E_NOMEM, "out of memory")
		: replace(path, &text, err);
	rj_buf_free(&text);
	return rc;
}

int accounts_lock(const char *path, int *fd, struct rj_error *err)
{
	char lock[PATH_MAX + 8];

	snprintf(lock, sizeof(lock), "%s.lock", path);
	*fd = open(lock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (*fd < 0)
		return rj_fail_errno(err, errno, "%s: cannot create", lock);
	if (!flock(*fd, LOCK_EX))
		return 0;
	close(*fd); /* nothing was written */
	*fd = -1;
	return rj_fail_errno(err, errno, "%s: cannot lock", lock);
}
