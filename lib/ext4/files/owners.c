// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Blocks that changed while no inode did: bytes were overwritten twice within one step of the
 * clock of inodes (a second with inodes of 128 bytes). The inodes near them are looked at first,
 * then all.
 */
#include "ext4/files/files-priv.h"

#include <stdlib.h>
#include <string.h>

size_t rj_block_set_from(const struct block_set *s, uint64_t block)
{
	size_t lo = 0, hi = s->count, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (s->blocks[mid] < block)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

bool rj_block_set_has(const struct block_set *s, uint64_t block)
{
	size_t i = rj_block_set_from(s, block);

	return i < s->count && s->blocks[i] == block;
}

size_t rj_block_set_own(struct block_set *s, uint64_t first, uint64_t count)
{
	size_t i = rj_block_set_from(s, first), new = 0;

	for (; i < s->count && s->blocks[i] - first < count; i++) {
		new += !s->owned[i];
		s->owned[i] = 1;
	}
	s->left -= new;
	return new;
}

int rj_files_own(struct rj_files *f, uint32_t ino, struct block_set *s, bool *any,
	struct rj_error *err)
{
	struct ext2_inode_large inode;
	struct rj_buf runs = {0};
	struct file_run r;
	size_t i, n = 0;
	int rc = rj_files_inode(f, ino, &inode, err);

	if (!rc)
		rc = rj_files_runs(f, ino, &inode, &runs, err);
	for (i = 0; !rc && i < runs.len; i += sizeof(r)) {
		memcpy(&r, runs.data + i, sizeof(r));
		n += rj_block_set_own(s, r.physical, r.count);
	}
	if (!rc && ext2fs_file_acl_block(f->fs, (struct ext2_inode *)&inode))
		n += rj_block_set_own(
			s, ext2fs_file_acl_block(f->fs, (struct ext2_inode *)&inode), 1);
	rj_buf_free(&runs);
	*any = n > 0;
	return rc;
}

/* Of those without an owner: what the volume itself has, and what nothing has now, need none. */
static int drop(struct rj_files *f, struct block_set *s, struct rj_error *err)
{
	bool used;
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < s->count; i++) {
		if (s->owned[i])
			continue;
		used = false;
		if (!rj_files_is_meta(f, s->blocks[i]))
			rc = rj_files_block_used(f, s->blocks[i], &used, err);
		if (!used)
			rj_block_set_own(s, s->blocks[i], 1);
	}
	return rc;
}

static int look_in_group(struct rj_files *f, uint32_t group, struct block_set *s,
	struct rj_buf *out, struct rj_error *err)
{
	uint32_t per = f->fs->super->s_inodes_per_group, n = rj_files_group_inodes(f, group);
	uint32_t i, ino;
	bool used, any;
	int rc = 0;

	for (i = 0; !rc && i < n; i++) {
		ino = group * per + i + 1;
		any = false;
		rc = rj_files_inode_used(f, ino, &used, err);
		if (!rc && used)
			rc = rj_files_own(f, ino, s, &any, err);
		if (!rc && any && rj_buf_append(out, &ino, sizeof(ino)))
			rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	}
	return rc;
}

int rj_files_owners(struct rj_files *f, struct block_set *s, struct rj_buf *out,
	struct rj_files_cost *cost, struct rj_error *err)
{
	uint32_t groups = f->fs->group_desc_count, g, flex = rj_files_flex(f), first;
	uint8_t *seen = NULL;
	size_t i;
	int rc = drop(f, s, err);

	if (rc || !s->left)
		return rc;
	seen = calloc(groups, 1);
	if (!seen)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	for (i = 0; !rc && i < s->count; i++) {
		if (s->owned[i])
			continue;
		first = ext2fs_group_of_blk2(f->fs, s->blocks[i]);
		first -= first % flex;
		for (g = first; !rc && g < groups && g < first + flex && !s->owned[i]; g++)
			if (!seen[g]++) {
				cost->groups++;
				rc = look_in_group(f, g, s, out, err);
			}
	}
	for (g = 0; !rc && g < groups && s->left; g++)
		if (!seen[g]) {
			cost->groups++;
			rc = look_in_group(f, g, s, out, err);
		}
	free(seen);
	return rc;
}
