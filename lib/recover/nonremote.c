// SPDX-License-Identifier: LGPL-2.1-or-later
/* Journals that are not remote: inside the volume, or on a device. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ext4/journal.h"
#include "os/fileio.h"
#include "os/rundir.h"
#include "recover/session.h"
#include "util/environ.h"

#define SAVE_BYTES (1u << 20)

static int open_device(struct rj_recovery *r, struct rj_volume *volume,
	bool write, struct rj_error *err)
{
	uint8_t raw[1024];
	struct stat st;
	int rc, flags = write ? O_RDWR : O_RDONLY;

	if (!r->device_path) {
		rc = rj_volume_find_journal(volume, r->opts->journal_device,
			&r->device_path, err);
		if (rc)
			return rc;
	}
	snprintf(r->report->url, sizeof(r->report->url), "%s", r->device_path);
	/* shuts out a mount, or another recovery, of any volume that uses it */
	if (write && !stat(r->device_path, &st) && S_ISBLK(st.st_mode))
		flags |= O_EXCL;
	r->device_fd = open(r->device_path, flags | O_CLOEXEC);
	/* not RJ_E_DENIED, for which a log is taken as lost */
	if (flags & O_EXCL && rj_device_read_only(r->device_fd, errno))
		return rj_fail(err, RJ_E_REFUSED,
			"%s: the journal is on a read-only device: name a writable copy of it with -J device=",
			r->device_path);
	if (write && r->device_fd < 0 &&
		(errno == EROFS || errno == EACCES || errno == EPERM))
		return rj_fail(err, RJ_E_REFUSED,
			"%s: cannot open the journal for writing: %s",
			r->device_path, strerror(errno));
	if (r->device_fd < 0)
		return rj_fail_errno(err, errno, "%s: cannot open the journal",
			r->device_path);
	if (write)
		rj_take_old_error(r->device_fd, r->device_path);
	rc = rj_pread_all(
		r->device_fd, raw, sizeof(raw), 1024, r->device_path, err);
	if (!rc)
		rc = rj_journal_device_check(raw, r->facts.block_size,
			r->facts.journal_uuid, r->device_path, err);
	if (rc)
		return rc;
	r->log_bio = rj_bio_new_fd(r->device_fd, r->device_path, err);
	r->sb_block = rj_jbd2_device_sb_block(r->facts.block_size);
	if (!r->log_bio)
		return -(int)err->code;
	rj_bio_use_direct(r->log_bio);
	return 0;
}

int rj_recovery_open_nonremote(struct rj_recovery *r, struct rj_volume *volume,
	bool write, struct rj_error *err)
{
	if (r->report->placement == RJ_PLACE_DEVICE)
		return open_device(r, volume, write, err);
	snprintf(r->report->url, sizeof(r->report->url),
		"internal journal of %.400s", r->device);
	r->sb_block = 0;
	return rj_volume_journal_bio(volume, &r->log_bio, err);
}

int rj_recovery_close_nonremote(struct rj_recovery *r, struct rj_error *err)
{
	rj_bio_free(r->log_bio);
	r->log_bio = NULL;
	return rj_close(&r->device_fd, r->report->url, err);
}

/* The volume's undo file does not cover the journal device: one of its own,
 * or undoing the volume would leave it with a log that is gone. */
static int write_undo(struct rj_recovery *r, const uint8_t *raw, uint64_t at,
	struct rj_error *err)
{
	char path[4096];
	int rc;

	if ((size_t)snprintf(path, sizeof(path), "%s.journal",
		    r->opts->undo_file) >= sizeof(path))
		return rj_fail(err, RJ_E_INVAL, "%s: too long",
			r->opts->undo_file);
	rc = rj_journal_device_write_undo(
		r->device_path, path, raw, RJ_JBD2_SB_BYTES, at, err);
	if (!rc)
		rj_recovery_say(r,
			"to undo it, run e2undo for the journal device too: e2undo %s %s",
			path, r->device_path);
	return rc;
}

int rj_recovery_empty_nonremote(struct rj_recovery *r, struct rj_error *err)
{
	uint64_t at = r->sb_block * r->facts.block_size;
	uint8_t raw[RJ_JBD2_SB_BYTES];
	int rc;

	rc = r->log_bio->read(r->log_bio, raw, sizeof(raw), at, err);
	if (!rc)
		rc = rj_jbd2_sb_make_empty(raw, r->report->plan.next_tid, err);
	if (!rc && r->report->placement == RJ_PLACE_DEVICE &&
		r->opts->undo_file)
		rc = write_undo(r, raw, at, err);
	else if (!rc)
		rc = r->log_bio->write(r->log_bio, raw, sizeof(raw), at, err);
	if (!rc)
		rc = r->log_bio->flush(r->log_bio, err);
	if (rc)
		rj_fail_prefix(err, "%s: cannot be marked empty",
			r->report->url);
	return rc;
}

static int copy_log(
	struct rj_recovery *r, int fd, const char *path, struct rj_error *err)
{
	uint8_t *buf = malloc(SAVE_BYTES);
	uint64_t off = 0, n;
	int rc = 0;

	if (!buf)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	for (; !rc && off < r->log_bio->size_bytes; off += n) {
		n = r->log_bio->size_bytes - off;
		if (n > SAVE_BYTES)
			n = SAVE_BYTES;
		rc = r->log_bio->read(r->log_bio, buf, n, off, err);
		if (!rc)
			rc = rj_pwrite_all(fd, buf, n, off, path, err);
	}
	free(buf);
	return rc ? rc : rj_fsync(fd, path, err);
}

int rj_recovery_save_nonremote(struct rj_recovery *r, struct rj_error *err)
{
	const char *dir = rj_state_dir();
	char uuid[RJ_UUID_TEXT], path[4096];
	int fd, rc;

	if (mkdir(dir, 0700) && errno != EEXIST)
		return rj_fail_errno(err, errno, "%s: cannot make it", dir);
	if ((size_t)snprintf(path, sizeof(path), "%s/%s-%lld.journal", dir,
		    rj_uuid_text(r->facts.uuid, uuid),
		    (long long)(rj_realtime_ns() / 1000000000)) >= sizeof(path))
		return rj_fail(err, RJ_E_INVAL, "%s: too long", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return rj_fail_errno(err, errno,
			"%s: cannot keep a copy of the log there", path);
	rc = copy_log(r, fd, path, err);
	if (rc)
		rj_close(&fd, path, NULL);
	else
		rc = rj_close(&fd, path, err);
	if (!rc)
		rc = rj_fsync_dir(dir, err);
	if (!rc)
		rj_recovery_say(r, "the log as it is was saved as %s", path);
	return rc;
}

int rj_recovery_close(struct rj_recovery *r, struct rj_volume *v, int rc,
	struct rj_error *err)
{
	struct rj_error later;
	int rc2;

	/* a ring stays for the report; and an internal log is read through V */
	rc2 = r->ring ? 0 : rj_recovery_close_nonremote(r, &later);
	if (rc2 && !rc) {
		rc = rc2;
		*err = later;
	}
	rc2 = rj_volume_close(v, &later);
	if (rc2 && !rc) {
		rc = rc2;
		*err = later;
	}
	return rc;
}
