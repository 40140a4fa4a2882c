// SPDX-License-Identifier: LGPL-2.1-or-later
/* Find and judge an external journal device. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <blkid/blkid.h>

#include "ext4/ext4-priv.h"
#include "ext4/journal.h"
#include "os/fileio.h"

bool rj_journal_device_uuid(
	const uint8_t raw[1024], uint8_t uuid[RJ_UUID_BYTES])
{
	if (SB_LE16(raw, s_magic) != EXT2_SUPER_MAGIC ||
		!(SB_LE32(raw, s_feature_incompat) &
			EXT3_FEATURE_INCOMPAT_JOURNAL_DEV))
		return false;
	memcpy(uuid, SB_AT(raw, s_uuid), RJ_UUID_BYTES);
	return true;
}

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
	const char *path, const uint8_t uuid[RJ_UUID_BYTES], uint32_t block_size)
{
	struct rj_error err;
	uint8_t raw[1024];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return false;
	rc = rj_pread_all(fd, raw, sizeof(raw), 1024, path, &err);
	close(fd);
	return !rc &&
	       !rj_journal_device_check(raw, block_size, uuid, path, &err);
}

static char *by_hint(const char *const *hints,
	const uint8_t uuid[RJ_UUID_BYTES], uint32_t block_size)
{
	for (; hints && *hints; hints++)
		if (is_journal(*hints, uuid, block_size))
			return strdup(*hints);
	return NULL;
}

int rj_volume_each(const uint8_t uuid[RJ_UUID_BYTES],
	int (*fn)(void *arg, const char *path), void *arg)
{
	char text[RJ_UUID_TEXT];
	blkid_dev_iterate it;
	blkid_cache cache = NULL;
	blkid_dev dev;
	int rc = 0;

	if (blkid_get_cache(&cache, "/dev/null") < 0)
		return 0;
	blkid_probe_all(cache);
	it = blkid_dev_iterate_begin(cache);
	blkid_dev_set_search(it, "UUID", rj_uuid_text(uuid, text));
	while (!rc && !blkid_dev_next(it, &dev))
		rc = fn(arg, blkid_dev_devname(dev));
	blkid_dev_iterate_end(it);
	blkid_put_cache(cache);
	return rc;
}

bool rj_device_is_part(dev_t dev)
{
	char name[64];
	struct dirent *e;
	bool held = false;
	DIR *dir;

	snprintf(name, sizeof(name), "/sys/dev/block/%u:%u/holders", major(dev), minor(dev));
	dir = opendir(name);
	while (dir && !held && (e = readdir(dir)))
		held = e->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return held;
}

/* The devices that hold a journal: of two it is not known which is the volume's. */
struct holding {
	const uint8_t *uuid;
	uint32_t block_size;
	char *path[2];
	dev_t dev; /* of the first */
};

static int take_holding(void *arg, const char *path)
{
	struct holding *h = arg;
	struct stat st;
	char **to = &h->path[h->path[0] != NULL];

	if (!is_journal(path, h->uuid, h->block_size) || stat(path, &st) ||
		rj_device_is_part(st.st_rdev) || (h->path[0] && st.st_rdev == h->dev))
		return 0;
	h->dev = st.st_rdev;
	*to = strdup(path);
	return *to ? h->path[1] != NULL : -RJ_E_NOMEM;
}

/* Where libblkid does not see it. Not by udev's links, which may be late, or not there. */
static char *by_number(uint32_t dev, const uint8_t uuid[RJ_UUID_BYTES],
	uint32_t block_size)
{
	unsigned maj = (dev & 0xfff00) >> 8; /* new_decode_dev() */
	unsigned min = (dev & 0xff) | ((dev >> 12) & 0xfff00);
	char link[64], to[PATH_MAX], path[PATH_MAX], *c;
	ssize_t len;

	if (!maj)
		return NULL;
	snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", maj, min);
	len = readlink(link, to, sizeof(to) - 1);
	if (len < 0)
		return NULL;
	to[len] = 0;
	c = strrchr(to, '/');
	if ((size_t)snprintf(path, sizeof(path), "/dev/%s", c ? c + 1 : to) >= sizeof(path))
		return NULL;
	for (c = path + strlen("/dev/"); *c; c++)
		if (*c == '!') /* of a name with a slash */
			*c = '/';
	return is_journal(path, uuid, block_size) ? strdup(path) : NULL;
}

