// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read the facts of a volume with a remote journal although its primary superblock is
 * damaged. e2fsck cannot restore such a superblock from a backup, since it does not
 * find the journal.
 *
 * Its 1024 bytes are two sectors on most disks, and a power cut may leave one of
 * them old. Each sector is good by itself then: what never changes while the volume
 * is used agrees with the backups, and the extension, in the second sector, has a
 * checksum of its own. Only the checksum over both is wrong.
 *
 * An ext3 volume has no such checksum. Without its second sector it looks like one
 * whose journal is on a device; the backups say that the journal is remote.
 */
#include "ext4/ext4-priv.h"

#include <string.h>

#include "os/fileio.h"

/* Backups that are looked at: one that is lost need not mean anything. */
#define LOOKED_AT     3
#define CLUSTERS_MOST 65528u /* of a group: EXT2_MAX_CLUSTERS_PER_GROUP */
#define BLOCKS_MOST   65536u /* of a cluster */

/* What neither the kernel nor a recovery changes, and backups have too. */
static const struct field {
	size_t at, len;
} constant[] = {
#define FIELD(f)                                                               \
	{offsetof(struct ext2_super_block, f),                                 \
		sizeof(((struct ext2_super_block *)0)->f)}
	FIELD(s_inodes_count),
	FIELD(s_blocks_count),
	FIELD(s_blocks_count_hi),
	FIELD(s_first_data_block),
	FIELD(s_log_block_size),
	FIELD(s_log_cluster_size),
	FIELD(s_blocks_per_group),
	FIELD(s_clusters_per_group),
	FIELD(s_inodes_per_group),
	FIELD(s_magic),
	FIELD(s_rev_level),
	FIELD(s_first_ino),
	FIELD(s_inode_size),
	FIELD(s_uuid),
	FIELD(s_reserved_gdt_blocks),
	FIELD(s_journal_uuid),
	FIELD(s_journal_inum),
	FIELD(s_hash_seed),
	FIELD(s_desc_size),
	FIELD(s_first_meta_bg),
	FIELD(s_log_groups_per_flex),
	FIELD(s_checksum_type),
	FIELD(s_backup_bgs),
	FIELD(s_checksum_seed),
	FIELD(s_orphan_file_inum),
#undef FIELD
};

/* Features that the kernel sets in the primary alone, when they come into use. */
#define COMPAT_LATER   ((uint32_t)EXT2_FEATURE_COMPAT_EXT_ATTR)
#define INCOMPAT_LATER ((uint32_t)EXT3_FEATURE_INCOMPAT_RECOVER)
#define RO_COMPAT_LATER                                                        \
	((uint32_t)(EXT2_FEATURE_RO_COMPAT_LARGE_FILE |                        \
		    EXT4_FEATURE_RO_COMPAT_HUGE_FILE |                         \
		    EXT4_FEATURE_RO_COMPAT_DIR_NLINK |                         \
		    EXT4_FEATURE_RO_COMPAT_ORPHAN_PRESENT))

static bool agrees(const uint8_t *a, const uint8_t *b)
{
	size_t i;

	for (i = 0; i < sizeof(constant) / sizeof(constant[0]); i++)
		if (memcmp(a + constant[i].at, b + constant[i].at,
			    constant[i].len))
			return false;
	return !((SB_LE32(a, s_feature_compat) ^ SB_LE32(b, s_feature_compat)) &
		       ~COMPAT_LATER) &&
	       !((SB_LE32(a, s_feature_incompat) ^
			 SB_LE32(b, s_feature_incompat)) &
		       ~INCOMPAT_LATER) &&
	       !((SB_LE32(a, s_feature_ro_compat) ^
			 SB_LE32(b, s_feature_ro_compat)) &
		       ~RO_COMPAT_LATER);
}

/* Make RAW the superblock of V. Is it a good one? FORCE: its checksum aside. */
static bool adopt(
	struct rj_volume *v, const uint8_t raw[RJ_SUPER_BYTES], bool force)
{
	unsigned flags = v->flags;
	int rc;

	if (raw != v->super)
		memcpy(v->super, raw, RJ_SUPER_BYTES);
	rj_ext4_facts_from_super(v);
	if (force)
		v->flags |= RJ_VOLUME_FORCE;
	rc = rj_ext4_check_super(v, NULL);
	v->flags = flags;
	return !rc && v->facts.has_sbx &&
	       v->facts.sbx.placement == RJ_PLACE_REMOTE;
}

/* Read what should be a backup into V->super: is it a good one, of that place? */
static bool try_backup(struct rj_volume *v, uint64_t offset)
{
	uint8_t raw[RJ_SUPER_BYTES];
	uint64_t group;

	if (offset + RJ_SUPER_BYTES > v->bio.size_bytes ||
		rj_pread_all(v->fd, raw, sizeof(raw), offset, v->path, NULL) ||
		!adopt(v, raw, false))
		return false;
	group = SB_LE16(raw, s_block_group_nr);
	return group && (SB_LE32(raw, s_first_data_block) +
				group * SB_LE32(raw, s_blocks_per_group)) *
					v->facts.block_size ==
				offset;
}

