// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read and write the blocks of a volume. Without an undo file: plain reads and writes
 * on the open file. With one: writes go through libext2fs's undo channel, which saves
 * the old bytes first. The channel's own write-back cache is off, so that reads of the
 * file see in the page cache what the channel wrote.
 */
#include "ext4/ext4-priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/fileio.h"

#define UNDO_CHUNK  (1u << 20) /* bytes in one call: its counts are int */
#define UNDO_RECORD 32768u     /* bytes saved at a time, as mke2fs -z does */

static int check_range(
	struct rj_volume *v, size_t len, uint64_t off, struct rj_error *err)
{
	if (off > v->bio.size_bytes || len > v->bio.size_bytes - off)
		return rj_fail(err, RJ_E_INVAL,
			"%s: %zu bytes at byte %llu reach past the device's end at %llu",
			v->path, len, (unsigned long long)off,
			(unsigned long long)v->bio.size_bytes);
	return 0;
}

static int volume_read(struct rj_bio *bio, void *out, size_t len, uint64_t off,
	struct rj_error *err)
{
	struct rj_volume *v = (struct rj_volume *)bio;
	int rc = check_range(v, len, off, err);

	if (rc || rj_direct_read(&v->direct, v->fd, out, len, off))
		return rc;
	return rj_pread_all(v->fd, out, len, off, v->path, err);
}

static int undo_write(struct rj_volume *v, const uint8_t *data, size_t len,
	uint64_t off, struct rj_error *err)
{
	uint32_t bs = v->facts.block_size;
	size_t n;
	errcode_t e;

	v->undo_used = true;
	for (; len; data += n, off += n, len -= n) {
		n = len < UNDO_CHUNK ? len : UNDO_CHUNK;
		/* Each of the two is one write(2) of n bytes: a superblock
		 * stays one write. A negative count is in bytes. */
		if (off % bs)
			e = io_channel_write_byte(v->undo, off, (int)n, data);
		else
			e = io_channel_write_blk64(
				v->undo, off / bs, -(int)n, data);
		if (e)
			return rj_ext4_fail(err, RJ_E_IO, e,
				"%s: cannot write %zu bytes at byte %llu (undo "
				"file %s)",
				v->path, n, (unsigned long long)off,
				v->undo_path);
	}
	return 0;
}

static int volume_write(struct rj_bio *bio, const void *data, size_t len,
	uint64_t off, struct rj_error *err)
{
	struct rj_volume *v = (struct rj_volume *)bio;
	int rc = check_range(v, len, off, err);

	if (!rc && v->tap)
		rc = v->tap->write(v->tap->arg, data, len, off, err);
	if (rc)
		return rc;
	v->dirty = true;
	if (v->undo)
		return undo_write(v, data, len, off, err);
	return rj_pwrite_all(v->fd, data, len, off, v->path, err);
}

static int volume_writev(struct rj_bio *bio, const struct iovec *iov, int count,
	uint64_t off, struct rj_error *err)
{
	struct rj_volume *v = (struct rj_volume *)bio;
	size_t len = 0;
	int rc, i;

	for (i = 0; i < count; i++)
		len += iov[i].iov_len;
	rc = check_range(v, len, off, err);
	if (rc)
		return rc;
	v->dirty = true;
	if (!v->undo && !v->tap &&
		rj_direct_writev(&v->direct, v->fd, iov, count, off))
		return 0;
	for (i = 0; !rc && i < count; off += iov[i++].iov_len)
		rc = volume_write(
			bio, iov[i].iov_base, iov[i].iov_len, off, err);
	return rc;
}

static size_t volume_locate(struct rj_bio *bio, bool write, size_t len,
	uint64_t off, int *fd, uint64_t *at)
{
	struct rj_volume *v = (struct rj_volume *)bio;

	if ((write && (v->undo || v->tap)) ||
		check_range(v, len, off, NULL))
		return 0;
	*fd = rj_direct_fd(&v->direct, v->fd);
	if (*fd < 0)
		return 0;
	v->dirty |= write;
	*at = off;
	return len;
}

