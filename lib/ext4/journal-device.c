// SPDX-License-Identifier: LGPL-2.1-or-later
/* Find and judge an external journal device. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <blkid/blkid.h>

#include "ext4/ext4-priv.h"
#include "ext4/journal.h"
#include "format/fallback-hdr.h"
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

/* udev's link: no other device need be read. */
static char *by_link(const uint8_t uuid[RJ_UUID_BYTES], uint32_t block_size)
{
	char text[RJ_UUID_TEXT], link[64 + RJ_UUID_TEXT], *path;

	snprintf(link, sizeof(link), "/dev/disk/by-uuid/%s",
		rj_uuid_text(uuid, text));
	path = realpath(link, NULL);
	if (path && is_journal(path, uuid, block_size))
		return path;
	free(path);
	return NULL;
}

/* A cache file may name devices that are gone, and is not ours to write. */
static char *by_scan(const uint8_t uuid[RJ_UUID_BYTES], uint32_t block_size)
{
	char text[RJ_UUID_TEXT], *path = NULL;
	blkid_cache cache = NULL;
	blkid_dev dev;

	if (blkid_get_cache(&cache, "/dev/null") < 0)
		return NULL;
	dev = blkid_find_dev_with_tag(
		cache, "UUID", rj_uuid_text(uuid, text));
	if (!dev && !blkid_probe_all(cache))
		dev = blkid_find_dev_with_tag(cache, "UUID", text);
	if (dev && is_journal(blkid_dev_devname(dev), uuid, block_size))
		path = strdup(blkid_dev_devname(dev));
	blkid_put_cache(cache);
	return path;
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

static char *by_number(uint32_t dev, const uint8_t uuid[RJ_UUID_BYTES],
	uint32_t block_size)
{
	unsigned maj = (dev & 0xfff00) >> 8; /* new_decode_dev() */
	unsigned min = (dev & 0xff) | ((dev >> 12) & 0xfff00);
	char link[64], *path;

	if (!maj)
		return NULL;
	snprintf(link, sizeof(link), "/dev/block/%u:%u", maj, min);
	path = realpath(link, NULL);
	if (path && is_journal(path, uuid, block_size))
		return path;
	free(path);
	return NULL;
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
	char text[RJ_UUID_TEXT];

	*path = by_hint(hints, uuid, block_size);
	if (!*path)
		*path = by_number(number, uuid, block_size);
	if (!*path)
		*path = by_link(uuid, block_size);
	if (!*path)
		*path = by_scan(uuid, block_size);
	if (*path)
		return 0;
	return rj_fail(err, RJ_E_NOTFOUND,
		"external journal %s is on no device of this machine",
		rj_uuid_text(uuid, text));
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
	if (!rj_journal_find(v->facts.journal_uuid, v->facts.block_size,
		    v->facts.journal_device, NULL, path, err))
		return 0;
	return rj_fail(err, RJ_E_NOTFOUND,
		"%s: its external journal %s is on no device of this machine; name it with -J device=",
		v->path, rj_uuid_text(v->facts.journal_uuid, text));
}

int rj_journal_device_unused(const char *path, struct rj_error *err)
{
	return rj_ext4_check_unused(path, err);
}

int rj_check_no_fallback(int fd, const char *path, struct rj_error *err)
{
	uint8_t raw[RJ_FALLBACK_AREA] = {0}; /* a shorter file ends with zeros */
	char volume[RJ_UUID_TEXT] = "unknown";
	struct rj_fallback_header h;
	uint32_t at;

	if (pread(fd, raw, sizeof(raw), 0) < 0)
		return rj_fail_errno(err, errno, "%s: cannot read what is on it", path);
	if (!rj_fallback_is_here(raw))
		return 0;
	for (at = 0; at < RJ_FALLBACK_AREA; at += RJ_FALLBACK_ALIGN)
		if (!rj_fallback_header_decode(raw + at, &h, NULL))
			rj_uuid_text(h.volume_uuid, volume);
	return rj_fail(err, RJ_E_EXISTS,
		"%s: is the fallback of a volume (%s), and may have segments that are nowhere else: if they may go, dd if=/dev/zero of=%s bs=4096 count=2 removes it",
		path, volume, path);
}

/* What wipefs would find; its name into WHAT. More than one thing counts as one, too. */
static bool found(blkid_probe probe, char *what, size_t size)
{
	const char *name = NULL;
	int rc;

	blkid_probe_enable_superblocks(probe, 1);
	blkid_probe_enable_partitions(probe, 1);
	rc = blkid_do_safeprobe(probe);
	if (rc == 1)
		return false;
	if (rc || (blkid_probe_lookup_value(probe, "TYPE", &name, NULL) &&
			  blkid_probe_lookup_value(probe, "PTTYPE", &name, NULL)))
		name = "data of some kind";
	snprintf(what, size, "%s", name);
	return true;
}

int rj_check_blank(int fd, const char *path, struct rj_error *err)
{
	blkid_probe probe = blkid_new_probe();
	char what[64];
	int rc;

	if (!probe || blkid_probe_set_device(probe, fd, 0, 0))
		rc = rj_fail(err, RJ_E_IO, "%s: cannot be looked at by libblkid", path);
	else if (found(probe, what, sizeof(what)))
		rc = rj_fail(err, RJ_E_EXISTS,
			"%s: holds %s: if that may go, wipefs -a %s removes it", path, what, path);
	else
		rc = rj_check_no_fallback(fd, path, err);
	blkid_free_probe(probe);
	return rc;
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
