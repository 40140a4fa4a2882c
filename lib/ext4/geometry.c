// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Check that a superblock can be used, and find its backups. ext2fs_open2() is not
 * called for that: a few wrong bytes make it divide by zero or allocate gigabytes
 * (1.47.0), and it reads all group descriptors, which are not needed here.
 */
#include "ext4/ext4-priv.h"

#include <stdlib.h>
#include <string.h>

#define MIN_BLOCKS_PER_GROUP 64 /* mke2fs makes none below 256 */

static int bad_super(const struct rj_volume *v, const char *what,
	unsigned long long value, struct rj_error *err)
{
	const struct rj_volume_facts *f = &v->facts;
	bool elsewhere = f->has_journal && !f->journal_inode;

	/* e2fsck stops when it does not find the journal; rjrecover takes the
	 * copy in the log, or says what -y would do */
	if (f->has_sbx ? f->sbx.placement == RJ_PLACE_REMOTE : elsewhere)
		return rj_fail(err, RJ_E_CORRUPT,
			"%s: damaged superblock (%s: %llu); run rjrecover %s, "
			"which mends it from the log or says what else can%s",
			v->path, what, value, v->path,
			f->has_sbx ? ""
				   : " (e2fsck, if its journal is on a device)");
	return rj_fail(err, RJ_E_CORRUPT,
		"%s: damaged superblock (%s: %llu); e2fsck can restore it from "
		"a backup",
		v->path, what, value);
}

static int check_features(const struct rj_volume *v, struct rj_error *err)
{
	uint32_t incompat = SB_LE32(v->super, s_feature_incompat);
	uint32_t ro_compat = SB_LE32(v->super, s_feature_ro_compat);

	if (incompat & EXT3_FEATURE_INCOMPAT_JOURNAL_DEV)
		return rj_fail(err, RJ_E_INVAL,
			"%s: an external journal device, not a filesystem",
			v->path);
	if (v->flags & RJ_VOLUME_FORCE)
		return 0;
	incompat &= ~(uint32_t)EXT2_LIB_FEATURE_INCOMPAT_SUPP;
	if (v->flags & RJ_VOLUME_MMP)
		incompat &= ~(uint32_t)EXT4_FEATURE_INCOMPAT_MMP;
	ro_compat &= ~(uint32_t)EXT2_LIB_FEATURE_RO_COMPAT_SUPP;
	if (!(v->flags & RJ_VOLUME_WRITE))
		ro_compat = 0;
	if (incompat || ro_compat)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"%s: has features that this version does not know "
			"(incompat 0x%x, ro_compat 0x%x)",
			v->path, incompat, ro_compat);
	return 0;
}

bool rj_ext4_has_magic(const struct rj_volume *v)
{
	return SB_LE16(v->super, s_magic) == EXT2_SUPER_MAGIC;
}

int rj_ext4_check_super(const struct rj_volume *v, struct rj_error *err)
{
	const uint8_t *raw = v->super;
	uint32_t log = SB_LE32(raw, s_log_block_size);
	uint32_t per_group = SB_LE32(raw, s_blocks_per_group);
	uint32_t per_cluster_group = SB_LE32(raw, s_clusters_per_group);
	uint32_t first = SB_LE32(raw, s_first_data_block);
	int rc;

	if (!rj_ext4_has_magic(v))
		return rj_fail(err, RJ_E_INVAL,
			"%s: no ext2, ext3 or ext4 filesystem; is it the right "
			"device? If only its superblock is damaged, e2fsck can "
			"restore it from a backup (rjrecover -y -f, if its "
			"journal is remote)",
			v->path);
	if (SB_LE32(raw, s_rev_level) > EXT2_MAX_SUPP_REV)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"%s: filesystem revision %u, which is unknown",
			v->path, SB_LE32(raw, s_rev_level));
	rc = check_features(v, err);
	if (rc)
		return rc;
	if (!(v->flags & RJ_VOLUME_FORCE) && !rj_ext4_super_sealed(raw))
		return bad_super(
			v, "wrong checksum", SB_LE32(raw, s_checksum), err);
	if (log > EXT2_MAX_BLOCK_LOG_SIZE - EXT2_MIN_BLOCK_LOG_SIZE)
		return bad_super(v, "block size 2^", (uint64_t)log + 10, err);
	/* a bitmap is one block: a bit per cluster */
	if (per_cluster_group > 8 * (1024u << log))
		return bad_super(
			v, "clusters per group", per_cluster_group, err);
	if (per_group < MIN_BLOCKS_PER_GROUP || per_group % 8)
		return bad_super(v, "blocks per group", per_group, err);
	if (first > 1 || (first && log))
		return bad_super(v, "first data block", first, err);
	if (v->facts.blocks <= first)
		return bad_super(v, "blocks", v->facts.blocks, err);
	return 0;
}

/* test_root() of libext2fs: is A a power of B? */
static bool power_of(uint32_t a, uint32_t b)
{
	while (a > 1 && a % b == 0)
		a /= b;
	return a == 1;
}

/* ext2fs_bg_has_super() */
bool rj_ext4_has_super(const uint8_t raw[RJ_SUPER_BYTES], uint32_t group)
{
	if (SB_LE32(raw, s_feature_compat) & EXT4_FEATURE_COMPAT_SPARSE_SUPER2)
		return group == SB_LE32(raw, s_backup_bgs[0]) ||
		       group == SB_LE32(raw, s_backup_bgs[1]);
	if (!(SB_LE32(raw, s_feature_ro_compat) &
		    EXT2_FEATURE_RO_COMPAT_SPARSE_SUPER))
		return true;
	return group == 1 ||
	       (group & 1 && (power_of(group, 3) || power_of(group, 5) ||
				     power_of(group, 7)));
}

static int add_backup(struct rj_volume *v, uint32_t group, uint64_t offset,
	uint32_t *capacity, struct rj_error *err)
{
	struct backup *more;

	if (v->facts.backups == *capacity) {
		*capacity = *capacity ? *capacity * 2 : 32;
		more = realloc(v->backups, *capacity * sizeof(*more));
		if (!more)
			return rj_fail(
				err, RJ_E_NOMEM, "%s: out of memory", v->path);
		v->backups = more;
	}
	v->backups[v->facts.backups].group = group;
	v->backups[v->facts.backups++].offset = offset;
	return 0;
}

int rj_ext4_find_backups(struct rj_volume *v, struct rj_error *err)
{
	uint64_t first = SB_LE32(v->super, s_first_data_block);
	uint64_t per_group = SB_LE32(v->super, s_blocks_per_group);
	uint64_t groups, group, offset;
	uint32_t capacity = 0;
	int rc = 0;

	groups = (v->facts.blocks - first - 1) / per_group + 1;
	if (groups > UINT32_MAX)
		return bad_super(v, "groups", groups, err);
	free(v->backups);
	v->backups = NULL;
	v->facts.backups = 0;
	v->facts.groups = (uint32_t)groups;
	for (group = 1; !rc && group < groups; group++) {
		if (!rj_ext4_has_super(v->super, (uint32_t)group))
			continue;
		/* ext2fs_group_first_block2(); a cut image (RJ_VOLUME_FORCE)
		 * has no more of them */
		offset = (first + group * per_group) * v->facts.block_size;
		if (offset + RJ_SUPER_BYTES > v->bio.size_bytes)
			break;
		rc = add_backup(v, (uint32_t)group, offset, &capacity, err);
	}
	return rc;
}
