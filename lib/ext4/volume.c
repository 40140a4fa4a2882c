// SPDX-License-Identifier: LGPL-2.1-or-later
/* Open a volume, and read its facts from the superblock and its extension. */
#include "ext4/ext4-priv.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <et/com_err.h>

#include "ext4/journal.h"
#include "os/fileio.h"
#include "util/environ.h"

#define LOOKS	      20
#define LOOK_AGAIN_NS 100000000LL

/*
 * A device may be held for an instant by a program that only looks: losetup(8),
 * say, tries for a number that was just taken, and the kernel claims the device
 * before it says so; or by a mount that was taken from the list and is not gone
 * yet, on a busy machine for a second. What is held for longer is in use.
 */
static errcode_t look_for_users(
	const char *path, int *flags, char *where, int where_bytes)
{
	errcode_t e;
	int looks;

	for (looks = 0; looks < LOOKS; looks++) {
		if (looks)
			rj_sleep_ns(LOOK_AGAIN_NS);
		*flags = 0;
		e = ext2fs_check_mount_point(path, flags, where, where_bytes);
		if (e || !(*flags & EXT2_MF_BUSY) ||
			(*flags & (EXT2_MF_SWAP | EXT2_MF_MOUNTED)))
			break;
	}
	return e;
}

int rj_ext4_check_unused(const char *path, struct rj_error *err)
{
	char where[256] = "";
	int flags = 0;
	errcode_t e;

	e = look_for_users(path, &flags, where, sizeof(where));
	if (e)
		return rj_ext4_fail(err, RJ_E_IO, e,
			"%s: cannot find out whether it is mounted", path);
	if (flags & EXT2_MF_SWAP)
		return rj_fail(err, RJ_E_BUSY,
			"%s: in use as swap space; swapoff it first", path);
	if (flags & EXT2_MF_MOUNTED)
		return rj_fail(err, RJ_E_BUSY,
			"%s: mounted%s%s; unmount it first", path,
			where[0] ? " on " : "", where);
	if (flags & EXT2_MF_BUSY)
		return rj_fail(err, RJ_E_BUSY,
			"%s: in use by the system (a mount, RAID, device mapper, or rjbackup base)",
			path);
	return 0;
}

/* Without a magic number: a stale line of fstab, or the number of another disk. What backups an
 * earlier volume left there is nothing to go on with. */
static int check_other_format(const struct rj_volume *v, struct rj_error *err)
{
	char what[64];

	if (rj_ext4_has_magic(v) || !rj_device_other_format(v->fd, what, sizeof(what)))
		return 0;
	return rj_fail(err, RJ_E_INVAL,
		"%s: holds %s, and no ext3 or ext4 volume; is it the right device? (if an ext3 or ext4 volume was there, and the %s may go: wipefs -a --backup %s first)",
		v->path, what, what, v->path);
}

/* Fill v->super, v->facts, v->backups and the bio's size from the volume. */
static int load(struct rj_volume *v, struct rj_error *err)
{
	uint64_t device_bytes, fits;
	struct rj_error why;
	int rc;

	rc = rj_fd_size(v->fd, v->path, &device_bytes, err);
	if (rc)
		return rc;
	if (device_bytes < RJ_SUPER_OFFSET + RJ_SUPER_BYTES)
		return rj_fail(err, RJ_E_INVAL,
			"%s: too short for a filesystem (%llu bytes)", v->path,
			(unsigned long long)device_bytes);
	rc = rj_pread_all(
		v->fd, v->super, RJ_SUPER_BYTES, RJ_SUPER_OFFSET, v->path, err);
	if (rc)
		return rc;
	rj_ext4_facts_from_super(v);
	v->facts.super = RJ_SUPER_GOOD;
	rc = check_other_format(v, err);
	if (rc)
		return rc;
	rc = rj_ext4_check_super(v, &why);
	if (rc && v->flags & RJ_VOLUME_SALVAGE &&
		(rc == -RJ_E_CORRUPT || !rj_ext4_has_magic(v)))
		rc = rj_ext4_salvage(v, device_bytes, &why);
	else if (!rc && v->flags & RJ_VOLUME_SALVAGE)
		rj_ext4_salvage_extension(v, device_bytes);
	if (rc)
		return rj_fail(err, why.code, "%s", why.msg);
	fits = device_bytes / v->facts.block_size;
	if (v->facts.blocks > fits && !(v->flags & RJ_VOLUME_FORCE))
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: has space for %llu blocks, but its filesystem has "
			"%llu; is the image or partition whole?",
			v->path, (unsigned long long)fits,
			(unsigned long long)v->facts.blocks);
	/* a replay writes beyond the end, too, when a resize was cut off */
	v->facts.space = fits;
	v->bio.size_bytes = fits * v->facts.block_size;
	rc = rj_ext4_find_backups(v, err);
	rj_ext4_find_mark(v);
	return rc ? rc : rj_ext4_check_age(v, err);
}

