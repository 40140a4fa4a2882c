// SPDX-License-Identifier: GPL-2.0-or-later
#include "verify.h"

#include <ext2fs/ext2_fs.h>
#include <ext2fs/ext2fs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "os/proc.h"

/* Names of one directory at most. */
#define NAMES_MAX 128

struct verify {
	ext2_filsys fs;
	const struct ops *o;
	ext2_ino_t dir;
	struct {
		char name[OPS_NAME_BYTES];
		ext2_ino_t ino;
	} names[NAMES_MAX];
	unsigned count;
	bool too_many, writeback;
	/* of the file looked at */
	uint8_t *data, xattr[OPS_XATTR_MAX];
	uint32_t size;
	size_t xattr_len; /* 0: none */
	char *why;
	size_t why_size;
};

__attribute__((format(printf, 2, 3))) static int no(
	struct verify *v, const char *fmt, ...)
{
	va_list ap;
	int n;

	n = snprintf(v->why, v->why_size, "thread %u, %llu acknowledged: ",
		v->o->thread, (unsigned long long)v->o->done);
	va_start(ap, fmt);
	vsnprintf(v->why + n, v->why_size - (size_t)n, fmt, ap);
	va_end(ap);
	return -1;
}

int verify_open(const char *image, bool writeback, struct verify **out,
	char *why, size_t size)
{
	struct verify *v = calloc(1, sizeof(*v));
	errcode_t rc = 0;

	*out = NULL;
	if (v) {
		v->writeback = writeback;
		v->data = malloc(OPS_BIG_BYTES);
		rc = ext2fs_open(image, 0, 0, 0, unix_io_manager, &v->fs);
	}
	if (!v || !v->data || rc) {
		snprintf(why, size, "%s: cannot be opened (%ld)", image, rc);
		verify_close(v);
		return -1;
	}
	*out = v;
	return 0;
}

void verify_close(struct verify *v)
{
	if (!v)
		return;
	if (v->fs)
		ext2fs_close(v->fs);
	free(v->data);
	free(v);
}

static int note_name(struct ext2_dir_entry *e, int offset, int blocksize,
	char *buf, void *arg)
{
	struct verify *v = arg;
	int len = ext2fs_dirent_name_len(e);

	if ((len == 1 && e->name[0] == '.') ||
		(len == 2 && !memcmp(e->name, "..", 2)))
		return 0;
	if (v->count == NAMES_MAX || len >= OPS_NAME_BYTES) {
		v->too_many = true;
		return DIRENT_ABORT;
	}
	memcpy(v->names[v->count].name, e->name, (size_t)len);
	v->names[v->count].name[len] = 0;
	v->names[v->count++].ino = e->inode;
	return 0;
}

static int list(struct verify *v, ext2_ino_t dir)
{
	errcode_t rc;

	v->count = 0;
	v->too_many = false;
	rc = ext2fs_dir_iterate(v->fs, dir, 0, NULL, note_name, v);
	if (rc || v->too_many)
		return no(v, "inode %u: not a directory of ours (%ld)", dir, rc);
	return 0;
}

/* The inode of NAME in what list() found, which is struck out; 0: none. */
static ext2_ino_t take(struct verify *v, const char *name)
{
	unsigned i;

	for (i = 0; i < v->count; i++) {
		if (!strcmp(v->names[i].name, name)) {
			v->names[i].name[0] = 0;
			return v->names[i].ino;
		}
	}
	return 0;
}

static int load_xattr(struct verify *v, const char *name, ext2_ino_t ino)
{
	struct ext2_xattr_handle *h = NULL;
	void *value = NULL;
	errcode_t rc;

	v->xattr_len = 0;
	rc = ext2fs_xattrs_open(v->fs, ino, &h);
	if (!rc)
		rc = ext2fs_xattrs_read(h);
	if (!rc && ext2fs_xattr_get(h, OPS_XATTR, &value, &v->xattr_len))
		v->xattr_len = 0;
	if (h)
		ext2fs_xattrs_close(&h);
	if (rc || v->xattr_len > OPS_XATTR_MAX)
		rc = no(v, "%s: its attribute of %zu bytes cannot be read (%ld)",
			name, v->xattr_len, rc);
	else if (v->xattr_len)
		memcpy(v->xattr, value, v->xattr_len);
	ext2fs_free_mem(&value);
	return rc ? -1 : 0;
}

