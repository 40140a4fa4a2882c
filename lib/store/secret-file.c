// SPDX-License-Identifier: LGPL-2.1-or-later
/* Open and read rj.conf, or a file of a secret that it names, if its owner and mode
 * keep other users out. */
#include "store/secret-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/fileio.h"

#define MAX_BYTES (1u << 20)

static int check_file(int fd, const char *path, struct stat *st,
	struct rj_error *err)
{
	if (fstat(fd, st))
		return rj_fail_errno(err, errno, "%s: cannot stat", path);
	if (!S_ISREG(st->st_mode))
		return rj_fail(err, RJ_E_INVAL, "%s: not a file", path);
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return rj_fail(err, RJ_E_DENIED,
			"%s: it belongs to another user (%u): it may hold "
			"secrets, chown it",
			path, (unsigned)st->st_uid);
	if (st->st_mode & 077)
		return rj_fail(err, RJ_E_DENIED,
			"%s: it may hold secrets, and others may use it (mode "
			"%04o): chmod 600 it",
			path, (unsigned)(st->st_mode & 07777));
	if (st->st_size > MAX_BYTES)
		return rj_fail(err, RJ_E_INVAL,
			"%s: longer than the %u bytes that make sense", path,
			MAX_BYTES);
	return 0;
}

int rj_secret_file_read(const char *path, char **out, struct rj_error *err)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	struct stat st;
	char *text;
	int fd, rc;

	if (!strcmp(path, "/dev/null")) { /* as everywhere: an empty file */
		*out = calloc(1, 1);
		return *out ? 0 : rj_fail(err, RJ_E_NOMEM, "out of memory");
	}
	/* a time of access would have to go through the journal, which may be
	 * waiting for what is read here; only the owner may do without */
	fd = open(path, flags | O_NOATIME);
	if (fd < 0 && errno == EPERM)
		fd = open(path, flags);
	if (fd < 0)
		return rj_fail_errno(err, errno, "%s: cannot open", path);
	rc = check_file(fd, path, &st, err);
	if (rc) {
		close(fd);
		return rc;
	}
	text = calloc(1, (size_t)st.st_size + 1);
	if (!text)
		rc = rj_fail(err, RJ_E_NOMEM, "%s: out of memory", path);
	else
		rc = rj_pread_all(fd, text, (size_t)st.st_size, 0, path, err);
	close(fd);
	if (!rc && strlen(text) != (size_t)st.st_size)
		rc = rj_fail(err, RJ_E_INVAL, "%s: holds a NUL byte", path);
	if (rc) {
		rj_secret_wipe_free(text, text ? (size_t)st.st_size : 0);
		return rc;
	}
	*out = text;
	return 0;
}

void rj_secret_wipe_free(char *s, size_t len)
{
	if (!s)
		return;
	explicit_bzero(s, len);
	free(s);
}

void rj_secret_free(char *s)
{
	rj_secret_wipe_free(s, s ? strlen(s) : 0);
}
