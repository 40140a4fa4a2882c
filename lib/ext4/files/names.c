// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * From an inode to its names. An inode does not say which directory it is in: its directory is
 * looked for where the kernel puts a file, in the groups near it, and then everywhere. A directory
 * has its parent as "..".
 */
#include "ext4/files/files-priv.h"

#include <stdlib.h>
#include <string.h>

#define DEEPEST	   65536u /* directories in each other: more are a circle */
#define ROOM_FIRST 1024u  /* of the table, a power of 2 */
#define READ_BYTES 65536u /* of an inode table at a time */

/* A directory, by its entry in its parent. */
struct dir_known {
	uint32_t ino, parent; /* INO 0: an empty place */
	const char *name;     /* NULL: not known */
	const char *path;     /* NULL: not known */
};

int rj_dirs_open(struct directories *d, struct rj_files *f, struct arena *arena,
	struct rj_files_cost *cost, struct rj_error *err)
{
	*d = (struct directories){.f = f, .arena = arena, .cost = cost, .known_room = ROOM_FIRST};
	d->read = calloc(f->fs->super->s_inodes_count / 8 + 1, 1);
	d->known = calloc(d->known_room, sizeof(*d->known));
	return d->read && d->known ? 0 : rj_fail(err, RJ_E_NOMEM, "out of memory");
}

void rj_dirs_close(struct directories *d)
{
	free(d->read);
	free(d->known);
	d->read = NULL;
	d->known = NULL;
}

/* The place of INO in the table, or the empty one where it belongs. */
static struct dir_known *place(const struct directories *d, uint32_t ino)
{
	size_t i = ino * 2654435761u & (d->known_room - 1);

	while (d->known[i].ino && d->known[i].ino != ino)
		i = (i + 1) & (d->known_room - 1);
	return &d->known[i];
}

static int grow(struct directories *d, struct rj_error *err)
{
	struct dir_known *old = d->known;
	size_t room = d->known_room, i;

	d->known = calloc(room * 2, sizeof(*old));
	if (!d->known) {
		d->known = old;
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	}
	d->known_room = room * 2;
	for (i = 0; i < room; i++)
		if (old[i].ino)
			*place(d, old[i].ino) = old[i];
	free(old);
	return 0;
}

static int know(struct directories *d, uint32_t ino, uint32_t parent, const char *text, size_t len,
	struct rj_error *err)
{
	struct dir_known *k;
	int rc = d->known_count * 2 >= d->known_room ? grow(d, err) : 0;

	if (rc)
		return rc;
	k = place(d, ino);
	if (k->name)
		return 0;
	d->known_count += !k->ino;
	k->ino = ino;
	k->parent = parent;
	k->name = rj_arena_text(d->arena, text, len);
	return k->name ? 0 : rj_fail(err, RJ_E_NOMEM, "out of memory");
}

struct reading {
	struct directories *d;
	uint32_t dir;
};

static int is_dir(struct rj_files *f, uint32_t ino, unsigned type, bool *out, struct rj_error *err)
{
	struct ext2_inode_large inode;
	int rc = 0;

	*out = type == EXT2_FT_DIR;
	if (type == EXT2_FT_UNKNOWN) {
		rc = rj_files_inode(f, ino, &inode, err);
		*out = !rc && LINUX_S_ISDIR(inode.i_mode);
	}
	return rc;
}

static int one_entry(void *arg, uint32_t child, unsigned type, const char *text, size_t len,
	struct rj_error *err)
{
	struct reading *r = arg;
	struct directories *d = r->d;
	bool dir;
	int rc;

	if (rj_files_is_dot(text, len))
		return 0;
	rc = is_dir(d->f, child, type, &dir, err);
	if (!rc && dir)
		rc = know(d, child, r->dir, text, len, err);
	if (!rc && d->every)
		rc = d->every(d->arg, r->dir, child, text, len, err);
	if (rc || !d->wanted || child > d->f->fs->super->s_inodes_count ||
		!ext2fs_test_bit(child, d->wanted))
		return rc;
	return d->found(d->arg, r->dir, child, text, len, err);
}

static int each_block(struct rj_files *f, uint32_t ino,
	int (*fn)(void *, uint32_t, unsigned, const char *, size_t, struct rj_error *), void *arg,
	struct rj_error *err)
{
	struct ext2_inode_large inode;
	struct rj_buf runs = {0};
	struct file_run r;
	uint64_t n;
	size_t i;
	int rc = rj_files_inode(f, ino, &inode, err);

	if (!rc)
		rc = rj_files_runs(f, ino, &inode, &runs, err);
	for (i = 0; !rc && i < runs.len; i += sizeof(r)) {
		memcpy(&r, runs.data + i, sizeof(r));
		for (n = 0; !rc && !r.map && n < r.count; n++)
			rc = rj_files_entries(f, r.physical + n, fn, arg, err);
	}
	rj_buf_free(&runs);
	return rc;
}

