// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Another UUID first, still marked as an unfinished base; then what a recovery does last; then
 * the mark goes, and the journal, which is nowhere.
 */
#include "history/new-volume.h"

#include <string.h>

#include "ext4/check.h"
#include "ext4/renew.h"
#include "history/base/target.h"
#include "journal/move.h"
#include "os/fileio.h"
#include "recover/settle.h"

#define SUPER_AT 1024u

struct making {
	const struct rj_base_facts *facts;
	const char *path;
	int *fd;
	uint8_t super[1024];
	uint8_t plain[RJ_SBX_BYTES]; /* the new extension, not marked as a base */
};

static int put_super(struct making *m, struct rj_error *err)
{
	int rc = rj_pwrite_all(*m->fd, m->super, sizeof(m->super), SUPER_AT,
		m->path, err);

	return rc ? rc : rj_fsync(*m->fd, m->path, err);
}

/* A resize copies the superblock into its backups, with the extension that it has at that time: no
 * backup may be newer than the primary superblock. */
static uint32_t generation(const struct making *m)
{
	uint32_t base = m->facts->sbx.generation;
	struct rj_sbx logged;

	if (rj_sbx_decode(m->super + RJ_SBX_OFFSET, &logged, NULL))
		return base; /* the base's */
	return (int32_t)(logged.generation - base) > 0 ? logged.generation : base;
}

/* A superblock of its own, that no log belongs to; marked as unfinished for now. */
static int renew(struct making *m, struct rj_error *err)
{
	uint8_t volume[RJ_UUID_BYTES], marked[RJ_SBX_BYTES];
	struct rj_sbx sbx = m->facts->sbx;
	int rc = 0;

	if (!rj_super_whole(m->super))
		rc = rj_fail(err, RJ_E_CORRUPT,
			"%s: the superblock in the log is damaged",
			m->path);
	if (!rc && rj_super_encrypts(m->super))
		rc = rj_fail(err, RJ_E_REFUSED,
			"%s: the volume got the feature encrypt: what is in encrypted files did not pass the log",
			m->path);
	if (!rc && (rj_uuid_random(volume) || rj_uuid_random(sbx.journal_uuid)))
		rc = rj_fail(err, RJ_E_IO, "cannot get random bytes");
	if (rc)
		return rc;
	sbx.generation = generation(m);
	sbx.epoch = sbx.floor = 0;
	sbx.incompat = 0;
	sbx.fallback[0] = 0;
	sbx.fallback_empty = false;
	memset(sbx.key_fingerprint, 0, sizeof(sbx.key_fingerprint));
	memset(sbx.url, 0, sizeof(sbx.url));
	memcpy(sbx.url, RJ_BASE_NO_STORE, sizeof(RJ_BASE_NO_STORE));
	rc = rj_sbx_encode(&sbx, m->plain, err);
	if (rc)
		return rc;
	memcpy(marked, m->plain, sizeof(marked));
	rj_sbx_base_put(marked, &RJ_BASE_UNFINISHED);
	rj_super_renew(m->super, volume, sbx.journal_uuid, marked);
	return put_super(m, err);
}

/* A program that sets the feature on the device, as tune2fs -O encrypt does, does not
 * put that into the log; the kernel may log its superblock later, or never. */
static int refuse_encrypted(struct making *m, struct rj_error *err)
{
	uint32_t inode;
	int rc = rj_volume_find_encrypted(m->path, &inode, err);

	if (!rc && inode)
		rc = rj_fail(err, RJ_E_REFUSED,
			"%s: the volume got the feature encrypt, and inode %u is encrypted: what is in encrypted files did not pass the log",
			m->path, inode);
	return rc;
}

/* The volume is sound: it is no base any more, and loses the journal that is nowhere. */
static int release(struct making *m, struct rj_error *err)
{
	const struct rj_move_opts to = {
		.to = {.placement = RJ_PLACE_NONE, .given = true},
		.abandon = true,
	};
	struct rj_move_report report;
	int rc;

	rc = rj_pread_all(*m->fd, m->super, sizeof(m->super), SUPER_AT,
		m->path, err);
	if (rc)
		return rc;
	rj_super_extend(m->super, m->plain);
	rc = put_super(m, err);
	return rc ? rc : rj_move(m->path, &to, &report, err);
}

int rj_new_volume(const struct rj_base_facts *facts, const char *path, int *fd,
	const uint8_t *super, enum rj_verify_level verify, struct rj_error *err)
{
	struct making m = {.facts = facts, .path = path, .fd = fd};
	int rc = 0;

	if (super)
		memcpy(m.super, super, sizeof(m.super));
	else
		rc = rj_pread_all(*fd, m.super, sizeof(m.super), SUPER_AT, path, err);
	if (!rc)
		rc = renew(&m, err);
	if (!rc) /* what is left to do opens it exclusively by itself */
		rc = rj_target_share(path, fd, err);
	if (!rc)
		rc = rj_recover_settle(path, facts->sbx.journal_blocks, verify, err);
	if (!rc)
		rc = refuse_encrypted(&m, err);
	return rc ? rc : release(&m, err);
}
