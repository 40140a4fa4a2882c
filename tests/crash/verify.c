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
#include "view.h"

/* Names of one directory at most. */
#define NAMES_MAX 128

struct verify {
	struct view *view;
	const struct ops *o;
	char dir[OPS_NAME_BYTES]; /* the thread's */
	char names[NAMES_MAX][OPS_NAME_BYTES];
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
	long code = 0;

	*out = NULL;
	if (v) {
		v->writeback = writeback;
		v->data = malloc(OPS_BIG_BYTES);
		view_open(image, &v->view, &code);
	}
	if (!v || !v->data || code) {
		snprintf(why, size, "%s: cannot be opened (%ld)", image, code);
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
	view_close(v->view);
	free(v->data);
	free(v);
}

static int note_name(void *arg, const char *name)
{
	struct verify *v = arg;

	if (v->count == NAMES_MAX || strlen(name) >= OPS_NAME_BYTES) {
		v->too_many = true;
		return -1;
	}
	strcpy(v->names[v->count++], name);
	return 0;
}

static int list(struct verify *v, const char *dir)
{
	long code;

	v->count = 0;
	v->too_many = false;
	if (view_list(v->view, dir, note_name, v, &code) || v->too_many)
		return no(v, "%s: not a directory of ours (%ld)", dir, code);
	return 0;
}

/* Is NAME in what list() found? It is struck out. */
static bool take(struct verify *v, const char *name)
{
	unsigned i;

	for (i = 0; i < v->count; i++) {
		if (!strcmp(v->names[i], name)) {
			v->names[i][0] = 0;
			return true;
		}
	}
	return false;
}

/* Its bytes into v->data, v->size; its attribute. */
static int load(struct verify *v, const char *name)
{
	char path[2 * OPS_NAME_BYTES];
	uint64_t size = 0;
	uint32_t got = 0;
	long code;

	snprintf(path, sizeof(path), "%s/%s", v->dir, name);
	if (view_read(v->view, path, v->data, OPS_BIG_BYTES, &got, &size, &code) || size != got)
		return no(v, "%s: %u of %llu bytes can be read (%ld)", name,
			got, (unsigned long long)size, code);
	v->size = got;
	v->xattr_len = OPS_XATTR_MAX;
	if (view_xattr(v->view, path, OPS_XATTR, v->xattr, &v->xattr_len, &code))
		return no(v, "%s: its attribute of %zu bytes cannot be read (%ld)",
			name, v->xattr_len, code);
	return 0;
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
	unsigned n;
	bool there;

	ops_name(name, slot);
	there = take(v, name);
	if (s->count > 1) { /* it may be about to be replaced */
		snprintf(tmp, sizeof(tmp), "%s.new", name);
		take(v, tmp);
	}
	if (there && load(v, name))
		return -1;
	for (n = 0; n < s->count; n++) {
		if (!s->v[n].file && !there)
			return 0;
		if (s->v[n].file && there && !file_fits(v, name, s, s->v[n].file))
			return 0;
	}
	if (!there)
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
	bool there = take(v, "big");

	if (changing)
		take(v, "big.new");
	if (!there)
		return v->o->big ? no(v, "big (%u bytes) is gone", v->o->big) : 0;
	if (!v->o->big && !changing)
		return no(v, "big is there, and was never made");
	if (load(v, "big"))
		return -1;
	if (is_big(v, v->o->big, v->o->big_fill) ||
		(changing && is_big(v, v->o->next.len, v->o->next.fill)) ||
		(changing && v->writeback && v->size == v->o->big))
		return 0;
	return no(v, "big has %u bytes that are not the %u written", v->size,
		v->o->big);
}

static int check_tree(struct verify *v, bool there)
{
	bool changing = v->o->next.kind == OP_TREE || v->o->next.kind == OP_UNTREE;
	char name[2 * OPS_NAME_BYTES];
	uint32_t i, want = changing && !v->o->tree ? v->o->next.len : v->o->tree;

	if (!there)
		return changing || !v->o->tree
			       ? 0
			       : no(v, "tree (%u names) is gone", v->o->tree);
	if (!want)
		return no(v, "tree is there, and was deleted");
	snprintf(name, sizeof(name), "%s/tree", v->dir);
	if (list(v, name))
		return -1;
	for (i = 0; i < want; i++) {
		ops_tree_name(name, i);
		if (!take(v, name) && !changing)
			return no(v, "tree/%s is gone", name);
	}
	for (i = 0; i < v->count; i++) {
		if (v->names[i][0])
			return no(v, "tree/%s: nobody made it",
				v->names[i]);
	}
	return 0;
}

int verify_thread(struct verify *v, const struct ops *o, char *why, size_t size)
{
	bool tree;
	unsigned i;

	v->o = o;
	v->why = why;
	v->why_size = size;
	snprintf(v->dir, sizeof(v->dir), "t%u", o->thread);
	if (!view_has(v->view, v->dir))
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
		if (v->names[i][0])
			return no(v, "%s: nobody made it", v->names[i]);
	}
	return check_tree(v, tree);
}

/* e2fsck would ask for an external journal's device. ORPHANS: were some left to a mount? */
static errcode_t forget_journal(const char *image, bool *orphans)
{
	ext2_filsys fs;
	errcode_t rc;

	rc = ext2fs_open(image, EXT2_FLAG_RW | EXT2_FLAG_SUPER_ONLY | EXT2_FLAG_64BITS, 0, 0,
		unix_io_manager, &fs);
	if (rc)
		return rc;
	*orphans = fs->super->s_last_orphan != 0 || ext2fs_has_feature_orphan_present(fs->super);
	if (fs->super->s_journal_inum) /* it is inside, and e2fsck can have it */
		return ext2fs_close(fs);
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