int rj_dirs_read(struct directories *d, uint32_t ino, struct rj_error *err)
{
	struct reading r = {.d = d, .dir = ino};
	int rc;

	if (ext2fs_test_bit(ino, d->read))
		return 0;
	ext2fs_set_bit(ino, d->read);
	d->cost->directories++;
	rc = each_block(d->f, ino, one_entry, &r, err);
	if (rc) /* not whole */
		ext2fs_clear_bit(ino, d->read);
	return rc;
}

/* INODES of the table, of SIZE bytes each, the first one with the number FIRST. */
static int read_those(struct directories *d, const uint8_t *inodes, uint32_t count, uint32_t first,
	struct rj_error *err)
{
	uint32_t size = EXT2_INODE_SIZE(d->f->fs->super), i;
	const uint8_t *p = inodes;
	bool used;
	int rc = 0;

	for (i = 0; !rc && i < count; i++, p += size) {
		if (!LINUX_S_ISDIR(rj_get_le16(p + offsetof(struct ext2_inode, i_mode))) ||
			!rj_get_le16(p + offsetof(struct ext2_inode, i_links_count)))
			continue;
		rc = rj_files_inode_used(d->f, first + i, &used, err);
		if (!rc && used && !rj_files_is_special(d->f, first + i, 0))
			rc = rj_dirs_read(d, first + i, err);
	}
	return rc;
}

int rj_dirs_read_group(struct directories *d, uint32_t group, struct rj_error *err)
{
	ext2_filsys fs = d->f->fs;
	uint32_t size = EXT2_INODE_SIZE(fs->super), count = rj_files_group_inodes(d->f, group);
	uint32_t first = group * fs->super->s_inodes_per_group + 1, n, i;
	uint64_t off = ext2fs_inode_table_loc(fs, group) * fs->blocksize;
	uint8_t *data;
	int rc = 0;

	if (!ext2fs_bg_used_dirs_count(fs, group))
		return 0;
	data = malloc(READ_BYTES);
	if (!data)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	d->cost->groups++;
	for (i = 0; !rc && i < count; i += n) {
		n = READ_BYTES / size;
		if (n > count - i)
			n = count - i;
		rc = d->f->bio->read(
			d->f->bio, data, (size_t)n * size, off + (uint64_t)i * size, err);
		if (!rc)
			rc = read_those(d, data, n, first + i, err);
	}
	free(data);
	return rc;
}

static int see_parent(void *arg, uint32_t child, unsigned type, const char *text, size_t len,
	struct rj_error *err)
{
	(void)type, (void)err;
	if (len != 2 || !rj_files_is_dot(text, len))
		return 0;
	*(uint32_t *)arg = child;
	return 1;
}

/* The entry of directory INO in its parent. */
static int find_dir(struct directories *d, uint32_t ino, struct rj_error *err)
{
	struct ext2_inode_large inode;
	uint32_t parent = 0;
	int rc = rj_files_inode(d->f, ino, &inode, err);

	if (!rc && LINUX_S_ISDIR(inode.i_mode))
		rc = each_block(d->f, ino, see_parent, &parent, err);
	if (rc >= 0 && parent && parent <= d->f->fs->super->s_inodes_count)
		rc = rj_dirs_read(d, parent, err);
	else if (rc >= 0)
		rc = 0;
	if (rc >= 0 && !place(d, ino)->name)
		rc = rj_fail(err, RJ_E_CORRUPT, "%s: directory %u has no name in directory %u",
			d->f->bio->name, ino, parent);
	return rc;
}

int rj_dirs_entry(struct directories *d, uint32_t ino, uint32_t *parent, const char **text,
	struct rj_error *err)
{
	int rc = place(d, ino)->name ? 0 : find_dir(d, ino, err);

	if (rc < 0)
		return rc;
	*parent = place(d, ino)->parent;
	*text = place(d, ino)->name;
	return 0;
}

static int path_of(struct directories *d, uint32_t ino, unsigned depth, const char **out,
	struct rj_error *err)
{
	const char *above = "";
	struct dir_known *k;
	int rc = 0;

	*out = "";
	if (ino == EXT2_ROOT_INO)
		return 0;
	if (!depth)
		return rj_fail(err, RJ_E_CORRUPT, "%s: directory %u is below itself",
			d->f->bio->name, ino);
	if (!place(d, ino)->name)
		rc = find_dir(d, ino, err);
	if (rc >= 0 && !place(d, ino)->path)
		rc = path_of(d, place(d, ino)->parent, depth - 1, &above, err);
	if (rc < 0)
		return rc;
	k = place(d, ino);
	if (!k->path)
		k->path = rj_arena_path(d->arena, above, k->name);
	*out = k->path;
	return k->path ? 0 : rj_fail(err, RJ_E_NOMEM, "out of memory");
}

int rj_dirs_path(struct directories *d, uint32_t ino, const char **out, struct rj_error *err)
{
	return path_of(d, ino, DEEPEST, out, err);
}
