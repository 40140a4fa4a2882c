// SPDX-License-Identifier: GPL-2.0-or-later
/* Notes in the log for a history over unmounts. */
#include "history.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "os/fileio.h"
#include "os/mountinfo.h"
#include "segment/digest.h"
#include "store/conf.h"
#include "util/bytes.h"
#include "util/log.h"

#define SUPER_AT    1024u
#define SUPER_BYTES 1024u
#define MOUNTS_AT   0x34 /* s_mnt_count */
#define CHECKED_AT  0x40 /* s_lastcheck */

static bool read_super(struct rj_volume *v, uint8_t raw[SUPER_BYTES],
	uint8_t hash[RJ_MOUNT_NOTE_HASH])
{
	struct rj_bio *b = rj_volume_bio(v);

	return !b->read(b, raw, SUPER_BYTES, SUPER_AT, NULL) &&
	       !rj_digest(raw, SUPER_BYTES, NULL, 0, hash, NULL);
}

static bool kept(const char *url)
{
	struct rj_conf *conf = NULL;
	bool kept = !rj_conf_load(url, &conf, NULL) && conf->retain_s;

	rj_conf_release(conf);
	return kept;
}

void rj_history_found(struct rj_history_notes *n, struct rj_volume *v,
	const struct rj_volume_facts *f)
{
	uint8_t raw[SUPER_BYTES];

	/* with a fallback file the last segment may not be the store's yet */
	n->found = !f->sbx.fallback[0] && kept(f->sbx.url) &&
		   read_super(v, raw, n->before);
	if (!n->found)
		return;
	n->mounts = rj_get_le16(raw + MOUNTS_AT);
	n->checked = rj_get_le32(raw + CHECKED_AT);
}

/* Was the volume mounted once since it was found, and not checked? The kernel counts each
 * mount for writing; e2fsck sets both. */
static bool mounted_once(const struct rj_history_notes *n, const uint8_t *raw)
{
	return rj_get_le16(raw + MOUNTS_AT) == (uint16_t)(n->mounts + 1) &&
	       rj_get_le32(raw + CHECKED_AT) == n->checked;
}

void rj_history_left(struct rj_history_notes *n, struct rj_volume *v)
{
	uint8_t raw[SUPER_BYTES];

	n->left = n->mounted && read_super(v, raw, n->after) &&
		  mounted_once(n, raw);
}

static bool has_data_journal(const char *device)
{
	char dir[4096], name[32];
	dev_t dev;

	return rj_mountinfo_of_volume(device, dir, sizeof(dir), &dev) &&
	       rj_mountinfo_device_name(dev, name, sizeof(name)) &&
	       rj_mountinfo_ext4_option(name, "data=journal");
}

bool rj_history_mounted(const struct rj_history_notes *n, const char *device,
	uint64_t epoch, uint8_t note[RJ_MOUNT_NOTE_BYTES])
{
	struct rj_mount_note m = {.kind = RJ_NOTE_MOUNTED, .epoch = epoch};
	uint8_t raw[SUPER_BYTES];
	int fd, rc;

	if (!n->found || n->mounted || !has_data_journal(device))
		return false;
	fd = open(device, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return false;
	rc = rj_pread_all(fd, raw, sizeof(raw), SUPER_AT, device, NULL);
	close(fd);
	if (rc || !mounted_once(n, raw))
		return false;
	memcpy(m.super, n->before, sizeof(m.super));
	rj_mount_note_encode(&m, note);
	return true;
}

void rj_history_unmounted(struct rj_history_notes *n, struct rj_log_writer *w,
	struct rj_ring *ring, uint64_t marked)
{
	struct rj_mount_note note = {
		.kind = RJ_NOTE_UNMOUNTED, .epoch = rj_log_writer_epoch(w)};
	struct rj_seg_run run = {.block = 0, .count = 1};
	struct rj_log_append a = {
		.body = {.block_size = ring->block_size,
			.journal_blocks = ring->blocks},
		.runs = &run,
		.run_count = 1,
		.ring = ring->data,
		.marked = marked,
	};
	struct rj_error err;

	if (!n->left)
		return;
	memcpy(note.super, n->after, sizeof(note.super));
	rj_mount_note_encode(&note, ring->data);
	if (rj_log_append(w, &a, &err))
		rj_log(RJ_LOG_NOTICE,
			"the unmount is not noted in the log, a history of the volume ends there: %s",
			err.msg);
}
