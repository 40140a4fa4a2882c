// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history/base/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ext4/renew.h"
#include "os/fileio.h"
#include "os/mountinfo.h"
#include "segment/digest.h"
#include "util/environ.h"

#define SUPER_AT    1024u
#define SUPER_BYTES 1024u
#define HEAD        4096u /* of the device: the superblock is in it, however it is read */
#define LOOKS    50
#define ZEROOUT_LOOKS 25
#define LOOK_NS  100000000LL

static int open_dir(struct rj_source *s, struct rj_error *err)
{
	s->dir_fd = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return s->dir_fd < 0 ? rj_fail_errno(err, errno, "%s: cannot open", s->dir) : 0;
}

static int open_mounted(struct rj_source *s, dev_t dev, struct rj_error *err)
{
	if (!rj_mountinfo_device_name(dev, s->name, sizeof(s->name)))
		return rj_fail(err, RJ_E_INVAL, "%s: %s is no ext3 or ext4 volume", s->dir,
			s->device);
	s->mounted = true;
	s->fd = open(s->device, O_RDONLY | O_DIRECT | O_CLOEXEC);
	return s->fd < 0 ? rj_fail_errno(err, errno, "%s: cannot open", s->device) : 0;
}

static int find_dir(struct rj_source *s, struct rj_error *err)
{
	char at[4096];
	dev_t dev = 0;
	int rc;

	snprintf(s->dir, sizeof(s->dir), "%s", s->given);
	rc = open_dir(s, err);
	if (rc)
		return rc;
	if (!rj_mountinfo_source(s->dir, s->device, sizeof(s->device)))
		return rj_fail(err, RJ_E_NOTFOUND, "%s: nothing is mounted there", s->dir);
	if (!rj_mountinfo_of_volume(s->device, at, sizeof(at), &dev))
		return rj_fail(err, RJ_E_INVAL, "%s: %s is no ext3 or ext4 volume", s->dir,
			s->device);
	return open_mounted(s, dev, err);
}

/* The device is mounted at s->dir; another file system may be, over it. */
static int find_mount(struct rj_source *s, dev_t dev, struct rj_error *err)
{
	struct stat st;
	int rc = open_dir(s, err);

	if (rc)
		return rc;
	if (fstat(s->dir_fd, &st) || st.st_dev != dev)
		return rj_fail(err, RJ_E_BUSY,
			"%s: is mounted at %s, where something else is mounted over it: give another folder at which it is mounted",
			s->given, s->dir);
	if (!rj_mountinfo_source(s->dir, s->device, sizeof(s->device)))
		return rj_fail(err, RJ_E_NOTFOUND, "%s: was unmounted just now", s->given);
	return open_mounted(s, dev, err);
}

/* The kernel mounts no device that is held exclusively, and programs that ask for that cannot
 * change it. An image has no such thing: what changes it is found by its superblock, and by the
 * log. */
static int open_unmounted(struct rj_source *s, bool device, struct rj_error *err)
{
	*s->dir = 0;
	snprintf(s->device, sizeof(s->device), "%s", s->given);
	s->fd = open(s->device, O_RDONLY | O_CLOEXEC | (device ? O_EXCL | O_DIRECT : 0));
	if (s->fd < 0 && errno == EBUSY)
		return rj_fail(err, RJ_E_BUSY,
			"%s: in use, and not mounted where this process can see it: if another mount namespace has it, run rjbackup there (nsenter -m -t PID)",
			s->given);
	return s->fd < 0 ? rj_fail_errno(err, errno, "%s: cannot open", s->given) : 0;
}

