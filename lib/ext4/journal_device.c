// SPDX-License-Identifier: LGPL-2.1-or-later
/* Find and judge an external journal device. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <blkid/blkid.h>

#include "ext4/impl.h"
#include "ext4/journal.h"
#include "util/fileio.h"

int rj_journal_device_check(const uint8_t raw[1024], uint32_t block_size,
	const uint8_t journal_uuid[RJ_UUID_BYTES], const char *name,
	struct rj_error *err)
{
	char a[RJ_UUID_TEXT], b[RJ_UUID_TEXT];

	if (SB_LE16(raw, s_magic) != EXT2_SUPER_MAGIC ||
		!(SB_LE32(raw, s_feature_incompat) &
			EXT3_FEATURE_INCOMPAT_JOURNAL_DEV))
		return rj_fail(
			err, RJ_E_FOREIGN, "%s: not a journal device", name);
	if (!rj_uuid_equal(SB_AT(raw, s_uuid), journal_uuid))
		return rj_fail(err, RJ_E_FOREIGN,
			"%s: is journal %s, the volume's is %s", name,
			rj_uuid_text(SB_AT(raw, s_uuid), a),
			rj_uuid_text(journal_uuid, b));
	if (SB_LE32(raw, s_log_block_size) > 6 ||
		1024u << SB_LE32(raw, s_log_block_size) != block_size)
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: its blocks have another size than the volume's %u bytes",
			name, block_size);
	return 0;
}

/* Is PATH the journal UUID? Any trouble is a no. */
static bool is_journal(
	const char *path, const struct rj_volume *v, struct rj_error *err)
{
	uint8_t raw[1024];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return false;
	rc = rj_pread_all(fd, raw, sizeof(raw), 1024, path, err);
	close(fd);
	return !rc && !rj_journal_device_check(raw, v->facts.block_size,
			      v->facts.journal_uuid, path, err);
}

/* The cache may be stale, or not be ours to write: verify what it says. */
static char *by_uuid(const struct rj_volume *v)
{
	char text[RJ_UUID_TEXT];
	struct rj_error err;
	char *path;

	path = blkid_evaluate_tag(
		"UUID", rj_uuid_text(v->facts.journal_uuid, text), NULL);
	if (path && is_journal(path, v, &err))
		return path;
	free(path);
	return NULL;
}

static char *by_number(const struct rj_volume *v)
{
	uint32_t dev = v->facts.journal_device; /* new_decode_dev() */
	unsigned maj = (dev & 0xfff00) >> 8;
	unsigned min = (dev & 0xff) | ((dev >> 12) & 0xfff00);
	char link[64], *path;
	struct rj_error err;

	snprintf(link, sizeof(link), "/dev/block/%u:%u", maj, min);
	path = realpath(link, NULL);
	if (path && is_journal(path, v, &err))
		return path;
	free(path);
	return NULL;
}

int rj_volume_find_journal(const struct rj_volume *v, const char *hint,
	char **path, struct rj_error *err)
{
	char text[RJ_UUID_TEXT];

	*path = NULL;
	if (hint) {
		*path = strdup(hint);
		return *path ? 0 : rj_fail(err, RJ_E_NOMEM, "out of memory");
	}
	*path = by_number(v);
	if (!*path)
		*path = by_uuid(v);
	if (*path)
		return 0;
	return rj_fail(err, RJ_E_NOTFOUND,
		"%s: its external journal %s is on no device of this machine; name it with -J device=",
		v->path, rj_uuid_text(v->facts.journal_uuid, text));
}