static int volume_flush(struct rj_bio *bio, struct rj_error *err)
{
	struct rj_volume *v = (struct rj_volume *)bio;
	int rc;

	rc = v->tap ? v->tap->flush(v->tap->arg, err) : 0;
	if (rc)
		return rc;
	if (v->undo_used) {
		rc = rj_fsync(v->undo_fd, v->undo_path, err);
		if (rc)
			return rc;
	}
	rc = rj_fsync(v->fd, v->path, err);
	if (!rc)
		v->dirty = false;
	return rc;
}

static int volume_zero(
	struct rj_bio *bio, uint64_t len, uint64_t off, struct rj_error *err)
{
	struct rj_volume *v = (struct rj_volume *)bio;
	int rc = check_range(v, (size_t)len, off, err);

	if (!rc && v->tap)
		rc = v->tap->write(v->tap->arg, NULL, len, off, err);
	if (rc)
		return rc;
	v->dirty = true;
	return rj_fd_zero(v->fd, len, off, v->path, err);
}

void rj_volume_set_tap(struct rj_volume *v, const struct rj_bio_tap *tap)
{
	v->tap = tap;
}

static void volume_free(struct rj_bio *bio)
{
	/* part of struct rj_volume: rj_volume_close() ends it */
}

static int open_undo(struct rj_volume *v, struct rj_error *err)
{
	char option[40];
	struct stat st;
	errcode_t e;

	v->undo_fresh = stat(v->undo_path, &st) || st.st_size == 0;
	if (set_undo_io_backing_manager(unix_io_manager) ||
		set_undo_io_backup_file(v->undo_path))
		return rj_fail(
			err, RJ_E_NOMEM, "%s: out of memory", v->undo_path);
	/* no IO_FLAG_EXCLUSIVE: v->fd holds the device already */
	e = undo_io_manager->open(v->path, IO_FLAG_RW, &v->undo);
	if (e) {
		v->undo = NULL;
		return rj_ext4_fail(err, RJ_E_IO, e,
			"%s: cannot be used as undo file for %s", v->undo_path,
			v->path);
	}
	snprintf(option, sizeof(option), "tdb_data_size=%u",
		v->facts.block_size < 8192 ? UNDO_RECORD
					   : v->facts.block_size * 8);
	e = io_channel_set_options(v->undo, "cache=off");
	if (!e)
		e = io_channel_set_options(v->undo, option);
	/* Records are counted in blocks of this size, so it must stay the same
	 * for the whole file; e2fsck -z uses the volume's too. */
	if (!e)
		e = io_channel_set_blksize(v->undo, (int)v->facts.block_size);
	if (e)
		return rj_ext4_fail(err, RJ_E_IO, e,
			"%s: cannot set up the undo file", v->undo_path);
	v->undo_fd = open(v->undo_path, O_RDONLY | O_CLOEXEC);
	if (v->undo_fd < 0)
		return rj_fail_errno(
			err, errno, "%s: cannot open", v->undo_path);
	return 0;
}

int rj_ext4_io_open(
	struct rj_volume *v, const char *undo_file, struct rj_error *err)
{
	snprintf(v->bio.name, sizeof(v->bio.name), "%s", v->path);
	v->bio.read = volume_read;
	v->bio.locate = volume_locate;
	v->bio.free = volume_free;
	if (!(v->flags & RJ_VOLUME_WRITE))
		return 0;
	v->bio.write = volume_write;
	v->bio.writev = volume_writev;
	v->bio.flush = volume_flush;
	/* what is not zero yet must go into an undo file piece by piece */
	if (!undo_file) {
		v->bio.zero = volume_zero;
		return 0;
	}
	v->undo_path = strdup(undo_file);
	if (!v->undo_path)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", v->path);
	return open_undo(v, err);
}

int rj_ext4_io_close(struct rj_volume *v, struct rj_error *err)
{
	int rc = 0;
	errcode_t e;

	if (v->dirty)
		rc = volume_flush(&v->bio, err);
	if (v->undo) {
		e = io_channel_close(v->undo);
		v->undo = NULL;
		if (e && !rc)
			rc = rj_ext4_fail(err, RJ_E_IO, e,
				"%s: cannot finish the undo file",
				v->undo_path);
		/* e2undo takes a file without records for damaged */
		if (v->undo_fresh && !v->undo_used)
			unlink(v->undo_path);
	}
	if (v->undo_fd >= 0)
		close(v->undo_fd); /* read-only handle, kept for fsync */
	return rc;
}
