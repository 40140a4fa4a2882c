// SPDX-License-Identifier: LGPL-2.1-or-later
/* All that a file has but its bytes and its names. */
#include "ext4/files/files-priv.h"

#include <stdlib.h>
#include <string.h>

#define SECOND_NS 1000000000LL
/* What chattr(1) sets; not how a file is stored. */
#define USERS_FLAGS (EXT2_FL_USER_VISIBLE & ~(uint32_t)(EXT2_INDEX_FL | EXT4_EXTENTS_FL))

/* Of an inode of 256 bytes and more: ext4_decode_extra_time() */
static int64_t mtime(const struct rj_files *f, const struct ext2_inode_large *i)
{
	int64_t seconds = (int32_t)i->i_mtime;
	uint32_t extra = 0;

	if (EXT2_INODE_SIZE(f->fs->super) > EXT2_GOOD_OLD_INODE_SIZE &&
		(size_t)EXT2_GOOD_OLD_INODE_SIZE + i->i_extra_isize >=
			offsetof(struct ext2_inode_large, i_mtime_extra) + 4)
		extra = i->i_mtime_extra;
	seconds += (int64_t)(extra & 3) << 32;
	return seconds * SECOND_NS + (extra >> 2);
}

static struct rj_file_facts facts_of(const struct rj_files *f, uint32_t ino,
	const struct ext2_inode_large *i)
{
	return (struct rj_file_facts){
		.inode = ino,
		.generation = i->i_generation,
		.mode = i->i_mode,
		.uid = inode_uid(*i),
		.gid = inode_gid(*i),
		.size = EXT2_I_SIZE((const struct ext2_inode *)i),
		.mtime_ns = mtime(f, i),
	};
}

int rj_files_facts(struct rj_files *f, uint32_t ino, struct rj_file_facts *out,
	struct rj_error *err)
{
	struct ext2_inode_large inode;
	int rc = rj_files_inode(f, ino, &inode, err);

	if (!rc)
		*out = facts_of(f, ino, &inode);
	return rc;
}

/* Extended attributes, sorted by name. */
struct xattr_list {
	struct xattr {
		char *name;
		char *value;
		size_t len;
	} *all;
	size_t count;
	bool no_memory;
};

static int one_xattr(char *name, char *value, size_t len, void *arg)
{
	struct xattr_list *l = arg;
	struct xattr *more = realloc(l->all, (l->count + 1) * sizeof(*more)), *x;

	if (more) {
		l->all = more;
		x = &more[l->count++];
		*x = (struct xattr){.name = strdup(name), .value = malloc(len + 1), .len = len};
		if (x->value)
			memcpy(x->value, value, len);
		l->no_memory |= !x->name || !x->value;
	}
	l->no_memory |= !more;
	return l->no_memory ? XATTR_ABORT : 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct xattr *)a)->name, ((const struct xattr *)b)->name);
}

static int xattrs_of(struct rj_files *f, uint32_t ino, struct xattr_list *l, struct rj_error *err)
{
	struct ext2_xattr_handle *h = NULL;
	errcode_t e = ext2fs_xattrs_open(f->fs, ino, &h);

	if (!e)
		e = ext2fs_xattrs_read(h);
	if (!e)
		e = ext2fs_xattrs_iterate(h, one_xattr, l);
	if (h)
		ext2fs_xattrs_close(&h);
	if (l->no_memory)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	if (e)
		return rj_files_fail(f, err, e, "the extended attributes of inode", ino);
	if (l->count)
		qsort(l->all, l->count, sizeof(*l->all), by_name);
	return 0;
}

static void free_list(struct xattr_list *l)
{
	size_t i;

	for (i = 0; i < l->count; i++) {
		free(l->all[i].name);
		free(l->all[i].value);
	}
	free(l->all);
}

static bool same(const struct xattr_list *a, const struct xattr_list *b)
{
	size_t i;

	for (i = 0; i < a->count && i < b->count; i++)
		if (strcmp(a->all[i].name, b->all[i].name) || a->all[i].len != b->all[i].len ||
			memcmp(a->all[i].value, b->all[i].value, a->all[i].len))
			return false;
	return a->count == b->count;
}

static int compare_xattrs(struct rj_files *const f[2], const uint32_t ino[2], unsigned *what,
	struct rj_error *err)
{
	struct xattr_list l[2] = {0};
	int rc = xattrs_of(f[BEFORE], ino[BEFORE], &l[BEFORE], err);

	if (!rc)
		rc = xattrs_of(f[AFTER], ino[AFTER], &l[AFTER], err);
	if (!rc && !same(&l[BEFORE], &l[AFTER]))
		*what |= RJ_DIFF_XATTR;
	free_list(&l[BEFORE]);
	free_list(&l[AFTER]);
	return rc;
}

int rj_files_attributes(struct rj_files *const f[2], const uint32_t ino[2],
	unsigned *what, struct rj_error *err)
{
	struct ext2_inode_large i[2];
	struct rj_file_facts a, b;
	int rc = rj_files_inode(f[BEFORE], ino[BEFORE], &i[BEFORE], err);

	if (!rc)
		rc = rj_files_inode(f[AFTER], ino[AFTER], &i[AFTER], err);
	if (rc)
		return rc;
	a = facts_of(f[BEFORE], ino[BEFORE], &i[BEFORE]);
	b = facts_of(f[AFTER], ino[AFTER], &i[AFTER]);
	if (a.mode != b.mode)
		*what |= RJ_DIFF_MODE;
	if (a.uid != b.uid || a.gid != b.gid)
		*what |= RJ_DIFF_OWNER;
	if (a.mtime_ns != b.mtime_ns && !LINUX_S_ISDIR(a.mode))
		*what |= RJ_DIFF_MTIME;
	if ((i[BEFORE].i_flags ^ i[AFTER].i_flags) & USERS_FLAGS)
		*what |= RJ_DIFF_FLAGS;
	return compare_xattrs(f, ino, what, err);
}
