// SPDX-License-Identifier: GPL-2.0-or-later
/* Did what was written to a file pass the journal? The journal's device has the answer. */
#include "journal-probe.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/fileio.h"
#include "tools/ask-daemon.h"
#include "util/environ.h"
#include "rjctl/volume.h"

#define STATUS_MS 5000
#define BLOCK	  4096u /* at most ext4's block: part of one, if that is larger */
#define GRAIN	  1024u /* ext4's smallest block */
#define PIECE	  (1u << 20)

/* A block that no other file has; its first byte is not that of a JBD2 block, which the
 * journal would store in another form. */
static int draw(uint8_t block[BLOCK], struct rj_error *err)
{
	if (rj_random_bytes(block, BLOCK))
		return rj_fail(err, RJ_E_IO, "cannot get random bytes");
	block[0] = 0;
	return 0;
}

/* Twice: the second time it is in place already, as it is for a file in use. */
static int put(const char *dir, const uint8_t block[BLOCK], struct rj_error *err)
{
	uint8_t before[BLOCK];
	char path[4096];
	int fd, rc;

	if (snprintf(path, sizeof(path), "%s/.rjctl-XXXXXX", dir) >= (int)sizeof(path))
		return rj_fail(err, RJ_E_INVAL, "%s: the path is too long", dir);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return rj_fail_errno(err, errno, "%s: cannot make a file", dir);
	rc = draw(before, err);
	if (!rc)
		rc = rj_pwrite_all(fd, before, BLOCK, 0, path, err);
	if (!rc)
		rc = rj_fsync(fd, path, err);
	if (!rc)
		rc = rj_pwrite_all(fd, block, BLOCK, 0, path, err);
	if (!rc)
		rc = rj_fsync(fd, path, err);
	if (unlink(path) && !rc)
		rc = rj_fail_errno(err, errno, "%s: cannot remove", path);
	close(fd); /* what was written is of no use any more */
	return rc;
}

/* Shorten PATH, without links, to the directory that its volume is mounted at. */
static int find_mount(char *path, struct rj_error *err)
{
	struct stat st, above;
	char *slash;

	if (lstat(path, &st))
		return rj_fail_errno(err, errno, "%s", path);
	while ((slash = strrchr(path, '/')) && slash[1]) {
		char name = slash[1];

		slash[1] = 0; /* with the slash: the root is "/" */
		if (lstat(path, &above))
			return rj_fail_errno(err, errno, "%s", path);
		if (above.st_dev != st.st_dev) {
			slash[1] = name;
			return 0;
		}
		if (slash != path)
			*slash = 0;
	}
	return 0;
}

static int find_journal(const char *dir, char *device, size_t size, struct rj_error *err)
{
	uint8_t uuid[RJ_UUID_BYTES];
	struct json_object *json = NULL, *value;
	char mounted[PATH_MAX];
	int rc;

	if (!realpath(dir, mounted))
		return rj_fail_errno(err, errno, "%s", dir);
	rc = find_mount(mounted, err);
	if (!rc)
		rc = volume_uuid(mounted, uuid, err);
	if (!rc)
		rc = daemon_status(uuid, STATUS_MS, &json, err);
	if (!rc && (!json || !json_object_object_get_ex(json, "journal_device", &value)))
		rc = rj_fail(err, RJ_E_IO, "%s: rjournald's answer is malformed", dir);
	if (!rc)
		snprintf(device, size, "%s", json_object_get_string(value));
	json_object_put(json);
	return rc;
}

/* FOUND: a block of FD begins with the first GRAIN bytes of BLOCK. */
static int search(int fd, const char *device, const uint8_t block[BLOCK], bool *found,
	struct rj_error *err)
{
	uint64_t bytes = 0, off, at;
	uint8_t *buf = NULL;
	size_t n;
	int rc = rj_fd_size(fd, device, &bytes, err);

	if (!rc && posix_memalign((void **)&buf, BLOCK, PIECE))
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	for (off = 0; !rc && !*found && off < bytes; off += n) {
		n = bytes - off < PIECE ? (size_t)(bytes - off) : PIECE;
		rc = rj_pread_all(fd, buf, n, off, device, err);
		for (at = 0; !rc && !*found && at + GRAIN <= n; at += GRAIN)
			*found = !memcmp(buf + at, block, GRAIN);
	}
	free(buf);
	return rc;
}

int journal_probe(const char *dir, struct rj_error *err)
{
	uint8_t block[BLOCK];
	bool found = false;
	char device[4096];
	int fd, rc;

	rc = find_journal(dir, device, sizeof(device), err);
	if (!rc)
		rc = draw(block, err);
	if (!rc)
		rc = put(dir, block, err);
	if (rc)
		return rc;
	fd = open(device, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (fd < 0)
		return rj_fail_errno(err, errno, "%s", device);
	rc = search(fd, device, block, &found, err);
	close(fd); /* only read */
	if (!rc && !found)
		rc = rj_fail(err, RJ_E_REFUSED,
			"%s: what is written to files there does not pass the journal: rjctl journal-data on %s",
			dir, dir);
	return rc;
}