int rj_source_open(const char *given, struct rj_source *s, struct rj_error *err)
{
	struct stat st;
	dev_t dev;

	*s = (struct rj_source){.given = given, .dir_fd = -1, .fd = -1};
	if (stat(given, &st))
		return rj_fail_errno(err, errno, "%s: cannot open", given);
	if (S_ISDIR(st.st_mode))
		return find_dir(s, err);
	if (!S_ISBLK(st.st_mode) && !S_ISREG(st.st_mode))
		return rj_fail(err, RJ_E_INVAL,
			"%s: neither a folder at which a volume is mounted, nor a device or image",
			given);
	if (rj_mountinfo_of_volume(given, s->dir, sizeof(s->dir), &dev))
		return find_mount(s, dev, err);
	return open_unmounted(s, S_ISBLK(st.st_mode), err);
}

/* rjournald sets it within a second of a mount. */
static int check_zeroout(const struct rj_source *s, struct rj_error *err)
{
	struct rj_buf text = {0};
	char path[96];
	bool off = false;
	int rc = 0, looks;

	snprintf(path, sizeof(path), "/sys/fs/ext4/%.32s/extent_max_zeroout_kb", s->name);
	for (looks = 0; !rc && !off && looks < ZEROOUT_LOOKS; looks++) {
		if (looks)
			rj_sleep_ns(LOOK_NS);
		rj_buf_free(&text);
		rc = rj_read_file(path, 32, &text, err);
		off = !rc && text.len && text.data[0] == '0';
	}
	rj_buf_free(&text);
	if (rc || off)
		return rc;
	return rj_fail(err, RJ_E_REFUSED,
		"%s: ext4 zeroes blocks on the device, past the log, and rjournald did not turn that off within seconds (its log may say why): set %s to 0",
		s->dir, path);
}

int rj_source_check_mount(const struct rj_source *s, struct rj_error *err)
{
	if (!s->mounted)
		return 0;
	if (!rj_mountinfo_ext4_option(s->name, "data=journal"))
		return rj_fail(err, RJ_E_REFUSED,
			"%s: not mounted with data=journal, so that what is in files does not pass the log: mount it with -o data=journal",
			s->dir);
	return check_zeroout(s, err);
}

int rj_source_super(const struct rj_source *s, uint8_t raw[1024], struct rj_error *err)
{
	_Alignas(HEAD) uint8_t head[HEAD];
	int rc, looks;

	for (looks = 0; looks < LOOKS; looks++) {
		rc = rj_pread_all(s->fd, head, HEAD, 0, s->device, err);
		if (rc)
			return rc;
		memcpy(raw, head + SUPER_AT, SUPER_BYTES);
		if (rj_super_whole(raw))
			break;
		rj_sleep_ns(LOOK_NS);
	}
	if (!rj_super_whole(raw))
		return rj_fail(err, RJ_E_CORRUPT, "%s: its superblock is damaged", s->device);
	if (rj_super_encrypts(raw))
		return rj_fail(err, RJ_E_REFUSED,
			"%s: the feature encrypt: what is in encrypted files does not pass the log",
			s->device);
	return 0;
}

int rj_source_is_left(const struct rj_source *s, const uint8_t super[RJ_MOUNT_NOTE_HASH],
	struct rj_error *err)
{
	uint8_t raw[SUPER_BYTES], hash[RJ_MOUNT_NOTE_HASH];
	int rc = rj_source_super(s, raw, err);

	if (!rc)
		rc = rj_digest(raw, sizeof(raw), NULL, 0, hash, err);
	if (!rc && memcmp(hash, super, sizeof(hash)) != 0)
		rc = rj_fail(err, RJ_E_REFUSED,
			"%s: is not as the unmount left it that the log ends with: e2fsck, tune2fs, resize2fs or debugfs wrote to it since, or it is an older copy: mount and unmount it once, as type rj with data=journal",
			s->given);
	return rc;
}

void rj_source_fill_journal(const struct rj_source *s)
{
	int i, fd;

	for (i = 0; i < 2; i++) {
		fd = openat(s->dir_fd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
		if (fd < 0)
			return;
		fsync(fd);
		close(fd);
	}
}

void rj_source_close(struct rj_source *s)
{
	rj_close(&s->fd, s->device, NULL); /* only read */
	rj_close(&s->dir_fd, s->dir, NULL);
}
