// SPDX-License-Identifier: GPL-2.0-or-later
#include "judge.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ext4/journal.h"
#include "ext4/volume.h"
#include "jbd2/jbd2.h"
#include "contents.h"
#include "program.h"
#include "recover/recover.h"
#include "util/bytes.h"

__attribute__((format(printf, 2, 3))) static int no(
	struct judge *j, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(j->why, sizeof(j->why), fmt, ap);
	va_end(ap);
	return -1;
}

/* ---- the journal, wherever it is ---- */

static int internal_blocks(struct judge *j, uint32_t block_size, uint32_t *out)
{
	const char *path = j->w->disks[VOLUME].path;
	uint8_t raw[RJ_JBD2_SB_BYTES];
	struct rj_volume *v = NULL;
	struct rj_bio *bio = NULL;
	struct rj_error err = {0};
	struct rj_jbd2_sb sb;
	int rc;

	rc = rj_volume_open(path, 0, NULL, &v, &err);
	if (!rc)
		rc = rj_volume_journal_bio(v, &bio, &err);
	if (!rc)
		rc = bio->read(bio, raw, sizeof(raw), 0, &err);
	if (!rc)
		rc = rj_jbd2_sb_decode(raw, &sb, &err);
	if (rc)
		no(j, "internal journal: %s", err.msg);
	else if (sb.start || sb.block_size != block_size ||
		 (uint64_t)sb.maxlen * block_size != bio->size_bytes)
		rc = no(j, "internal journal: start %u, %u blocks in %llu bytes",
			sb.start, sb.maxlen,
			(unsigned long long)bio->size_bytes);
	*out = sb.maxlen;
	rj_bio_free(bio);
	rj_volume_close(v, NULL);
	return rc ? -1 : 0;
}

/* The journal superblock of the external device, if it is one. */
static int device_super(struct judge *j, uint32_t block_size,
	struct rj_jbd2_sb *out, struct rj_error *err)
{
	const struct disk *d = &j->w->disks[DEVICE];
	uint64_t at = (uint64_t)rj_jbd2_device_sb_block(block_size) * block_size;

	/* without the ext2 superblock it is no journal to anybody */
	if (!d->map || rj_get_le16(d->map + 1024 + 56) != 0xEF53)
		return rj_fail(err, RJ_E_NOTFOUND, "no journal device");
	return rj_jbd2_sb_decode(d->map + at, out, err);
}

static int device_blocks(
	struct judge *j, const struct rj_volume_facts *f, uint32_t *out)
{
	const struct disk *d = &j->w->disks[DEVICE];
	struct rj_error err = {0};
	struct rj_jbd2_sb sb;

	if (device_super(j, f->block_size, &sb, &err) ||
		rj_journal_device_check(d->map + 1024, f->block_size,
			f->journal_uuid, "device", &err))
		return no(j, "external journal: %s", err.msg);
	if (sb.start || sb.nr_users != 1 ||
		!rj_uuid_equal(sb.users[0], f->uuid) ||
		!rj_uuid_equal(sb.uuid, f->journal_uuid))
		return no(j, "external journal: start %u, %u users, or not "
			"this volume's",
			sb.start, sb.nr_users);
	*out = sb.maxlen;
	return 0;
}

static int remote_log(struct judge *j)
{
	struct rj_recover_opts o = {.dry_run = true,
		.check_clean = true,
		.force = true,
		.quiet = true,
		.verify = RJ_VERIFY_NONE,
		.retry_ms = 1};
	struct rj_recover_report r = {0};
	struct rj_error err = {0};

	if (rj_recover(j->w->disks[VOLUME].path, &o, &r, &err))
		return no(j, "remote log: %s", err.msg);
	if (r.outcome != RJ_OUTCOME_CLEAN && r.outcome != RJ_OUTCOME_WOULD_RESET)
		return no(j, "remote log: rjrecover would say %s",
			rj_outcome_name(r.outcome));
	return 0;
}

static bool device_has_user(struct judge *j, const struct rj_volume_facts *f)
{
	struct rj_jbd2_sb sb;
	uint32_t i;

	if (device_super(j, f->block_size, &sb, NULL))
		return false;
	for (i = 0; i < sb.nr_users && i < 48; i++) {
		if (rj_uuid_equal(sb.users[i], f->uuid))
			return true;
	}
	return false;
}

/* ---- a first look ---- */

static void placement_of(const struct rj_volume_facts *f, struct look *out)
{
	out->placement = !f->has_journal ? RJ_PLACE_NONE
			 : f->journal_inode ? RJ_PLACE_INTERNAL
			 : f->has_sbx && f->sbx.placement == RJ_PLACE_REMOTE
				 ? RJ_PLACE_REMOTE
				 : RJ_PLACE_DEVICE;
	out->block_size = f->block_size;
	memcpy(out->volume_uuid, f->uuid, RJ_UUID_BYTES);
	if (out->placement == RJ_PLACE_DEVICE ||
		out->placement == RJ_PLACE_REMOTE)
		memcpy(out->journal_uuid, f->journal_uuid, RJ_UUID_BYTES);
	out->journal_device = f->journal_device;
	out->inflight = f->has_sbx && f->sbx.intent_op;
	if (out->placement == RJ_PLACE_REMOTE) {
		strcpy(out->url, f->sbx.url);
		out->journal_blocks = f->sbx.journal_blocks;
	}
}

