// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Keeps e2fsck from reading every block device of the machine.
 *
 * For a volume with an external journal e2fsck 1.47 asks libblkid for a device
 * with the journal's UUID (e2fsck_fix_ext3_journal_hint()), also when -j names
 * the journal. libblkid then probes all block devices, and hangs at one that
 * does not answer: the journal of another volume whose store is away. A cache
 * file that names a device with the UUID ends the search before it begins.
 *
 * libblkid takes an entry of the last two seconds unseen if the device's mtime
 * is older (blkid_verify()); the device's number has to be the superblock's,
 * or e2fsck would change that.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "recover/session.h"
#include "util/uuid.h"

static const char *const names[] = {"journal", "tab", "tab.old"};

static void path_of(const struct rj_blkid_tab *t, const char *name,
	char out[sizeof(t->dir) + 16])
{
	snprintf(out, sizeof(t->dir) + 16, "%s/%s", t->dir, name);
}

static int make_node(const struct rj_blkid_tab *t)
{
	const struct timespec long_ago[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
	char path[sizeof(t->dir) + 16];

	path_of(t, "journal", path);
	if (mknod(path, S_IFBLK | 0600, makedev(0, RJ_JOURNAL_DEVICE_REMOTE)))
		return -1;
	return utimensat(AT_FDCWD, path, long_ago, 0);
}

static int make_tab(
	const struct rj_blkid_tab *t, const uint8_t uuid[RJ_UUID_BYTES])
{
	char path[sizeof(t->dir) + 16], text[RJ_UUID_TEXT];
	FILE *f;
	int rc;

	path_of(t, "tab", path);
	f = fopen(path, "we");
	if (!f)
		return -1;
	rj_uuid_text(uuid, text);
	rc = fprintf(f,
		"<device DEVNO=\"0x%04x\" TIME=\"%lld.0\" UUID=\"%s\" TYPE=\"jbd\">%s/journal</device>\n",
		RJ_JOURNAL_DEVICE_REMOTE, (long long)time(NULL), text, t->dir);
	return fclose(f) || rc < 0 ? -1 : 0;
}

bool rj_blkid_tab_make(
	struct rj_blkid_tab *t, const uint8_t uuid[RJ_UUID_BYTES])
{
	const char *tmp = getenv("TMPDIR");

	if (snprintf(t->dir, sizeof(t->dir), "%s/rjrecover.XXXXXX",
		    tmp && *tmp ? tmp : "/tmp") >= (int)sizeof(t->dir) ||
		!mkdtemp(t->dir)) {
		t->dir[0] = 0;
		return false;
	}
	if (!make_node(t) && !make_tab(t, uuid))
		return true;
	rj_blkid_tab_remove(t);
	return false;
}

void rj_blkid_tab_remove(struct rj_blkid_tab *t)
{
	char path[sizeof(t->dir) + 16];
	size_t i;

	if (!t->dir[0])
		return;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		path_of(t, names[i], path);
		unlink(path);
	}
	rmdir(t->dir);
	t->dir[0] = 0;
}
