// SPDX-License-Identifier: GPL-2.0-or-later
#include "volume.h"

#include <dirent.h>
#include <errno.h>
#include <json-c/json.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "os/mountinfo.h"
#include "tools/ask-daemon.h"

#define STATUS_MS 5000
#define EXT_JOURNAL_INODE 8

bool read_text(char *out, size_t size, const char *format, ...)
{
	char path[PATH_MAX];
	va_list ap;
	size_t n;
	FILE *f;

	va_start(ap, format);
	vsnprintf(path, sizeof(path), format, ap);
	va_end(ap);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fread(out, 1, size - 1, f);
	out[n] = 0;
	fclose(f);
	return n > 0;
}

/* What rjournald says of the volume; NULL: it does not. For json_object_put(). */
static struct json_object *ask_status(const uint8_t uuid[RJ_UUID_BYTES])
{
	struct json_object *json;

	daemon_status(uuid, STATUS_MS, &json, NULL);
	return json;
}

bool volume_shipped(const struct volume *v, struct shipped *out)
{
	struct json_object *json, *segments, *ns;
	bool found = false;

	if (v->place != PLACE_REMOTE)
		return false;
	json = ask_status(v->journal.volume.uuid);
	if (json && json_object_object_get_ex(json, "segments_shipped", &segments) &&
		json_object_object_get_ex(json, "ship_ns", &ns)) {
		out->segments = json_object_get_uint64(segments);
		out->ns = json_object_get_uint64(ns);
		found = true;
	}
	json_object_put(json);
	return found;
}

/* The device that rjournald made of the journal. */
static bool served_device(const uint8_t uuid[RJ_UUID_BYTES], dev_t *dev)
{
	struct json_object *json = ask_status(uuid), *value;
	struct stat st;
	bool found = false;

	if (json && json_object_object_get_ex(json, "journal_device", &value) &&
		!stat(json_object_get_string(value), &st) && S_ISBLK(st.st_mode)) {
		*dev = st.st_rdev;
		found = true;
	}
	json_object_put(json);
	return found;
}

/* In /proc/fs/jbd2: "sda1-8" of an internal journal, "sdb1" of a device. */
static void find_jbd2(struct volume *v)
{
	char name[64], text[256];

	if (v->place == PLACE_INTERNAL)
		snprintf(v->jbd2, sizeof(v->jbd2), "%s-%u", v->name,
			v->journal.volume.journal_inode ? v->journal.volume.journal_inode
							 : EXT_JOURNAL_INODE);
	else if (rj_mountinfo_device_name(v->journal_dev, name, sizeof(name)))
		snprintf(v->jbd2, sizeof(v->jbd2), "%s", name);
	if (!read_text(text, sizeof(text), "/proc/fs/jbd2/%s/info", v->jbd2))
		v->jbd2[0] = 0;
}

static void find_journal(struct volume *v)
{
	struct stat st;

	v->journal_dev = v->dev;
	switch (v->journal.journal.placement) {
	case RJ_PLACE_REMOTE:
		v->place = PLACE_REMOTE;
		if (!served_device(v->journal.volume.uuid, &v->journal_dev))
			v->journal_dev = 0;
		break;
	case RJ_PLACE_INTERNAL:
		v->place = PLACE_INTERNAL;
		break;
	default:
		v->place = PLACE_SECOND;
		v->journal_dev = stat(v->journal.journal.where, &st) ? 0 : st.st_rdev;
	}
	find_jbd2(v);
}

/* Flushes are counted of whole disks only. */
static void find_disk(struct volume *v)
{
	char text[8];
	struct stat st;

	snprintf(v->disk_dir, sizeof(v->disk_dir), "/sys/dev/block/%u:%u/..", major(v->dev),
		minor(v->dev));
	v->whole_disk = false;
	if (!read_text((char[64]){0}, 64, "/sys/dev/block/%u:%u/partition", major(v->dev),
		    minor(v->dev)))
		v->disk_dir[strlen(v->disk_dir) - 3] = 0;
	else
		v->whole_disk = !stat(v->disk_dir, &st);
	v->rotates = read_text(text, sizeof(text), "%s/queue/rotational", v->disk_dir) &&
		     text[0] == '1';
}

static int find_mount(const char *argument, struct volume *v, struct rj_error *err)
{
	struct stat st;

	if (stat(argument, &st))
		return rj_fail_errno(err, errno, "%s", argument);
	if (S_ISDIR(st.st_mode)) {
		if (rj_mountinfo_device_name(st.st_dev, v->name, sizeof(v->name)))
			snprintf(v->device, sizeof(v->device), "/dev/%s", v->name);
		if (!rj_mountinfo_of_volume(v->device, v->dir, sizeof(v->dir), &v->dev))
			return rj_fail(err, RJ_E_NOTFOUND,
				"%s: not on a mounted ext3 or ext4 volume", argument);
	} else if (!rj_mountinfo_of_volume(argument, v->dir, sizeof(v->dir), &v->dev)) {
		return rj_fail(err, RJ_E_NOTFOUND,
			"%s: no ext3 or ext4 volume that is mounted here: mount it, for its load is what is looked at",
			argument);
	}
	if (!rj_mountinfo_device_name(v->dev, v->name, sizeof(v->name)))
		return rj_fail(err, RJ_E_NOTFOUND, "%s: its device has no name in /sys", argument);
	snprintf(v->device, sizeof(v->device), "/dev/%s", v->name);
	return 0;
}

int volume_find(const char *argument, struct volume *out, struct rj_error *err)
{
	struct volume *v = out;
	struct statvfs fs;
	char text[4096];
	int rc;

	memset(v, 0, sizeof(*v));
	rc = find_mount(argument, v, err);
	if (!rc)
		rc = rj_journal_info(v->device, NULL, &v->journal, err);
	if (rc)
		return rc;
	if (!v->journal.volume.has_journal)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"%s: the volume has no journal: give it one (rjtune -O has_journal) before its load is looked at",
			argument);
	if (!read_text(text, sizeof(text), "/proc/fs/ext4/%s/options", v->name) ||
		!parse_ext4_options(text, &v->mount))
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"%s: /proc/fs/ext4/%s/options does not tell how it is mounted", argument,
			v->name);
	if (statvfs(v->dir, &fs))
		return rj_fail_errno(err, errno, "%s", v->dir);
	v->noatime = fs.f_flag & ST_NOATIME;
	v->relatime = fs.f_flag & ST_RELATIME;
	find_journal(v);
	find_disk(v);
	return 0;
}