/* Its bytes into v->data, v->size; its attribute. */
static int load(struct verify *v, const char *name, ext2_ino_t ino)
{
	ext2_file_t f;
	__u64 size = 0;
	unsigned got = 0;
	errcode_t rc;

	rc = ext2fs_file_open(v->fs, ino, 0, &f);
	if (rc)
		return no(v, "%s: cannot be read (%ld)", name, rc);
	rc = ext2fs_file_get_lsize(f, &size);
	if (!rc && size <= OPS_BIG_BYTES)
		rc = ext2fs_file_read(f, v->data, (unsigned)size, &got);
	ext2fs_file_close(f);
	if (rc || size != got)
		return no(v, "%s: %u of %llu bytes can be read (%ld)", name,
			got, (unsigned long long)size, rc);
	v->size = got;
	return load_xattr(v, name, ino);
}

/* ---- a slot's file ---- */

/* Is each byte of one of the versions of FILE? */
static int bytes_fit(struct verify *v, const char *name,
	const struct ops_slot *s, uint64_t file)
{
	uint32_t i;
	unsigned n;

	for (i = 0; i < v->size; i++) {
		for (n = 0; n < s->count; n++)
			if (s->v[n].file == file &&
				v->data[i] == (i < s->v[n].size ? s->v[n].data[i] : 0))
				break;
		if (n == s->count)
			return no(v, "%s: byte %u of %u is 0x%02x, as in no version of it",
				name, i, v->size, v->data[i]);
	}
	return 0;
}

static int size_fits(struct verify *v, const char *name,
	const struct ops_slot *s, uint64_t file)
{
	uint32_t least = UINT32_MAX, most = 0;
	unsigned n;

	for (n = 0; n < s->count; n++) {
		if (s->v[n].file != file)
			continue;
		if (s->v[n].size < least)
			least = s->v[n].size;
		if (s->v[n].size > most)
			most = s->v[n].size;
	}
	if (v->size < least || v->size > most)
		return no(v, "%s has %u bytes, not %u to %u", name, v->size,
			least, most);
	return 0;
}

static int xattr_fits(struct verify *v, const char *name,
	const struct ops_slot *s, uint64_t file)
{
	uint8_t want[OPS_XATTR_MAX];
	unsigned n;

	for (n = 0; n < s->count; n++) {
		if (s->v[n].file != file || s->v[n].xattr_len != v->xattr_len)
			continue;
		ops_fill(want, 0, v->xattr_len, s->v[n].xattr_fill);
		if (!memcmp(want, v->xattr, v->xattr_len))
			return 0;
	}
	return no(v, "%s: its attribute of %zu bytes is not of a version of it",
		name, v->xattr_len);
}

/*
 * Is what was loaded one of the files that the name may stand for? With
 * data=writeback what is not synced may be anything.
 */
static int file_fits(struct verify *v, const char *name,
	const struct ops_slot *s, uint64_t file)
{
	if (size_fits(v, name, s, file) || xattr_fits(v, name, s, file))
		return -1;
	return v->writeback && s->count > 1 ? 0 : bytes_fit(v, name, s, file);
}

static int check_slot(struct verify *v, unsigned slot)
{
	const struct ops_slot *s = &v->o->slots[slot];
	char name[OPS_NAME_BYTES], tmp[OPS_NAME_BYTES + 8];
	ext2_ino_t ino;
	unsigned n;

	ops_name(name, slot);
	ino = take(v, name);
	if (s->count > 1) { /* it may be about to be replaced */
		snprintf(tmp, sizeof(tmp), "%s.new", name);
		take(v, tmp);
	}
	if (ino && load(v, name, ino))
		return -1;
	for (n = 0; n < s->count; n++) {
		if (!s->v[n].file && !ino)
			return 0;
		if (s->v[n].file && ino && !file_fits(v, name, s, s->v[n].file))
			return 0;
	}
	if (!ino)
		return no(v, "%s (%u bytes) is gone", name, s->v[0].size);
	return s->count == 1 && !s->v[0].file
		       ? no(v, "%s is there, and was deleted", name)
		       : -1; /* file_fits() said why */
}

/* ---- the rest ---- */

/* Are these v->data? WHY is not changed. */
static bool is_big(const struct verify *v, uint32_t len, uint64_t fill)
{
	uint8_t *want;
	bool same;

	if (v->size != len)
		return false;
	want = malloc(len + 1);
	if (!want)
		return false;
	ops_fill(want, 0, len, fill);
	same = !memcmp(v->data, want, len);
	free(want);
	return same;
}

static int check_big(struct verify *v)
{
	bool changing = v->o->next.kind == OP_BIG;
	ext2_ino_t ino = take(v, "big");

	if (changing)
		take(v, "big.new");
	if (!ino)
		return v->o->big ? no(v, "big (%u bytes) is gone", v->o->big) : 0;
	if (!v->o->big && !changing)
		return no(v, "big is there, and was never made");
	if (load(v, "big", ino))
		return -1;
	if (is_big(v, v->o->big, v->o->big_fill) ||
		(changing && is_big(v, v->o->next.len, v->o->next.fill)) ||
		(changing && v->writeback && v->size == v->o->big))
		return 0;
	return no(v, "big has %u bytes that are not the %u written", v->size,
		v->o->big);
}

