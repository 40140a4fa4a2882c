// SPDX-License-Identifier: GPL-2.0-or-later
#include "ops.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SMALL_BYTES 3000
#define LARGE_BYTES 40000
#define BIG_LEAST   (256u << 10)
#define BIG_PERCENT 5

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = (*state += 0x9E3779B97F4A7C15u);

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
	return z ^ (z >> 31);
}

void ops_init(struct ops *o, uint64_t seed, unsigned thread)
{
	memset(o, 0, sizeof(*o));
	o->seed = seed;
	o->thread = thread;
}

void ops_release(struct ops *o)
{
	unsigned i;

	for (i = 0; i < OPS_SLOTS; i++)
		free(o->files[i].data);
	memset(o, 0, sizeof(*o));
}

/* Every fourth operation writes blocks that begin with JBD2's magic number,
 * which the kernel must escape in the log. */
void ops_fill(uint8_t *out, uint32_t off, uint32_t len, uint64_t fill)
{
	static const uint8_t magic[4] = {0xC0, 0x3B, 0x39, 0x98};
	uint64_t state, word = 0;
	uint32_t i, at;

	for (i = 0; i < len; i++) {
		at = off + i;
		if (i == 0 || at % 8 == 0) {
			state = fill ^ (at / 8);
			word = draw(&state);
		}
		out[i] = (uint8_t)(word >> (at % 8 * 8));
		if (fill % 4 == 0 && at % 1024 < 4)
			out[i] = magic[at % 1024];
	}
}

void ops_name(char out[OPS_NAME_BYTES], unsigned slot)
{
	snprintf(out, OPS_NAME_BYTES, "f%u", slot);
}

void ops_tree_name(char out[OPS_NAME_BYTES], uint32_t n)
{
	snprintf(out, OPS_NAME_BYTES,
		"%u-a-name-that-is-long-enough-to-fill-blocks-of-a-directory",
		n);
}

static uint32_t some_bytes(uint64_t *r)
{
	return draw(r) % 5 ? 1 + draw(r) % SMALL_BYTES
			   : 1 + draw(r) % LARGE_BYTES;
}

static void next_of_file(
	const struct ops_file *f, unsigned roll, uint64_t *r, struct op *out)
{
	if (roll < 30 && f->size + LARGE_BYTES <= OPS_FILE_BYTES) {
		out->kind = OP_APPEND;
		out->off = f->size;
		out->len = some_bytes(r);
	} else if (roll < 60 && f->size) {
		out->kind = OP_OVERWRITE;
		out->off = draw(r) % f->size;
		out->len = some_bytes(r);
		if (out->len > f->size - out->off)
			out->len = f->size - out->off;
	} else if (roll < 72) {
		out->kind = OP_TRUNCATE;
		out->len = f->size ? draw(r) % f->size : 0;
	} else if (roll < 86) {
		out->kind = OP_REPLACE;
		out->len = some_bytes(r);
	} else {
		out->kind = OP_UNLINK;
	}
}

void ops_next(const struct ops *o, struct op *out)
{
	uint64_t r = o->seed ^ ((uint64_t)(o->thread + 1) << 48) ^ o->done;
	unsigned roll;

	draw(&r);
	memset(out, 0, sizeof(*out));
	out->slot = draw(&r) % OPS_SLOTS;
	out->fill = draw(&r);
	roll = draw(&r) % 100;
	if (!o->dir) {
		out->kind = OP_MKDIR;
	} else if (roll < 8) {
		out->kind = o->tree ? OP_UNTREE : OP_TREE;
		out->len = 20 + draw(&r) % 60;
	} else if (roll < 8 + BIG_PERCENT) {
		out->kind = OP_BIG;
		out->len = BIG_LEAST + draw(&r) % (OPS_BIG_BYTES - BIG_LEAST);
	} else if (!o->files[out->slot].there) {
		out->kind = OP_CREATE;
		out->len = some_bytes(&r);
	} else {
		next_of_file(&o->files[out->slot], draw(&r) % 100, &r, out);
	}
}

