// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * External journal devices. On a shared one (several users) no other volume's
 * entry is ever touched: an entry is found by its UUID, not by its place.
 */
#include "journal/device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ext4/journal.h"
#include "os/fileio.h"
#include "util/bytes.h"

#define SUPER_AT   1024 /* bytes: the ext2 superblock of a journal device */
#define USERS_MAX  48
#define MIN_LOG	   1024 /* blocks after the superblocks: JBD2_MIN_JOURNAL_BLOCKS */
#define MAX_BLOCKS 10240000

static uint64_t sb_at(const struct rj_jdev *d)
{
	return (uint64_t)rj_jbd2_device_sb_block(d->block_size) * d->block_size;
}

static int open_file(struct rj_jdev *d, bool write,
	const struct rj_move_opts *opts, struct rj_error *err)
{
	int flags = write ? O_RDWR : O_RDONLY, rc;
	struct stat st;

	if (stat(d->path, &st))
		return rj_fail_errno(err, errno, "%s: cannot open", d->path);
	if (!S_ISBLK(st.st_mode) &&
		!(S_ISREG(st.st_mode) && opts->allow_files))
		return rj_fail(
			err, RJ_E_INVAL, "%s: not a block device", d->path);
	/* no number of a device: the kernel asks for journal_path= */
	d->number = S_ISBLK(st.st_mode) ? rj_journal_device_number(st.st_rdev)
					: RJ_JOURNAL_DEVICE_REMOTE - 1;
	if (write && S_ISBLK(st.st_mode)) {
		rc = rj_journal_device_unused(d->path, err);
		if (rc)
			return rc;
		flags |= O_EXCL;
	}
	d->fd = open(d->path, flags | O_CLOEXEC);
	if (d->fd < 0 && errno == EBUSY)
		return rj_fail(err, RJ_E_BUSY,
			"%s: in use: by a mounted volume whose journal it is, or another program",
			d->path);
	if (flags & O_EXCL && rj_device_read_only(d->fd, errno))
		return rj_fail(err, RJ_E_DENIED,
			"%s: a read-only device: use a writable one, or a writable copy of it",
			d->path);
	if (d->fd < 0)
		return rj_fail_errno(err, errno, "%s: cannot open%s", d->path,
			write ? " for writing" : "");
	if (write)
		rj_take_old_error(d->fd, d->path);
	return 0;
}

static int open_bio(struct rj_jdev *d, const struct rj_move_opts *opts,
	struct rj_error *err)
{
	const struct rj_bio_tap *tap = NULL;

	d->bio = rj_bio_new_fd(d->fd, d->path, err);
	if (!d->bio)
		return err ? -(int)err->code : -RJ_E_NOMEM;
	if (opts->hooks.device)
		tap = opts->hooks.device(opts->hooks.arg, d->path);
	if (tap)
		d->bio = rj_bio_new_tap(d->bio, tap);
	return d->bio ? 0
		      : rj_fail(err, RJ_E_NOMEM, "%s: out of memory", d->path);
}

/* What is on it? */
static int look(struct rj_jdev *d, struct rj_error *err)
{
	uint8_t raw[1024], jsb[RJ_JBD2_SB_BYTES];
	int rc;

	if (d->bio->size_bytes < sb_at(d) + d->block_size)
		return rj_fail(err, RJ_E_INVAL,
			"%s: too short for a journal", d->path);
	rc = d->bio->read(d->bio, raw, sizeof(raw), SUPER_AT, err);
	if (rc)
		return rc;
	if (!rj_journal_device_uuid(raw, d->uuid)) {
		d->blank = true;
		return rj_check_blank(d->fd, d->path, err);
	}
	rc = rj_journal_device_check(
		raw, d->block_size, d->uuid, d->path, err);
	if (!rc)
		rc = d->bio->read(d->bio, jsb, sizeof(jsb), sb_at(d), err);
	if (rc)
		return rc;
	/* for the caller to judge: see rj_jdev_check_*() */
	d->half_made = rj_get_be32(jsb) != RJ_JBD2_MAGIC;
	if (d->half_made)
		return 0;
	rc = rj_jbd2_sb_decode(jsb, &d->sb, err);
	if (rc)
		return rj_fail_prefix(err, "%s", d->path);
	if (d->sb.block_size != d->block_size ||
		(uint64_t)d->sb.maxlen * d->block_size > d->bio->size_bytes)
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: its journal superblock says %u blocks of %u bytes, which the device has not",
			d->path, d->sb.maxlen, d->sb.block_size);
	return 0;
}

int rj_jdev_open(struct rj_jdev *d, const char *path, uint32_t block_size,
	bool write, const struct rj_move_opts *opts, struct rj_error *err)
{
	int rc;

	memset(d, 0, sizeof(*d));
	d->fd = -1;
	d->block_size = block_size;
	d->path = strdup(path);
	if (!d->path)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", path);
	rc = open_file(d, write, opts, err);
	if (!rc)
		rc = open_bio(d, opts, err);
	return rc ? rc : look(d, err);
}

int rj_jdev_close(struct rj_jdev *d, struct rj_error *err)
{
	int rc = 0;

	rj_bio_free(d->bio);
	d->bio = NULL;
	if (d->path)
		rc = rj_close(&d->fd, d->path, err);
	free(d->path);
	d->path = NULL;
	return rc;
}

static int find_user(const struct rj_jdev *d, const uint8_t *uuid)
{
	uint32_t i;

	for (i = 0; i < d->sb.nr_users; i++)
		if (rj_uuid_equal(d->sb.users[i], uuid))
			return (int)i;
	return -1;
}