/* Where V->super, the primary, says that they are. */
static bool find_listed(struct rj_volume *v)
{
	uint64_t offset[LOOKED_AT];
	uint32_t i, n = 0;

	if (rj_ext4_find_backups(v, NULL))
		return false;
	for (; n < v->facts.backups && n < LOOKED_AT; n++)
		offset[n] = v->backups[n].offset;
	for (i = 0; i < n; i++)
		if (try_backup(v, offset[i]))
			return true;
	return false;
}

/* Where mke2fs puts the first one, whatever the size of a block and of a cluster: at the end
 * of group 0, which has as many clusters as a block has bits, and at most CLUSTERS_MOST.
 * With bigalloc a group of 1 KiB blocks begins at block 0, too. */
static bool find_by_rule(struct rj_volume *v)
{
	uint64_t bs, clusters, blocks; /* of a group, of a cluster */

	for (bs = EXT2_MIN_BLOCK_SIZE; bs <= EXT2_MAX_BLOCK_SIZE; bs *= 2) {
		clusters = bs * 8 < CLUSTERS_MOST ? bs * 8 : CLUSTERS_MOST;
		for (blocks = 1; blocks <= BLOCKS_MOST; blocks *= 2)
			if (try_backup(v, (clusters * blocks + (bs == 1024 && blocks == 1)) * bs))
				return true;
	}
	return false;
}

void rj_ext4_super_promote(uint8_t raw[RJ_SUPER_BYTES])
{
	SB_PUT16(raw, s_block_group_nr, 0);
	/* no backup has it, so nothing is known but what the log says */
	SB_PUT32(raw, s_feature_incompat,
		SB_LE32(raw, s_feature_incompat) |
			(uint32_t)EXT3_FEATURE_INCOMPAT_RECOVER);
	rj_ext4_super_seal(raw);
}

/* The backup in V->super becomes what the primary should be. */
static void stand_in(struct rj_volume *v, const uint8_t primary[RJ_SUPER_BYTES])
{
	struct rj_sbx sbx;
	bool newer;

	/* of the two extensions the primary's is the newer one */
	newer = !rj_sbx_decode(primary + RJ_SBX_OFFSET, &sbx, NULL) &&
		sbx.placement == RJ_PLACE_REMOTE &&
		rj_uuid_equal(sbx.journal_uuid, v->facts.sbx.journal_uuid);
	if (newer)
		memcpy(v->super + RJ_SBX_OFFSET, primary + RJ_SBX_OFFSET,
			RJ_SBX_BYTES);
	rj_ext4_super_promote(v->super);
	rj_ext4_facts_from_super(v);
	if (!newer) /* a mount clears it in the primary only */
		v->facts.sbx.fallback_empty = false;
}

int rj_ext4_salvage(struct rj_volume *v, uint64_t device_bytes,
	const struct rj_error *why)
{
	uint8_t primary[RJ_SUPER_BYTES], backup[RJ_SUPER_BYTES];
	bool magic = rj_ext4_has_magic(v), found;

	memcpy(primary, v->super, sizeof(primary));
	v->bio.size_bytes = device_bytes;
	found = (adopt(v, primary, true) && find_listed(v)) || find_by_rule(v);
	memcpy(backup, v->super, sizeof(backup));
	v->facts.super_group = found ? SB_LE16(backup, s_block_group_nr) : 0;
	v->facts.super = RJ_SUPER_TORN;
	if ((!found || agrees(backup, primary)) && adopt(v, primary, true))
		return 0;
	if (!found)
		return -(int)why->code;
	v->facts.super = magic ? RJ_SUPER_LOST : RJ_SUPER_GONE;
	memcpy(v->super, backup, sizeof(backup));
	stand_in(v, primary);
	return 0;
}

void rj_ext4_salvage_extension(struct rj_volume *v, uint64_t device_bytes)
{
	const struct rj_volume_facts *f = &v->facts;
	uint8_t primary[RJ_SUPER_BYTES];

	if (f->has_sbx || f->sbx_error.code == RJ_E_UNSUPPORTED ||
		!f->has_journal || f->journal_inode)
		return;
	memcpy(primary, v->super, sizeof(primary));
	v->bio.size_bytes = device_bytes;
	if ((find_listed(v) || find_by_rule(v)) &&
		!memcmp(SB_AT(primary, s_uuid), f->uuid, RJ_UUID_BYTES) &&
		!memcmp(SB_AT(primary, s_journal_uuid), f->sbx.journal_uuid,
			RJ_UUID_BYTES)) {
		v->facts.super = RJ_SUPER_LOST;
		v->facts.super_group = SB_LE16(v->super, s_block_group_nr);
		stand_in(v, primary);
		return;
	}
	memcpy(v->super, primary, sizeof(primary));
	rj_ext4_facts_from_super(v);
}

bool rj_volume_super_agrees(
	const struct rj_volume *v, const uint8_t raw[RJ_SUPER_BYTES])
{
	return agrees(v->super, raw) && rj_ext4_super_sealed(raw);
}

bool rj_volume_super_of_mount(
	const struct rj_volume *v, const uint8_t raw[RJ_SUPER_BYTES])
{
	return rj_volume_super_agrees(v, raw) &&
	       SB_LE32(v->super, s_mtime) == SB_LE32(raw, s_mtime) &&
	       SB_LE16(v->super, s_mnt_count) == SB_LE16(raw, s_mnt_count);
}

const uint8_t *rj_volume_super_uuid(const uint8_t *raw)
{
	return SB_AT(raw, s_uuid);
}
