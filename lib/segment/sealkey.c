// SPDX-License-Identifier: LGPL-2.1-or-later
/* Read and make key files, and derive each writer's key. */
#include "segment/sealkey.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "module/openssl.h"
#include "os/fileio.h"
#include "segment/digest.h"
#include "util/environ.h"
#include "util/hex.h"

#define FIRST_LINE "rj-key 1\n"
/* first line, 64 digits, newline */
#define FILE_BYTES (sizeof(FIRST_LINE) - 1 + 2 * RJ_SEALKEY_BYTES + 1)

struct rj_sealkey {
	uint8_t bytes[RJ_SEALKEY_BYTES];
	uint8_t fingerprint[RJ_SEALKEY_FINGERPRINT_BYTES];
};

/* HKDF-SHA256 (RFC 5869) of KEY's bytes. */
static int hkdf(const uint8_t *secret, const void *salt, size_t salt_len,
	const void *info, size_t info_len, uint8_t *out, size_t len,
	struct rj_error *err)
{
	const struct rj_openssl *o;
	int rc = rj_openssl(&o, err);

	return rc ? rc : o->hkdf(secret, salt, salt_len, info, info_len, out, len, err);
}

int rj_sealkey_derive(const struct rj_sealkey *key, const uint8_t *journal_uuid,
	const uint8_t *nonce, uint8_t out[RJ_SEALKEY_BYTES], struct rj_error *err)
{
	static const char label[] = "rjprogs segment v1";
	uint8_t info[sizeof(label) - 1 + 16];

	memcpy(info, label, sizeof(label) - 1);
	memcpy(info + sizeof(label) - 1, nonce, 16);
	return hkdf(key->bytes, journal_uuid, 16, info, sizeof(info), out,
		RJ_SEALKEY_BYTES, err);
}

int rj_sealkey_tag(const struct rj_sealkey *key, const uint8_t *journal_uuid,
	const void *data, size_t len, uint8_t out[RJ_SEALKEY_TAG_BYTES],
	struct rj_error *err)
{
	static const char label[] = "rjprogs claim v1";
	uint8_t info[sizeof(label) - 1 + RJ_SEG_HASH_BYTES];
	int rc;

	memcpy(info, label, sizeof(label) - 1);
	rc = rj_digest(data, len, NULL, 0, info + sizeof(label) - 1, err);
	return rc ? rc
		  : hkdf(key->bytes, journal_uuid, 16, info, sizeof(info), out,
			    RJ_SEALKEY_TAG_BYTES, err);
}

bool rj_sealkey_tag_fits(const struct rj_sealkey *key,
	const uint8_t *journal_uuid, const void *data, size_t len,
	const uint8_t tag[RJ_SEALKEY_TAG_BYTES])
{
	uint8_t right[RJ_SEALKEY_TAG_BYTES];
	const struct rj_openssl *o;

	return !rj_openssl(&o, NULL) &&
	       !rj_sealkey_tag(key, journal_uuid, data, len, right, NULL) &&
	       !o->differ(right, tag, sizeof(right));
}

bool rj_sealkey_fingerprint_set(const uint8_t fp[RJ_SEALKEY_FINGERPRINT_BYTES])
{
	static const uint8_t none[RJ_SEALKEY_FINGERPRINT_BYTES];

	return memcmp(fp, none, sizeof(none)) != 0;
}

void rj_sealkey_fingerprint_text(const uint8_t fp[RJ_SEALKEY_FINGERPRINT_BYTES],
	char text[RJ_SEALKEY_FINGERPRINT_TEXT])
{
	rj_hex_text(fp, RJ_SEALKEY_FINGERPRINT_BYTES, text);
}

const uint8_t *rj_sealkey_fingerprint(const struct rj_sealkey *key)
{
	return key->fingerprint;
}

int rj_sealkey_from_bytes(const uint8_t bytes[RJ_SEALKEY_BYTES], struct rj_sealkey **out,
	struct rj_error *err)
{
	static const char label[] = "rjprogs key fingerprint v1";
	struct rj_sealkey *key = calloc(1, sizeof(*key));
	int rc;

	*out = NULL;
	if (!key)
		return rj_fail(err, RJ_E_NOMEM, "out of memory for a key");
	/* neither in a core dump, where OpenSSL has copies of it, too, nor on the swap device,
	 * where the system lets us; without it the key works as well */
	(void)prctl(PR_SET_DUMPABLE, 0);
	(void)mlock(key, sizeof(*key));
	memcpy(key->bytes, bytes, RJ_SEALKEY_BYTES);
	rc = hkdf(bytes, "", 0, label, sizeof(label) - 1, key->fingerprint,
		sizeof(key->fingerprint), err);
	if (rc) {
		rj_sealkey_free(key);
		return rc;
	}
	if (!rj_sealkey_fingerprint_set(key->fingerprint))
		key->fingerprint[0] = 1; /* all zero means "no key" */
	*out = key;
	return 0;
}