/* Its inode's number without the feature: tune2fs -O orphan_file would take that
 * inode, whosever it is by then. e2fsck 1.47.0 does not see it. */
static int orphan_file(struct judge *j, const struct rj_volume_facts *f,
	struct look *out)
{
	out->orphan_inode = rj_get_le32(j->w->disks[VOLUME].map + 1024 + 0x280);
	if (!f->orphan_file == !out->orphan_inode)
		return 0;
	return no(j, "orphan file: feature %d, inode %u", f->orphan_file,
		out->orphan_inode);
}

/* When nothing is under way the backup of group 1 names the journal that the primary
 * names, and is not newer: it may have to stand in for it. */
static int backup(struct judge *j, const struct rj_volume_facts *f)
{
	static const struct {
		const char *what;
		size_t at, len;
	} fields[] = {{"UUID", 104, 16}, {"journal inode", 224, 4},
		{"journal UUID", 208, 16}};
	const struct disk *d = &j->w->disks[VOLUME];
	const uint8_t *p = d->map + 1024, *b;
	uint64_t at = (uint64_t)(rj_get_le32(p + 20) + rj_get_le32(p + 32)) *
		      f->block_size;
	struct rj_sbx sbx;
	size_t i;

	if (j->own_checks_off || (f->has_sbx && f->sbx.intent_op))
		return 0;
	if (!f->backups || at + 1024 > d->size)
		return 0;
	b = d->map + at;
	if ((rj_get_le32(p + 92) ^ rj_get_le32(b + 92)) & 4)
		return no(j, "backup superblock: has_journal differs");
	for (i = 0; f->has_journal && i < 3; i++)
		if (memcmp(p + fields[i].at, b + fields[i].at, fields[i].len))
			return no(j, "backup superblock: %s differs",
				fields[i].what);
	if (f->has_sbx && !rj_sbx_decode(b + RJ_SBX_OFFSET, &sbx, NULL) &&
		(int32_t)(sbx.generation - f->sbx.generation) > 0)
		return no(j, "backup superblock: newer than the primary");
	return 0;
}

static uint64_t objects_hash(struct judge *j)
{
	struct trace t = {0};
	uint64_t hash = 0;
	size_t i;

	/* no matter in which order a directory lists them */
	if (world_objects(j->w, &t))
		return 0;
	for (i = 0; i < t.count; i++)
		hash += contents_hash(
			contents_hash(1, t.events[i].name,
				strlen(t.events[i].name)),
			t.events[i].data, t.events[i].len);
	trace_clear(&t);
	return hash;
}

int judge_look(struct judge *j, struct look *out)
{
	const char *path = j->w->disks[VOLUME].path;
	struct disk *d = &j->w->disks[DEVICE];
	const struct rj_volume_facts *f;
	struct rj_volume *v = NULL;
	struct rj_error err = {0};
	struct contents c;
	int rc = 0;

	memset(out, 0, sizeof(*out));
	if (rj_volume_open(path, 0, NULL, &v, &err))
		return no(j, "%s", err.msg);
	f = rj_volume_facts(v);
	placement_of(f, out);
	out->device_user = device_has_user(j, f);
	if (f->needs_recovery || !f->clean)
		rc = no(j, "the superblock says %s",
			f->clean ? "needs recovery" : "not clean");
	if (!rc)
		rc = orphan_file(j, f, out);
	if (!rc)
		rc = backup(j, f);
	if (!rc && out->placement == RJ_PLACE_INTERNAL)
		rc = internal_blocks(j, f->block_size, &out->journal_blocks);
	if (!rc && out->placement == RJ_PLACE_DEVICE)
		rc = device_blocks(j, f, &out->journal_blocks);
	if (!rc)
		rc = contents_used(path, j->w->disks[VOLUME].map, &c, j->why,
			sizeof(j->why));
	rj_volume_close(v, NULL);
	if (rc)
		return rc;
	out->free_blocks = c.free_blocks;
	out->hash = c.used_hash;
	if (d->map && (out->placement == RJ_PLACE_DEVICE || out->device_user))
		out->hash = contents_hash(out->hash, d->map, d->size);
	if (out->placement == RJ_PLACE_REMOTE)
		out->hash ^= objects_hash(j);
	return 0;
}

int judge_files(struct judge *j)
{
	unsigned count = 0;
	uint64_t hash = 0;

	if (contents_files(j->w->disks[VOLUME].path, &hash, &count, j->why,
		    sizeof(j->why)))
		return -1;
	if (count < 20)
		return no(j, "only %u files in the volume", count);
	if (!j->files)
		j->files = hash;
	return hash == j->files ? 0 : no(j, "a file is not as it was");
}

