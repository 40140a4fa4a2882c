// SPDX-License-Identifier: GPL-2.0-or-later
#include "verify.h"

#include <ext2fs/ext2_fs.h>
#include <ext2fs/ext2fs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "util/proc.h"

/* Names of one directory at most. */
#define NAMES_MAX 128

struct verify {
	ext2_filsys fs;
	const struct ops *o;
	struct op next; /* may have been under way */
	ext2_ino_t dir;
	struct {
		char name[OPS_NAME_BYTES];
		ext2_ino_t ino;
	} names[NAMES_MAX];
	unsigned count;
	bool too_many, writeback;
	uint8_t *data; /* of the file looked at */
	uint32_t size;
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

/* Its bytes into v->data, v->size. */
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
	return 0;
}

static int differs(struct verify *v, const char *name, const uint8_t *want,
	uint32_t from, uint32_t to)
{
	uint32_t i;

	for (i = from; i < to; i++) {
		if (v->data[i] != want[i])
			return no(v, "%s: byte %u of %u is 0x%02x, not 0x%02x",
				name, i, v->size, v->data[i], want[i]);
	}
	return 0;
}

static int exact(struct verify *v, const char *name, const uint8_t *want,
	uint32_t size)
{
	if (v->size != size)
		return no(v, "%s has %u bytes, not %u", name, v->size, size);
	return differs(v, name, want, 0, size);
}

/* Each byte of [off, off + len) is the old or the new one. */
static int mixed(struct verify *v, const char *name, const struct ops_file *f)
{
	const struct op *op = &v->next;
	uint32_t i, end = op->off + op->len;
	uint8_t *fresh = malloc(op->len + 1);
	int rc = 0;

	if (!fresh)
		return no(v, "out of memory");
	ops_fill(fresh, op->off, op->len, op->fill);
	if (v->size != f->size)
		rc = no(v, "%s has %u bytes, not %u", name, v->size, f->size);
	if (!rc)
		rc = differs(v, name, f->data, 0, op->off);
	if (!rc)
		rc = differs(v, name, f->data, end, f->size);
	for (i = op->off; !rc && i < end; i++) {
		if (v->data[i] != f->data[i] &&
			v->data[i] != fresh[i - op->off])
			rc = no(v, "%s: byte %u is neither old nor new", name,
				i);
	}
	free(fresh);
	return rc;
}

static int replaced(struct verify *v, const char *name, const struct ops_file *f)
{
	uint8_t *fresh;
	int rc;

	if (v->size == f->size &&
		(v->writeback || !memcmp(v->data, f->data, f->size)))
		return 0;
	fresh = malloc(v->next.len + 1);
	if (!fresh)
		return no(v, "out of memory");
	ops_fill(fresh, 0, v->next.len, v->next.fill);
	rc = exact(v, name, fresh, v->next.len);
	free(fresh);
	return rc;
}

/* The file that the operation under way was about. */
static int touched(struct verify *v, const char *name, const struct ops_file *f)
{
	const struct op *op = &v->next;

	switch (op->kind) {
	case OP_CREATE:
		return v->size <= op->len
			       ? 0
			       : no(v, "%s has %u bytes, more than were written",
					 name, v->size);
	case OP_APPEND:
		if (v->size < f->size || v->size > f->size + op->len)
			return no(v, "%s has %u bytes, of old %u and new %u",
				name, v->size, f->size, f->size + op->len);
		return differs(v, name, f->data, 0, f->size);
	case OP_OVERWRITE:
		return mixed(v, name, f);
	case OP_TRUNCATE:
		if (v->size < op->len || v->size > f->size)
			return no(v, "%s has %u bytes, of old %u and new %u",
				name, v->size, f->size, op->len);
		return differs(v, name, f->data, 0, op->len);
	case OP_REPLACE:
		return replaced(v, name, f);
	case OP_UNLINK:
		if (v->writeback && v->size == f->size)
			return 0;
		return exact(v, name, f->data, f->size);
	default:
		return exact(v, name, f->data, f->size);
	}
}

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
	bool changing = v->next.kind == OP_BIG;
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
		(changing && is_big(v, v->next.len, v->next.fill)) ||
		(changing && v->writeback && v->size == v->o->big))
		return 0;
	return no(v, "big has %u bytes that are not the %u written", v->size,
		v->o->big);
}

static bool is_next(const struct verify *v, unsigned slot)
{
	enum op_kind k = v->next.kind;

	return v->next.slot == slot && k >= OP_CREATE && k <= OP_UNLINK;
}

static int check_slot(struct verify *v, unsigned slot)
{
	const struct ops_file *f = &v->o->files[slot];
	char name[OPS_NAME_BYTES], tmp[OPS_NAME_BYTES + 8];
	ext2_ino_t ino;

	ops_name(name, slot);
	ino = take(v, name);
	if (is_next(v, slot) && v->next.kind == OP_REPLACE) {
		snprintf(tmp, sizeof(tmp), "%s.new", name);
		take(v, tmp);
	}
	if (!f->there && (!ino || (is_next(v, slot) &&
					  v->next.kind == OP_CREATE)))
		return ino && (load(v, name, ino) || touched(v, name, f)) ? -1
									  : 0;
	if (!f->there)
		return no(v, "%s is there, and was deleted", name);
	if (!ino)
		return is_next(v, slot) && v->next.kind == OP_UNLINK
			       ? 0
			       : no(v, "%s (%u bytes) is gone", name, f->size);
	if (load(v, name, ino))
		return -1;
	return is_next(v, slot) ? touched(v, name, f)
				: exact(v, name, f->data, f->size);
}

static int check_tree(struct verify *v, ext2_ino_t tree)
{
	bool changing = v->next.kind == OP_TREE || v->next.kind == OP_UNTREE;
	char name[OPS_NAME_BYTES];
	uint32_t i, want = changing && !v->o->tree ? v->next.len : v->o->tree;

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
	ops_next(o, &v->next);
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

/* e2fsck would ask for the journal's device. */
static errcode_t forget_journal(const char *image)
{
	ext2_filsys fs;
	errcode_t rc;

	rc = ext2fs_open(image, EXT2_FLAG_RW | EXT2_FLAG_SUPER_ONLY, 0, 0,
		unix_io_manager, &fs);
	if (rc)
		return rc;
	fs->super->s_feature_compat &= ~EXT3_FEATURE_COMPAT_HAS_JOURNAL;
	fs->super->s_journal_inum = 0;
	fs->super->s_journal_dev = 0;
	memset(fs->super->s_journal_uuid, 0, sizeof(fs->super->s_journal_uuid));
	ext2fs_mark_super_dirty(fs);
	return ext2fs_close(fs);
}

int verify_fsck(const char *image, char *why, size_t size)
{
	const char *argv[] = {"e2fsck", "-fn", image, NULL};
	struct rj_proc_result res = {0};
	struct rj_buf path = {0};
	struct rj_error err = {0};
	errcode_t rc = forget_journal(image);
	int bad = 0;

	if (rc) {
		snprintf(why, size, "%s: cannot be opened (%ld)", image, rc);
		return -1;
	}
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