static int check_whole(const struct rj_jdev *d, struct rj_error *err)
{
	if (d->half_made)
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: a journal device without a journal superblock; wipefs -a makes it blank",
			d->path);
	if (d->sb.start)
		return rj_fail(err, RJ_E_REFUSED,
			"%s: its log is not empty: the volume that it belongs to must be recovered first",
			d->path);
	return 0;
}

/* journal_reset() of the kernel: BLOCKS, and the log begins with block FIRST. */
static int check_length(const struct rj_jdev *d, uint32_t blocks,
	uint32_t first, struct rj_error *err)
{
	if (blocks >= first + MIN_LOG - 1)
		return 0;
	return rj_fail(err, RJ_E_INVAL,
		"%s: has space for %u blocks of %u bytes; a journal needs %u",
		d->path, blocks, d->block_size, first + MIN_LOG - 1);
}

int rj_jdev_check_free(const struct rj_jdev *d,
	const uint8_t volume[RJ_UUID_BYTES], struct rj_error *err)
{
	char text[RJ_UUID_TEXT];
	uint32_t i;
	int rc;

	if (d->blank)
		return check_length(d, rj_jdev_space(d),
			rj_jbd2_device_sb_block(d->block_size) + 1, err);
	rc = check_whole(d, err);
	if (!rc)
		rc = check_length(d, d->sb.maxlen, d->sb.first, err);
	if (rc)
		return rc;
	/* the kernel mounts no volume whose journal has more than one user */
	for (i = 0; i < d->sb.nr_users; i++)
		if (!rj_uuid_equal(d->sb.users[i], volume))
			return rj_fail(err, RJ_E_REFUSED,
				"%s: is the journal of another volume (%s)",
				d->path, rj_uuid_text(d->sb.users[i], text));
	return 0;
}

int rj_jdev_check_mine(const struct rj_jdev *d,
	const uint8_t volume[RJ_UUID_BYTES], struct rj_error *err)
{
	char text[RJ_UUID_TEXT];
	int rc = check_whole(d, err);

	if (!rc && find_user(d, volume) < 0)
		rc = rj_fail(err, RJ_E_FOREIGN,
			"%s: the journal does not have this volume (%s) as its user",
			d->path, rj_uuid_text(volume, text));
	return rc;
}

uint32_t rj_jdev_space(const struct rj_jdev *d)
{
	uint64_t blocks = d->bio->size_bytes / d->block_size;

	return blocks < MAX_BLOCKS ? (uint32_t)blocks : MAX_BLOCKS;
}

int rj_jdev_format(struct rj_jdev *d, const uint8_t uuid[RJ_UUID_BYTES],
	const uint8_t user[RJ_UUID_BYTES], uint32_t fc_blocks,
	struct rj_error *err)
{
	uint32_t blocks = rj_jdev_space(d);
	uint8_t super[1024], jsb[RJ_JBD2_SB_BYTES];
	int rc = 0;

	rj_journal_device_super(super, d->block_size, blocks, uuid);
	rj_jbd2_sb_format_external(jsb, d->block_size, blocks, uuid, user, 1);
	if (fc_blocks)
		rc = rj_jbd2_sb_set_fast_commit(jsb, fc_blocks, err);
	/* an older log here must not be taken for the new one's continuation */
	if (!rc)
		rc = rj_bio_zero(d->bio, (uint64_t)blocks * d->block_size, 0,
			err);
	if (!rc)
		rc = d->bio->write(d->bio, jsb, sizeof(jsb), sb_at(d), err);
	if (!rc)
		rc = d->bio->write(
			d->bio, super, sizeof(super), SUPER_AT, err);
	if (!rc)
		rc = d->bio->flush(d->bio, err);
	if (!rc)
		rc = rj_jbd2_sb_decode(jsb, &d->sb, err);
	if (rc)
		return rc;
	memcpy(d->uuid, uuid, RJ_UUID_BYTES);
	d->blank = false;
	return 0;
}

int rj_jdev_wipe(struct rj_jdev *d, struct rj_error *err)
{
	uint64_t len = sb_at(d) + d->block_size;
	uint8_t *zeros = calloc(1, len);
	int rc;

	if (!zeros)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", d->path);
	rc = d->bio->write(d->bio, zeros, len, 0, err);
	free(zeros);
	return rc ? rc : d->bio->flush(d->bio, err);
}

int rj_jdev_change_user(struct rj_jdev *d, const uint8_t *old,
	const uint8_t *new, struct rj_error *err)
{
	uint8_t users[USERS_MAX][RJ_UUID_BYTES], raw[RJ_JBD2_SB_BYTES];
	uint32_t count = d->sb.nr_users;
	int at = old ? find_user(d, old) : -1, rc;

	if (new && find_user(d, new) >= 0)
		new = NULL;
	if (at < 0 && !new)
		return 0;
	memcpy(users, d->sb.users, sizeof(users));
	if (at >= 0 && new) {
		memcpy(users[at], new, RJ_UUID_BYTES);
	} else if (at >= 0) {
		memmove(users[at], users[at + 1],
			(count - (uint32_t)at - 1) * RJ_UUID_BYTES);
		count--;
	} else if (count < USERS_MAX) {
		memcpy(users[count++], new, RJ_UUID_BYTES);
	} else {
		return rj_fail(err, RJ_E_NOSPACE,
			"%s: has %u users, which is the most", d->path, count);
	}
	rc = d->bio->read(d->bio, raw, sizeof(raw), sb_at(d), err);
	if (!rc)
		rc = rj_jbd2_sb_set_users(raw, users, count, err);
	if (!rc)
		rc = d->bio->write(d->bio, raw, sizeof(raw), sb_at(d), err);
	if (!rc)
		rc = d->bio->flush(d->bio, err);
	if (!rc)
		rc = rj_jbd2_sb_decode(raw, &d->sb, err);
	return rc;
}