uint32_t rj_journal_device_number(uint64_t dev)
{
	uint32_t maj = major(dev), min = minor(dev);

	return (min & 0xff) | (maj << 8) | ((min & ~0xffu) << 12);
}

int rj_journal_find(const uint8_t uuid[RJ_UUID_BYTES], uint32_t block_size,
	uint32_t number, const char *const *hints, char **path,
	struct rj_error *err)
{
	struct holding h = {.uuid = uuid, .block_size = block_size};
	char text[RJ_UUID_TEXT];
	int rc = 0;

	*path = by_hint(hints, uuid, block_size);
	if (*path)
		return 0;
	if (rj_volume_each(uuid, take_holding, &h) < 0)
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	else if (h.path[1])
		rc = rj_fail(err, RJ_E_REFUSED,
			"external journal %s is on %s and on %s: one is a copy; name the device that the volume was mounted with last (rjrecover -J device=, rjtune --old-journal=), or take the other one away; nothing was changed",
			rj_uuid_text(uuid, text), h.path[0], h.path[1]);
	else
		*path = h.path[0] ? h.path[0] : by_number(number, uuid, block_size);
	if (*path)
		return 0;
	free(h.path[0]);
	free(h.path[1]);
	return rc ? rc : rj_fail(err, RJ_E_NOTFOUND,
		"external journal %s is on no device of this machine",
		rj_uuid_text(uuid, text));
}

int rj_volume_find_journal(const struct rj_volume *v, const char *hint,
	char **path, struct rj_error *err)
{
	char text[RJ_UUID_TEXT];
	int rc;

	*path = NULL;
	if (hint) {
		*path = strdup(hint);
		return *path ? 0 : rj_fail(err, RJ_E_NOMEM, "out of memory");
	}
	rc = rj_journal_find(v->facts.journal_uuid, v->facts.block_size,
		v->facts.journal_device, NULL, path, err);
	if (rc != -RJ_E_NOTFOUND)
		return rc ? rj_fail_prefix(err, "%s", v->path) : 0;
	return rj_fail(err, RJ_E_NOTFOUND,
		"%s: its external journal %s is on no device of this machine; name it with -J device=",
		v->path, rj_uuid_text(v->facts.journal_uuid, text));
}

int rj_journal_device_unused(const char *path, struct rj_error *err)
{
	return rj_ext4_check_unused(path, err);
}

/* struct mmp_struct of ext2_fs.h; ext4_multi_mount_protect() */
int rj_volume_check_mmp(struct rj_volume *v, struct rj_error *err)
{
	uint64_t at = rj_get_le64(SB_AT(v->super, s_mmp_block));
	struct mmp_struct mmp;
	int rc;

	if (!(SB_LE32(v->super, s_feature_incompat) &
		    EXT4_FEATURE_INCOMPAT_MMP) ||
		!at)
		return 0;
	rc = v->bio.read(&v->bio, &mmp, sizeof(mmp), at * v->facts.block_size,
		err);
	if (rc)
		return rc;
	if (rj_get_le32((uint8_t *)&mmp.mmp_magic) != EXT4_MMP_MAGIC)
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: its MMP block is damaged; run e2fsck -f", v->path);
	if (rj_get_le32((uint8_t *)&mmp.mmp_seq) == EXT4_MMP_SEQ_CLEAN)
		return 0;
	return rj_fail(err, RJ_E_BUSY,
		"%s: multi-mount protection says that it is in use on host %.64s; unmount it there, or if that host is gone: tune2fs -f -E clear_mmp",
		v->path, (char *)mmp.mmp_nodename);
}