int ops_apply(struct ops *o, const struct op *op)
{
	struct ops_file *f = &o->files[op->slot];

	if (!f->data) {
		f->data = malloc(OPS_FILE_BYTES);
		if (!f->data)
			return -1;
	}
	switch (op->kind) {
	case OP_MKDIR:
		o->dir = true;
		break;
	case OP_CREATE:
	case OP_REPLACE:
		f->there = true;
		f->size = 0;
		/* fall through */
	case OP_APPEND:
	case OP_OVERWRITE:
		ops_fill(f->data + op->off, op->off, op->len, op->fill);
		if (op->off + op->len > f->size)
			f->size = op->off + op->len;
		break;
	case OP_TRUNCATE:
		f->size = op->len;
		break;
	case OP_UNLINK:
		f->there = false;
		break;
	case OP_TREE:
		o->tree = op->len;
		break;
	case OP_UNTREE:
		o->tree = 0;
		break;
	case OP_BIG:
		o->big = op->len;
		o->big_fill = op->fill;
		break;
	}
	o->done++;
	return 0;
}

static int close_with(int fd, int rc)
{
	int saved = errno;

	if (close(fd) && !rc)
		return -1;
	errno = saved;
	return rc;
}

static int sync_dir(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -1 : close_with(fd, fsync(fd));
}

static int write_at(int dir, const char *name, int flags, const struct op *op)
{
	uint8_t *data = malloc(op->len + 1);
	int fd = openat(dir, name, O_WRONLY | O_CLOEXEC | flags, 0644);
	ssize_t n = -1;

	if (data && fd >= 0) {
		ops_fill(data, op->off, op->len, op->fill);
		n = pwrite(fd, data, op->len, op->off);
		if (n >= 0 && (size_t)n != op->len)
			errno = ENOSPC;
	}
	free(data);
	if (fd < 0)
		return -1;
	if (n < 0 || (size_t)n != op->len)
		return close_with(fd, -1);
	return close_with(
		fd, op->kind == OP_OVERWRITE ? fdatasync(fd) : fsync(fd));
}

static int truncate_at(int dir, const char *name, uint32_t size)
{
	int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	return close_with(fd, ftruncate(fd, size) ? -1 : fsync(fd));
}

static int replace_at(int dir, const char *name, const struct op *op)
{
	char tmp[OPS_NAME_BYTES + 8];

	snprintf(tmp, sizeof(tmp), "%s.new", name);
	if (write_at(dir, tmp, O_CREAT | O_TRUNC, op) ||
		renameat(dir, tmp, dir, name))
		return -1;
	return sync_dir(dir, ".");
}

static int make_tree(int dir, uint32_t names)
{
	char name[OPS_NAME_BYTES];
	uint32_t i;
	int at, fd;

	if (mkdirat(dir, "tree", 0755))
		return -1;
	at = openat(dir, "tree", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (at < 0)
		return -1;
	for (i = 0; i < names; i++) {
		ops_tree_name(name, i);
		fd = openat(at, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		if (fd < 0 || close(fd))
			return close_with(at, -1);
	}
	return close_with(at, fsync(at));
}

static int drop_tree(int dir, uint32_t names)
{
	char name[OPS_NAME_BYTES];
	uint32_t i;
	int at = openat(dir, "tree", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (at < 0)
		return -1;
	for (i = 0; i < names; i++) {
		ops_tree_name(name, i);
		if (unlinkat(at, name, 0))
			return close_with(at, -1);
	}
	if (close_with(at, 0) || unlinkat(dir, "tree", AT_REMOVEDIR))
		return -1;
	return sync_dir(dir, ".");
}

static int run_in(const struct ops *o, const struct op *op, int dir)
{
	char name[OPS_NAME_BYTES];

	ops_name(name, op->slot);
	switch (op->kind) {
	case OP_CREATE:
		return write_at(dir, name, O_CREAT | O_EXCL, op);
	case OP_APPEND:
	case OP_OVERWRITE:
		return write_at(dir, name, 0, op);
	case OP_TRUNCATE:
		return truncate_at(dir, name, op->len);
	case OP_REPLACE:
		return replace_at(dir, name, op);
	case OP_UNLINK:
		return unlinkat(dir, name, 0) ? -1 : sync_dir(dir, ".");
	case OP_TREE:
		return make_tree(dir, op->len);
	case OP_UNTREE:
		return drop_tree(dir, o->tree);
	case OP_BIG:
		return replace_at(dir, "big", op);
	case OP_MKDIR:
		break;
	}
	errno = EINVAL;
	return -1;
}

int ops_run(const struct ops *o, const struct op *op, int root)
{
	char name[OPS_NAME_BYTES];
	int dir, rc;

	snprintf(name, sizeof(name), "t%u", o->thread);
	if (op->kind == OP_MKDIR)
		return mkdirat(root, name, 0755) ? -1 : sync_dir(root, ".");
	dir = openat(root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -1;
	rc = run_in(o, op, dir);
	return close_with(dir, rc);
}