/* ---- the verdict ---- */

/* Where two looks differ; NULL: nowhere that counts. */
static const char *differ(const struct look *a, const struct look *b)
{
	if (a->inflight || b->inflight)
		return "a move is under way";
	if (a->placement != b->placement)
		return "placement";
	if (memcmp(a->volume_uuid, b->volume_uuid, RJ_UUID_BYTES))
		return "volume UUID";
	if (memcmp(a->journal_uuid, b->journal_uuid, RJ_UUID_BYTES))
		return "journal UUID";
	if (a->journal_blocks != b->journal_blocks)
		return "journal size";
	if (a->journal_device != b->journal_device)
		return "journal device";
	if (strcmp(a->url, b->url))
		return "URL";
	if (a->free_blocks != b->free_blocks)
		return "free blocks";
	if (a->orphan_inode != b->orphan_inode)
		return "orphan file";
	if (a->device_user != b->device_user)
		return "the device's user";
	return NULL;
}

/* e2fsck refuses a volume whose journal it cannot find: give it a device with
 * an empty one of that UUID. */
static int stand_in(struct judge *j, const struct look *look, char *path,
	size_t size)
{
	uint32_t bs = look->block_size, sb = rj_jbd2_device_sb_block(bs);
	size_t bytes = (size_t)look->journal_blocks * bs;
	uint8_t *raw = calloc(1, bytes);
	int rc;

	snprintf(path, size, "%.4000s/stand-in", j->w->dir);
	if (!raw)
		return no(j, "out of memory");
	rj_journal_device_super(
		raw + 1024, bs, look->journal_blocks, look->journal_uuid);
	rj_jbd2_sb_format_external(raw + (size_t)sb * bs, bs,
		look->journal_blocks, look->journal_uuid, look->volume_uuid, 1);
	rc = program_write(path, raw, bytes);
	free(raw);
	return rc ? no(j, "cannot write %.200s", path) : 0;
}

static int fsck(struct judge *j, const struct look *look)
{
	char device[PATH_MAX];
	const char *args[] = {"e2fsck", "-fn", j->w->disks[VOLUME].path, NULL,
		NULL, NULL};
	int status;

	if (look->placement == RJ_PLACE_REMOTE &&
		stand_in(j, look, device, sizeof(device)))
		return -1;
	if (look->placement == RJ_PLACE_DEVICE)
		strcpy(device, j->w->disks[DEVICE].path);
	if (look->placement >= RJ_PLACE_DEVICE) {
		args[2] = "-j";
		args[3] = device;
		args[4] = j->w->disks[VOLUME].path;
	}
	j->fsck_runs++;
	status = program_run(args, j->w->dir, j->why, sizeof(j->why));
	if (status) {
		memmove(j->why + 16, j->why, sizeof(j->why) - 17);
		memcpy(j->why, "e2fsck -fn says ", 16);
		return -1;
	}
	return 0;
}

static int known(struct judge *j, uint64_t hash, bool *good)
{
	size_t i;

	for (i = j->known_count; i-- > 0;) {
		if (j->known[i].hash == hash) {
			*good = j->known[i].good;
			return 1;
		}
	}
	return 0;
}

static void remember(struct judge *j, uint64_t hash, bool good)
{
	size_t room = j->known_room ? j->known_room * 2 : 64;
	struct verdict *v;

	if (j->known_count == j->known_room) {
		v = realloc(j->known, room * sizeof(*v));
		if (!v)
			return;
		j->known = v;
		j->known_room = room;
	}
	j->known[j->known_count++] =
		(struct verdict){.hash = hash, .good = good};
}

static int verify(struct judge *j, const struct look *look)
{
	int rc = fsck(j, look);

	if (!rc)
		rc = judge_files(j);
	if (!rc && look->placement == RJ_PLACE_REMOTE && !j->own_checks_off)
		rc = remote_log(j);
	if (!rc && j->mount_every && look->placement != RJ_PLACE_REMOTE &&
		j->fsck_runs % j->mount_every == 0)
		rc = judge_mount(j, look);
	return rc;
}

int judge_world(struct judge *j, bool *is_new)
{
	const char *from_old, *from_new;
	struct look look;
	bool good;
	int rc;

	if (judge_look(j, &look))
		return -1;
	from_new = differ(&look, &j->new);
	from_old = differ(&look, &j->old);
	if (from_new && from_old)
		return no(j, "is %s: neither the old (%s differs) nor the new "
			"(%s differs)",
			rj_placement_name(look.placement), from_old, from_new);
	if (is_new)
		*is_new = !from_new;
	if (known(j, look.hash, &good))
		return good ? 0 : no(j, "as in an earlier bad state");
	rc = verify(j, &look);
	remember(j, look.hash, !rc);
	return rc;
}

void judge_free(struct judge *j)
{
	free(j->known);
	j->known = NULL;
	j->known_count = j->known_room = 0;
}
