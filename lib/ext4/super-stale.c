// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Recognise a primary superblock that is good by itself, and older than its backups:
 * it alone was restored, from before a move of the journal (or a check that replaced
 * the log). It names a log that is not this volume's any more, and a replay of that
 * log would put old blocks over new ones.
 *
 * The extension's generation tells. Each change of all copies counts it up once,
 * the backups first, and a cut in between leaves them one ahead; a move writes
 * its intent into the primary alone before that. So backups are two ahead of a
 * primary without an intent only if that primary was restored.
 *
 * An older copy of the whole volume has old backups, too: it is not found here but in
 * lib/verdict, by its mark and by the log.
 */
#include "ext4/ext4-priv.h"

#include <stdio.h>
#include <string.h>

#include "os/fileio.h"

/* Backups that are looked at: one that is lost need not mean anything. */
#define LOOKED_AT 3
#define AHEAD	  2

static bool same(const uint8_t *a, const uint8_t *b, size_t at, size_t len)
{
	return !memcmp(a + at, b + at, len);
}

#define SAME(a, b, f)                                                          \
	same(a, b, offsetof(struct ext2_super_block, f),                       \
		sizeof(((struct ext2_super_block *)0)->f))

/* Of one filesystem? Its UUID may have changed; what mke2fs drew for the hashes
 * of directories never does. */
static bool same_filesystem(const uint8_t *a, const uint8_t *b)
{
	static const uint8_t none[16];

	return SAME(a, b, s_magic) && SAME(a, b, s_log_block_size) &&
	       SAME(a, b, s_first_data_block) && SAME(a, b, s_blocks_per_group) &&
	       SAME(a, b, s_inodes_per_group) && SAME(a, b, s_inode_size) &&
	       (SAME(a, b, s_uuid) ||
		       (SAME(a, b, s_hash_seed) &&
			       memcmp(SB_AT(a, s_hash_seed), none,
				       sizeof(none))));
}

/* The extension of a superblock without one, or with one that some other tool
 * does not keep: it was written before all of ours. */
static bool primary_sbx(const struct rj_volume *v, struct rj_sbx *out)
{
	const struct rj_volume_facts *f = &v->facts;

	memset(out, 0, sizeof(*out));
	if (f->has_sbx)
		*out = f->sbx;
	else if (f->sbx_error.code != RJ_E_NOTRJ)
		return false; /* damage is another matter */
	/* without the extension a remote journal looks like this one: the
	 * salvage asks the backups for it */
	else if (f->has_journal && !f->journal_inode)
		return false;
	else
		out->placement = f->has_journal ? RJ_PLACE_INTERNAL
						: RJ_PLACE_NONE;
	return !out->intent_op;
}

/* Does it matter to a reader of the journal which of the two is true? */
static bool differ(const struct rj_sbx *old, const struct rj_sbx *new)
{
	return old->placement != new->placement ||
	       !rj_uuid_equal(old->journal_uuid, new->journal_uuid) ||
	       (old->incompat ^ new->incompat) & RJ_SBX_INCOMPAT_LOG_VOID ||
	       new->epoch > old->epoch;
}

static const char *where(const struct rj_sbx *s, char *out, size_t size)
{
	char uuid[RJ_UUID_TEXT];

	if (s->placement == RJ_PLACE_REMOTE)
		snprintf(out, size, "the log %s at %s%s",
			rj_uuid_text(s->journal_uuid, uuid), s->url,
			s->incompat & RJ_SBX_INCOMPAT_LOG_VOID
				? ", given up for a check"
				: "");
	else
		snprintf(out, size, "%s",
			s->placement == RJ_PLACE_INTERNAL ? "an internal journal"
			: s->placement == RJ_PLACE_DEVICE ? "a journal device"
							  : "no journal");
	return out;
}

/* The newest of the first backups, if that is AHEAD of OLD. */
static bool find_newer(struct rj_volume *v, const struct rj_sbx *old,
	uint8_t newest[RJ_SUPER_BYTES], struct rj_sbx *sbx, uint64_t *offset)
{
	uint32_t i, ahead, best = AHEAD - 1;
	uint8_t raw[RJ_SUPER_BYTES];
	struct rj_sbx s;

	for (i = 0; i < v->facts.backups && i < LOOKED_AT; i++) {
		const struct backup *b = &v->backups[i];

		if (rj_pread_all(v->fd, raw, sizeof(raw), b->offset, v->path,
			    NULL) ||
			!same_filesystem(raw, v->super) ||
			SB_LE16(raw, s_block_group_nr) !=
				(uint16_t)(b->group < 0xFFFF ? b->group
							     : 0xFFFF) ||
			!rj_ext4_super_sealed(raw) ||
			rj_sbx_decode(raw + RJ_SBX_OFFSET, &s, NULL))
			continue;
		ahead = s.generation - old->generation;
		if (ahead > INT32_MAX || ahead <= best || !differ(old, &s))
			continue;
		best = ahead;
		memcpy(newest, raw, sizeof(raw));
		*sbx = s;
		*offset = b->offset;
	}
	return best >= AHEAD;
}

int rj_ext4_check_age(struct rj_volume *v, struct rj_error *err)
{
	char before[RJ_SBX_URL_BYTES + 80], after[RJ_SBX_URL_BYTES + 80];
	uint8_t newest[RJ_SUPER_BYTES];
	struct rj_sbx old, new;
	uint64_t offset;
	unsigned group;

	if (v->facts.super != RJ_SUPER_GOOD || !primary_sbx(v, &old) ||
		!find_newer(v, &old, newest, &new, &offset))
		return 0;
	group = SB_LE16(newest, s_block_group_nr);
	where(&old, before, sizeof(before));
	where(&new, after, sizeof(after));
	if (!(v->flags & (RJ_VOLUME_SALVAGE | RJ_VOLUME_FORCE)) ||
		(v->flags & RJ_VOLUME_SALVAGE &&
			new.placement != RJ_PLACE_REMOTE)) {
		char how[64];

		if (new.placement == RJ_PLACE_REMOTE)
			snprintf(how, sizeof(how), "rjrecover -y -f");
		else
			snprintf(how, sizeof(how), "e2fsck -f -b %llu -B %u",
				(unsigned long long)(offset /
						     v->facts.block_size),
				v->facts.block_size);
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: an older superblock was put back: it names %s, and the backup of group %u, written after it, %s; %s uses the backup; nothing was changed",
			v->path, before, group, after, how);
	}
	if (v->flags & RJ_VOLUME_SALVAGE) {
		memcpy(v->super, newest, sizeof(newest));
		rj_ext4_super_promote(v->super);
		rj_ext4_facts_from_super(v);
	}
	v->facts.super = RJ_SUPER_STALE;
	v->facts.super_group = group;
	rj_fail(&v->facts.sbx_error, RJ_E_REFUSED,
		"it names %s, and the backup of group %u, written after it, %s",
		before, group, after);
	return 0;
}
