// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Write to a journal device so that e2undo(8) can undo it. e2fsck -z records only
 * the volume: after an undo there, the log on the device is empty and lost.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "ext4/ext4-priv.h"
#include "ext4/journal.h"
#include "os/fileio.h"

#define UNDO_RECORD "tdb_data_size=4096"

static int fail(struct rj_error *err, errcode_t e, const char *path,
	const char *undo_file)
{
	return rj_ext4_fail(err, RJ_E_IO, e,
		"%s: cannot be written with %s as its undo file", path,
		undo_file);
}

/* The record must be on disk before what it records is overwritten. */
static int sync_file(const char *path, struct rj_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return rj_fail_errno(err, errno, "%s: cannot open", path);
	rc = rj_fsync(fd, path, err);
	close(fd); /* read-only */
	return rc;
}

int rj_journal_device_write_undo(const char *path, const char *undo_file,
	const void *data, uint32_t len, uint64_t off, struct rj_error *err)
{
	io_channel io = NULL;
	errcode_t e, e2;

	if (set_undo_io_backing_manager(unix_io_manager) ||
		set_undo_io_backup_file((char *)undo_file))
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", undo_file);
	/* no IO_FLAG_EXCLUSIVE: the caller holds the device already */
	e = undo_io_manager->open(path, IO_FLAG_RW, &io);
	if (e)
		return fail(err, e, path, undo_file);
	/* with the cache on nothing reaches the device before the flush */
	e = io_channel_set_options(io, UNDO_RECORD);
	if (!e)
		e = io_channel_set_blksize(io, 1024);
	if (!e)
		e = io_channel_write_blk64(io, off / 1024, -(int)len, data);
	if (!e)
		e = sync_file(undo_file, err) ? EIO : 0;
	if (!e)
		e = io_channel_flush(io);
	e2 = io_channel_close(io);
	return e || e2 ? fail(err, e ? e : e2, path, undo_file)
		       : sync_file(undo_file, err);
}
