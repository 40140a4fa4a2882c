// SPDX-License-Identifier: LGPL-2.1-or-later
/* Describe a volume's journal, and try whether it can be reached. */
#include "journal/info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ext4/journal.h"
#include "journal/move-priv.h"
#include "os/rundir.h"

static int look_at_inode(struct rj_volume *v, struct rj_journal_info *i)
{
	uint8_t raw[RJ_JBD2_SB_BYTES];
	struct rj_bio *bio = NULL;
	int rc = rj_volume_journal_bio(v, &bio, &i->why_not);

	if (!rc)
		rc = bio->read(bio, raw, sizeof(raw), 0, &i->why_not);
	if (!rc)
		rc = rj_jbd2_sb_decode(raw, &i->super, &i->why_not);
	rj_bio_free(bio);
	return rc;
}

static int look_at_device(
	struct rj_journal_info *i, const char *const *devices)
{
	const struct rj_move_opts opts = {.allow_files = true};
	struct rj_jdev d = {.fd = -1};
	char *path = NULL;
	int rc;

	rc = rj_journal_find(i->volume.journal_uuid, i->volume.block_size,
		i->volume.journal_device, devices, &path, &i->why_not);
	if (rc)
		return rc;
	snprintf(i->journal.where, sizeof(i->journal.where), "%s", path);
	rc = rj_jdev_open(
		&d, path, i->volume.block_size, false, &opts, &i->why_not);
	if (!rc && d.half_made)
		rc = rj_fail(&i->why_not, RJ_E_CORRUPT,
			"%s: no journal superblock", path);
	i->super = d.sb;
	rj_jdev_close(&d, NULL); /* opened for reading */
	free(path);
	return rc;
}

static int take_epoch(void *arg, uint64_t number, uint64_t bytes)
{
	*(uint64_t *)arg = number;
	return 0;
}

/* Is the log at URL? *EPOCHS gets the highest epoch claimed there. */
static int look_at_store(const struct rj_journal_info *i, const char *url,
	uint64_t *epochs, struct rj_error *err)
{
	struct rj_key key = {.kind = RJ_KEY_EPOCH};
	struct rj_store *store = NULL;
	int rc;

	memcpy(key.journal_uuid, i->volume.journal_uuid, RJ_UUID_BYTES);
	rc = rj_store_open(url, NULL, &store, err);
	if (!rc)
		rc = rj_store_list(store, &key, 0, take_epoch, epochs, err);
	if (!rc && !*epochs)
		rc = rj_fail(err, RJ_E_NOTFOUND, "%s: has no such log",
			store->url);
	rj_store_close(store);
	return rc;
}

static int look_at_log(struct rj_journal_info *i)
{
	return look_at_store(i, i->volume.sbx.url, &i->epochs, &i->why_not);
}

static enum rj_placement placement(const struct rj_volume_facts *f)
{
	if (!f->has_journal)
		return RJ_PLACE_NONE;
	if (f->journal_inode)
		return RJ_PLACE_INTERNAL;
	return f->has_sbx && f->sbx.placement == RJ_PLACE_REMOTE &&
			       rj_uuid_equal(
				       f->sbx.journal_uuid, f->journal_uuid)
		       ? RJ_PLACE_REMOTE
		       : RJ_PLACE_DEVICE;
}

static void look(struct rj_volume *v, struct rj_journal_info *i,
	const char *const *devices)
{
	struct rj_move_end *j = &i->journal;
	int rc = 0;

	j->placement = placement(&i->volume);
	switch (j->placement) {
	case RJ_PLACE_NONE:
		break;
	case RJ_PLACE_INTERNAL:
		rc = look_at_inode(v, i);
		i->have_super = !rc;
		break;
	case RJ_PLACE_DEVICE:
		memcpy(j->uuid, i->volume.journal_uuid, RJ_UUID_BYTES);
		rc = i->pending && rj_move_locked(&i->volume)
			     ? rj_fail(&i->why_not, RJ_E_REFUSED,
				       "the volume's blocks are being changed by a move that was cut off")
			     : look_at_device(i, devices);
		i->have_super = !rc;
		break;
	case RJ_PLACE_REMOTE:
		memcpy(j->uuid, i->volume.journal_uuid, RJ_UUID_BYTES);
		memcpy(j->where, i->volume.sbx.url, sizeof(i->volume.sbx.url));
		j->blocks = i->volume.sbx.journal_blocks;
		rc = look_at_log(i);
		break;
	}
	if (i->have_super)
		j->blocks = i->super.maxlen;
	i->reachable = !rc;
}

int rj_journal_info(const char *device, const char *const *devices,
	struct rj_journal_info *out, struct rj_error *err)
{
	struct rj_volume *v = NULL;
	int rc;

	memset(out, 0, sizeof(*out));
	rc = rj_volume_open(device, RJ_VOLUME_MMP, NULL, &v, err);
	if (rc == -RJ_E_CORRUPT && rj_move_pending(device)) {
		out->torn = true;
		rc = rj_volume_open(device, RJ_VOLUME_FORCE, NULL, &v, err);
	}
	if (rc)
		return rc;
	out->volume = *rj_volume_facts(v);
	out->pending = out->volume.has_sbx && out->volume.sbx.intent_op;
	out->served = rj_rundir_of(device, out->volume.uuid, NULL);
	look(v, out, devices);
	return rj_volume_close(v, err);
}