void rj_sealkey_free(struct rj_sealkey *key)
{
	if (!key)
		return;
	explicit_bzero(key, sizeof(*key));
	(void)munlock(key, sizeof(*key));
	free(key);
}

/* The text of a key file; the last newline may be missing. */
static int parse(const char *text, size_t len, uint8_t bytes[RJ_SEALKEY_BYTES])
{
	size_t head = sizeof(FIRST_LINE) - 1;

	if (len == FILE_BYTES && text[len - 1] == '\n')
		len--;
	if (len != FILE_BYTES - 1 || memcmp(text, FIRST_LINE, head) != 0)
		return -1;
	return rj_hex_parse(text + head, RJ_SEALKEY_BYTES, bytes) ? 0 : -1;
}

/* At most LEN bytes of the open file; how many, or -1 with errno. */
static ssize_t read_some(int fd, char *buf, size_t len)
{
	size_t got = 0;
	ssize_t n;

	while (got < len) {
		n = read(fd, buf + got, len - got);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (!n)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

static int load_open(
	int fd, const char *path, struct rj_sealkey **out, struct rj_error *err)
{
	char text[FILE_BYTES + 1];
	uint8_t bytes[RJ_SEALKEY_BYTES];
	struct stat st;
	ssize_t n;
	int rc;

	if (fstat(fd, &st))
		return rj_fail_errno(err, errno, "%s: cannot stat", path);
	if (!S_ISREG(st.st_mode))
		return rj_fail(err, RJ_E_INVAL,
			"%s: a key must be in a regular file", path);
	if (st.st_mode & 077)
		return rj_fail(err, RJ_E_DENIED,
			"%s: others may use this key file (mode %04o); chmod "
			"600 it",
			path, (unsigned)(st.st_mode & 07777));
	n = read_some(fd, text, sizeof(text));
	if (n < 0)
		return rj_fail_errno(err, errno, "%s: cannot read", path);
	if (parse(text, (size_t)n, bytes))
		rc = rj_fail(err, RJ_E_CORRUPT,
			"%s: not a key file, or not all of one (for a new log rjtune --genkey makes one)", path);
	else
		rc = rj_sealkey_from_bytes(bytes, out, err);
	explicit_bzero(text, sizeof(text));
	explicit_bzero(bytes, sizeof(bytes));
	return rc;
}

int rj_sealkey_load(const char *path, struct rj_sealkey **out, struct rj_error *err)
{
	int fd, rc;

	*out = NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return rj_fail_errno(
			err, errno, "%s: cannot open the key file", path);
	rc = load_open(fd, path, out, err);
	close(fd); /* was only read */
	return rc;
}

static int write_key(int fd, const char *path, struct rj_error *err)
{
	char text[FILE_BYTES + 1];
	uint8_t bytes[RJ_SEALKEY_BYTES];
	int rc;

	rc = rj_random_bytes(bytes, sizeof(bytes));
	if (rc) {
		rj_fail(err, -rc, "the system gives no random bytes");
	} else {
		strcpy(text, FIRST_LINE);
		rj_hex_text(bytes, sizeof(bytes), text + strlen(text));
		text[FILE_BYTES - 1] = '\n';
		rc = rj_write_all(fd, text, FILE_BYTES, path, err);
	}
	explicit_bzero(text, sizeof(text));
	explicit_bzero(bytes, sizeof(bytes));
	return rc ? rc : rj_fsync(fd, path, err);
}

int rj_sealkey_generate(const char *path, struct rj_error *err)
{
	int fd, rc;

	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 && errno == EEXIST)
		return rj_fail(err, RJ_E_EXISTS,
			"%s: exists already; a key is never overwritten", path);
	if (fd < 0)
		return rj_fail_errno(err, errno, "%s: cannot create", path);
	rc = fchmod(fd, 0600) ? rj_fail_errno(err, errno, "%s: chmod", path)
			      : write_key(fd, path, err);
	if (close(fd) && !rc)
		rc = rj_fail_errno(err, errno, "%s: cannot close", path);
	/* a key that a crash takes away takes the log with it */
	if (!rc)
		rc = rj_fsync_parent(path, err);
	if (rc)
		unlink(path); /* a file without its key is of no use */
	return rc;
}