static int check_tree(struct verify *v, ext2_ino_t tree)
{
	bool changing = v->o->next.kind == OP_TREE || v->o->next.kind == OP_UNTREE;
	char name[OPS_NAME_BYTES];
	uint32_t i, want = changing && !v->o->tree ? v->o->next.len : v->o->tree;

	if (!tree)
		return changing || !v->o->tree
			       ? 0
			       : no(v, "tree (%u names) is gone", v->o->tree);
	if (!want)
		return no(v, "tree is there, and was deleted");
	if (list(v, tree))
		return -1;
	for (i = 0; i < want; i++) {
		ops_tree_name(name, i);
		if (!take(v, name) && !changing)
			return no(v, "tree/%s is gone", name);
	}
	for (i = 0; i < v->count; i++) {
		if (v->names[i].name[0])
			return no(v, "tree/%s: nobody made it",
				v->names[i].name);
	}
	return 0;
}

int verify_thread(struct verify *v, const struct ops *o, char *why, size_t size)
{
	char name[OPS_NAME_BYTES];
	ext2_ino_t tree;
	unsigned i;

	v->o = o;
	v->why = why;
	v->why_size = size;
	snprintf(name, sizeof(name), "t%u", o->thread);
	if (ext2fs_lookup(v->fs, EXT2_ROOT_INO, name, (int)strlen(name), NULL,
		    &v->dir))
		return o->dir ? no(v, "its directory is gone") : 0;
	if (list(v, v->dir))
		return -1;
	for (i = 0; i < OPS_SLOTS; i++) {
		if (check_slot(v, i))
			return -1;
	}
	if (check_big(v))
		return -1;
	tree = take(v, "tree");
	for (i = 0; i < v->count; i++) {
		if (v->names[i].name[0])
			return no(v, "%s: nobody made it", v->names[i].name);
	}
	return check_tree(v, tree);
}

/* e2fsck would ask for the journal's device. ORPHANS: were some left to a mount? */
static errcode_t forget_journal(const char *image, bool *orphans)
{
	ext2_filsys fs;
	errcode_t rc;

	rc = ext2fs_open(image, EXT2_FLAG_RW | EXT2_FLAG_SUPER_ONLY, 0, 0,
		unix_io_manager, &fs);
	if (rc)
		return rc;
	*orphans = fs->super->s_last_orphan != 0;
	fs->super->s_feature_compat &= ~EXT3_FEATURE_COMPAT_HAS_JOURNAL;
	fs->super->s_journal_inum = 0;
	fs->super->s_journal_dev = 0;
	memset(fs->super->s_journal_uuid, 0, sizeof(fs->super->s_journal_uuid));
	ext2fs_mark_super_dirty(fs);
	return ext2fs_close(fs);
}

/* What rjrecover leaves to the kernel (lib/ext4/change/orphans.c). */
static int mount_once(const char *image, char *why, size_t size)
{
	char command[2048];

	snprintf(command, sizeof(command),
		"d=$(mktemp -d) && { mount -o loop '%s' $d && umount $d; rc=$?; rmdir $d; exit $rc; }",
		image);
	if (system(command)) {
		snprintf(why, size, "%s: cannot be mounted", image);
		return -1;
	}
	return 0;
}

int verify_fsck(const char *image, char *why, size_t size)
{
	const char *argv[] = {"e2fsck", "-fn", image, NULL};
	struct rj_proc_result res = {0};
	struct rj_buf path = {0};
	struct rj_error err = {0};
	bool orphans = false;
	errcode_t rc = forget_journal(image, &orphans);
	int bad = 0;

	if (rc) {
		snprintf(why, size, "%s: cannot be opened (%ld)", image, rc);
		return -1;
	}
	if (orphans && mount_once(image, why, size))
		return -1;
	if (!rj_proc_find("e2fsck", &path, &err)) {
		argv[0] = (const char *)path.data;
		bad = rj_proc_run(argv,
			RJ_PROC_CAPTURE | RJ_PROC_STDIN_NULL, &res, &err);
	} else {
		bad = -1;
	}
	if (bad)
		snprintf(why, size, "e2fsck: %s", err.msg);
	else if (res.status) {
		bad = -1;
		snprintf(why, size, "e2fsck -fn: status %d: %.*s",
			WEXITSTATUS(res.status), (int)res.out.len,
			(const char *)res.out.data);
	}
	rj_proc_release(&res);
	rj_buf_free(&path);
	return bad ? -1 : 0;
}
