// SPDX-License-Identifier: LGPL-2.1-or-later
/* List the objects of a log in a store of file://, and the store's logs. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/file-priv.h"

static int by_number(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

/* Append the numbers above AFTER to NUMBERS. DIRP is read to its end. */
static int read_names(struct file_store *fs, DIR *dirp, const char *dir,
	uint64_t after, struct rj_buf *numbers, struct rj_error *err)
{
	char text[RJ_KEY_TEXT + RJ_FILE_DIGITS + 1];
	struct rj_key key;
	struct dirent *de;

	for (;;) {
		errno = 0;
		de = readdir(dirp);
		if (!de && errno)
			return rj_fail_errno(err, errno,
				"%s: cannot read directory %s", fs->base.url,
				dir);
		if (!de)
			return 0;
		if (strlen(de->d_name) != RJ_FILE_DIGITS)
			continue;
		snprintf(text, sizeof(text), "%s%.*s", dir, RJ_FILE_DIGITS,
			de->d_name);
		if (!rj_key_parse(text, strlen(text), &key) ||
			key.number <= after)
			continue;
		if (rj_buf_append(numbers, &key.number, sizeof(key.number)))
			return rj_fail(err, RJ_E_NOMEM, "%s: out of memory",
				fs->base.url);
	}
}

int rj_file_list(struct rj_store *s, const struct rj_key *dir,
	uint64_t after, rj_store_list_fn fn, void *arg, struct rj_error *err)
{
	struct file_store *fs = file_of(s);
	struct rj_buf numbers = {0};
	char text[RJ_KEY_TEXT], name[RJ_FILE_DIGITS + 1];
	DIR *dirp = NULL;
	struct stat st;
	uint64_t n;
	size_t i;
	int fd, rc;

	rj_file_find_root(fs);
	rj_key_text(dir, text);
	fd = rj_file_openat(fs, text, O_RDONLY | O_DIRECTORY);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd >= 0)
		dirp = fdopendir(fd);
	if (!dirp) {
		rc = rj_file_fail(fs, errno, "cannot open directory", text, err);
		if (fd >= 0)
			close(fd);
		return rc;
	}
	rc = read_names(fs, dirp, text, after, &numbers, err);
	if (rc)
		goto out;
	if (numbers.len)
		qsort(numbers.data, numbers.len / sizeof(n), sizeof(n),
			by_number);
	for (i = 0; !rc && i < numbers.len; i += sizeof(n)) {
		memcpy(&n, numbers.data + i, sizeof(n));
		snprintf(name, sizeof(name), "%020llu", (unsigned long long)n);
		if (!fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW))
			rc = fn(arg, n, (uint64_t)st.st_size);
		else if (errno != ENOENT) /* removed since: not listed */
			rc = rj_fail_errno(err, errno, "%s: cannot stat %s%s",
				s->url, text, name);
	}
out:
	closedir(dirp);
	rj_buf_free(&numbers);
	return rc;
}

/* Append the UUIDs that name directories of DIRP to UUIDS. */
static int read_uuids(struct file_store *fs, DIR *dirp, struct rj_buf *uuids,
	struct rj_error *err)
{
	char text[RJ_KEY_TEXT];
	struct rj_key key;
	struct dirent *de;
	struct stat st;

	for (;;) {
		errno = 0;
		de = readdir(dirp);
		if (!de && errno)
			return rj_fail_errno(
				err, errno, "%s: cannot read", fs->base.url);
		if (!de)
			return 0;
		/* by the key's own rules: lower case only */
		snprintf(text, sizeof(text), "%.40s/log/", de->d_name);
		if (!rj_key_parse(text, strlen(text), &key) ||
			fstatat(fs->root, de->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
			!S_ISDIR(st.st_mode))
			continue;
		if (rj_buf_append(uuids, key.journal_uuid, RJ_UUID_BYTES))
			return rj_fail(err, RJ_E_NOMEM, "%s: out of memory",
				fs->base.url);
	}
}

static int by_uuid(const void *a, const void *b)
{
	return memcmp(a, b, RJ_UUID_BYTES);
}

int rj_file_list_journals(struct rj_store *s, rj_store_journal_fn fn,
	void *arg, struct rj_error *err)
{
	struct file_store *fs = file_of(s);
	struct rj_buf uuids = {0};
	DIR *dirp = NULL;
	int fd, rc = 0;
	size_t i;

	rj_file_find_root(fs);
	fd = openat(fs->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		dirp = fdopendir(fd);
	if (!dirp) {
		rc = rj_fail_errno(err, errno, "%s: cannot open", s->url);
		if (fd >= 0)
			close(fd);
		return rc;
	}
	rc = read_uuids(fs, dirp, &uuids, err);
	if (!rc && uuids.len)
		qsort(uuids.data, uuids.len / RJ_UUID_BYTES, RJ_UUID_BYTES,
			by_uuid);
	for (i = 0; !rc && i < uuids.len; i += RJ_UUID_BYTES)
		rc = fn(arg, uuids.data + i);
	closedir(dirp);
	rj_buf_free(&uuids);
	return rc;
}