static int open_file(struct rj_volume *v, struct rj_error *err)
{
	int flags = v->flags & RJ_VOLUME_WRITE ? O_RDWR : O_RDONLY;
	struct stat st;
	int rc;

	if (stat(v->path, &st))
		return rj_fail_errno(err, errno, "%s: cannot open", v->path);
	if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
		return rj_fail(err, RJ_E_INVAL,
			"%s: not a block device or image file", v->path);
	if (v->flags & RJ_VOLUME_WRITE) {
		rc = rj_ext4_check_unused(v->path, err);
		if (rc)
			return rc;
		/* on a block device O_EXCL shuts out mount, swapon, and
		 * every other program that asks for it */
		if (S_ISBLK(st.st_mode))
			flags |= O_EXCL;
	}
	v->fd = open(v->path, flags | O_CLOEXEC);
	if (v->fd < 0 && errno == EBUSY)
		return rj_fail(err, RJ_E_BUSY,
			"%s: another program holds it exclusively", v->path);
	if (flags & O_EXCL && rj_device_read_only(v->fd, errno))
		return rj_fail(err, RJ_E_DENIED,
			"%s: a read-only device: mount -o ro,noload shows what is on it without its journal, and a writable snapshot or copy of it can be recovered",
			v->path);
	if (v->fd < 0)
		return rj_fail_errno(err, errno, "%s: cannot open%s", v->path,
			v->flags & RJ_VOLUME_WRITE ? " for writing" : "");
	if (v->flags & RJ_VOLUME_WRITE)
		rj_take_old_error(v->fd, v->path);
	return 0;
}

int rj_volume_open(const char *path, unsigned flags, const char *undo_file,
	struct rj_volume **out, struct rj_error *err)
{
	struct rj_volume *v = calloc(1, sizeof(*v));
	int rc;

	*out = NULL;
	if (!v)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", path);
	v->fd = v->undo_fd = -1;
	v->direct = RJ_DIRECT_INIT;
	v->flags = flags;
	v->path = strdup(path);
	if (!v->path) {
		rc = rj_fail(err, RJ_E_NOMEM, "%s: out of memory", path);
		goto out;
	}
	if (undo_file && !(flags & RJ_VOLUME_WRITE)) {
		rc = rj_fail(err, RJ_E_INVAL,
			"%s: an undo file needs a volume open for writing",
			path);
		goto out;
	}
	rc = open_file(v, err);
	if (rc)
		goto out;
	rc = load(v, err);
	if (rc)
		goto out;
	rc = rj_ext4_io_open(v, undo_file, err);
out:
	if (rc)
		rj_volume_close(v, NULL);
	else
		*out = v;
	return rc;
}

int rj_volume_reload(struct rj_volume *v, struct rj_error *err)
{
	return load(v, err);
}

int rj_volume_close(struct rj_volume *v, struct rj_error *err)
{
	int rc, rc2;

	if (!v)
		return 0;
	rc = rj_ext4_io_close(v, err);
	rj_direct_close(&v->direct);
	rc2 = rj_close(&v->fd, v->path, rc ? NULL : err);
	free(v->backups);
	free(v->undo_path);
	free(v->path);
	free(v);
	return rc ? rc : rc2;
}

const struct rj_volume_facts *rj_volume_facts(const struct rj_volume *v)
{
	return &v->facts;
}

const char *rj_volume_path(const struct rj_volume *v)
{
	return v->path;
}

struct rj_bio *rj_volume_bio(struct rj_volume *v)
{
	return &v->bio;
}

uint32_t rj_journal_blocks_for(uint64_t volume_blocks)
{
	int n = ext2fs_default_journal_size(volume_blocks);

	return n > 0 ? (uint32_t)n : 0;
}

uint32_t rj_volume_default_journal_blocks(const struct rj_volume *v)
{
	return rj_journal_blocks_for(v->facts.blocks);
}
