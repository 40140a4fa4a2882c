// SPDX-License-Identifier: GPL-2.0-or-later
/* Draw the next operation of a writer, and say what a crash may leave of a file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops.h"

#define SMALL_BYTES 3000
#define LARGE_BYTES 40000
#define BIG_LEAST   (256u << 10)
#define BIG_PERCENT 5
/* A multiple of each block size: for O_DIRECT, and to shift extents. */
#define ALIGNED	     4096
#define LAZY_PERCENT 45 /* of the operations: nothing makes them durable */

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = (*state += 0x9E3779B97F4A7C15u);

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
	return z ^ (z >> 31);
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

const struct ops_version *ops_now(const struct ops *o, unsigned slot)
{
	const struct ops_slot *s = &o->slots[slot];

	return &s->v[s->count - 1];
}

/* ---- the next operation ---- */

static uint32_t some_bytes(uint64_t *r)
{
	return draw(r) % 5 ? 1 + draw(r) % SMALL_BYTES
			   : 1 + draw(r) % LARGE_BYTES;
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* A range that begins at a byte of the file or, one time in four, anywhere. */
static void any_range(uint32_t size, uint64_t *r, struct op *out)
{
	uint32_t below = draw(r) % 4 ? size + 1 : OPS_FILE_BYTES;

	if (below > OPS_FILE_BYTES)
		below = OPS_FILE_BYTES;
	out->off = draw(r) % below;
	out->len = min_u32(some_bytes(r), OPS_FILE_BYTES - out->off);
}

static void range_inside(uint32_t size, uint64_t *r, struct op *out)
{
	out->off = draw(r) % size;
	out->len = min_u32(some_bytes(r), size - out->off);
}

static uint32_t align(uint32_t n)
{
	return n / ALIGNED * ALIGNED;
}

static void xattr_or_allocate(
	const struct ops_version *f, uint64_t *r, struct op *out)
{
	if (draw(r) % 3) {
		any_range(f->size, r, out);
		out->kind = draw(r) % 2 ? OP_ALLOCATE : OP_ALLOCATE_KEEP;
	} else {
		out->kind = OP_XATTR;
		out->len = f->xattr_len && draw(r) % 3 == 0
				   ? 0
				   : 1 + draw(r) % OPS_XATTR_MAX;
	}
}

static void shift(const struct ops_version *f, uint64_t *r, struct op *out)
{
	uint32_t blocks = (f->size - 1) / ALIGNED; /* begin before the last byte */
	uint32_t room = (OPS_FILE_BYTES - f->size) / ALIGNED;

	out->off = draw(r) % (blocks + 1) * ALIGNED;
	blocks -= out->off / ALIGNED;
	if (blocks && draw(r) % 2) {
		out->kind = OP_COLLAPSE;
		out->len = (1 + draw(r) % blocks) * ALIGNED;
	} else if (room) {
		out->kind = OP_INSERT;
		out->len = (1 + draw(r) % min_u32(room, 4)) * ALIGNED;
	} else {
		out->kind = OP_PUNCH;
		range_inside(f->size, r, out);
	}
}

static void next_of_file(const struct ops_version *f, uint64_t *r,
	struct op *out)
{
	unsigned roll = draw(r) % 100;

	if (roll < 28) {
		out->kind = OP_WRITE;
		any_range(f->size, r, out);
	} else if (roll < 36) {
		out->kind = OP_DIRECT;
		any_range(f->size, r, out);
		out->off = min_u32(align(out->off), OPS_FILE_BYTES - ALIGNED);
		out->len = min_u32(align(out->len) + ALIGNED,
			OPS_FILE_BYTES - out->off);
	} else if (roll < 44 && f->size) {
		out->kind = OP_MMAP;
		range_inside(f->size, r, out);
	} else if (roll < 53) {
		out->kind = OP_TRUNCATE;
		out->len = draw(r) % 3 ? draw(r) % (f->size + 1)
				       : draw(r) % OPS_FILE_BYTES;
	} else if (roll < 66 || !f->size) {
		xattr_or_allocate(f, r, out);
	} else if (roll < 72) {
		out->kind = OP_PUNCH;
		range_inside(f->size, r, out);
	} else if (roll < 78) {
		out->kind = OP_ZERO;
		any_range(f->size, r, out);
	} else if (roll < 84) {
		shift(f, r, out);
	} else if (roll < 93) {
		out->kind = OP_REPLACE;
		out->len = some_bytes(r);
	} else {
		out->kind = OP_UNLINK;
	}
}

/*
 * fdatasync need not keep an attribute. A shift is never left alone: what is
 * written after it reaches the blocks before the shift is committed, and is
 * at the old place then. And a file has at most OPS_VERSIONS versions.
 */
static enum op_sync sync_of(
	const struct ops_slot *s, const struct op *op, uint64_t *r)
{
	const struct ops_version *now = &s->v[s->count - 1];
	bool data = draw(r) % 2 && op->kind != OP_XATTR &&
		    op->kind != OP_REPLACE && op->kind != OP_UNLINK;
	unsigned i;

	if (s->count + 4 <= OPS_VERSIONS && op->kind != OP_COLLAPSE &&
		op->kind != OP_INSERT && draw(r) % 100 < LAZY_PERCENT)
		return OP_SYNC_NONE;
	for (i = 0; i < s->count; i++)
		data = data && s->v[i].file == now->file &&
		       s->v[i].xattr_fill == now->xattr_fill;
	return data ? OP_SYNC_DATA : OP_SYNC_ALL;
}

static void draw_next(struct ops *o)
{
	uint64_t r = o->seed ^ ((uint64_t)(o->thread + 1) << 48) ^ o->done;
	struct op *out = &o->next;
	unsigned roll;

	draw(&r);
	*out = (struct op){.sync = OP_SYNC_ALL};
	out->slot = draw(&r) % OPS_SLOTS;
	out->fill = draw(&r) | 1u << 8; /* not 0 */
	roll = draw(&r) % 100;
	if (!o->dir) {
		out->kind = OP_MKDIR;
		return;
	}
	if (roll < 8) {
		out->kind = o->tree ? OP_UNTREE : OP_TREE;
		out->len = 20 + draw(&r) % 60;
		return;
	}
	if (roll < 8 + BIG_PERCENT) {
		out->kind = OP_BIG;
		out->len = BIG_LEAST + draw(&r) % (OPS_BIG_BYTES - BIG_LEAST);
		return;
	}
	if (!ops_now(o, out->slot)->file) {
		out->kind = OP_CREATE;
		out->len = some_bytes(&r);
	} else {
		next_of_file(ops_now(o, out->slot), &r, out);
	}
	out->sync = sync_of(&o->slots[out->slot], out, &r);
}

/* ---- versions ---- */

static void *must(void *p)
{
	if (!p) {
		perror("ops");
		exit(2);
	}
	return p;
}

/* One more version, as FROM but of SIZE bytes. */
static struct ops_version *add(
	struct ops_slot *s, const struct ops_version *from, uint32_t size)
{
	struct ops_version v = *from;

	v.size = size;
	v.data = must(calloc(1, size + 1));
	if (from->data)
		memcpy(v.data, from->data, min_u32(size, from->size));
	s->v[s->count] = v;
	return &s->v[s->count++];
}

/* A file that was not there before. */
static struct ops_version *add_file(struct ops *o, uint32_t size)
{
	struct ops_version none = {.file = ++o->files};

	return add(&o->slots[o->next.slot], &none, size);
}

static void zero_from(struct ops_version *v, uint32_t off)
{
	memset(v->data + off, 0, v->size - off);
}

/* Extents are removed or moved one after the other: holes between may be seen. */
static void add_shift(
	struct ops_slot *s, const struct op *op, const struct ops_version *was)
{
	bool collapse = op->kind == OP_COLLAPSE;
	uint32_t end = op->off + op->len;
	struct ops_version *v;

	zero_from(add(s, was, collapse ? was->size : was->size + op->len),
		op->off);
	v = add(s, was, collapse ? was->size - op->len : was->size + op->len);
	zero_from(v, op->off);
	if (collapse)
		memcpy(v->data + op->off, was->data + end, was->size - end);
	else
		memcpy(v->data + end, was->data + op->off, was->size - op->off);
}

static void begin(struct ops *o)
{
	const struct op *op = &o->next;
	struct ops_slot *s = &o->slots[op->slot];
	struct ops_version was = *ops_now(o, op->slot), *v;
	uint32_t end = op->off + op->len;
	uint32_t larger = end > was.size ? end : was.size;

	switch (op->kind) {
	case OP_CREATE:
		add_file(o, 0);
		/* fall through */
	case OP_REPLACE:
		if (op->kind == OP_CREATE)
			v = add(s, &s->v[s->count - 1], op->len);
		else
			v = add_file(o, op->len);
		ops_fill(v->data, 0, op->len, op->fill);
		break;
	case OP_WRITE:
	case OP_DIRECT:
	case OP_MMAP:
		ops_fill(add(s, &was, larger)->data + op->off, op->off, op->len,
			op->fill);
		break;
	case OP_TRUNCATE:
		add(s, &was, op->len);
		break;
	case OP_ALLOCATE:
		add(s, &was, larger);
		break;
	case OP_PUNCH:
		memset(add(s, &was, was.size)->data + op->off, 0, op->len);
		break;
	case OP_ZERO:
		memset(add(s, &was, larger)->data + op->off, 0, op->len);
		break;
	case OP_COLLAPSE:
	case OP_INSERT:
		add_shift(s, op, &was);
		break;
	case OP_XATTR:
		v = add(s, &was, was.size);
		v->xattr_len = op->len;
		v->xattr_fill = op->len ? op->fill : 0;
		break;
	case OP_UNLINK:
		add(s, &(struct ops_version){0}, 0);
		break;
	default:
		break;
	}
}

/* Only the newest version remains: of the newest file's, of the others, or of
 * all. */
static void settle(struct ops_slot *s, bool same, bool others)
{
	uint64_t file = s->v[s->count - 1].file;
	unsigned i, n = 0;

	for (i = 0; i + 1 < s->count; i++) {
		if (s->v[i].file == file ? same : others)
			free(s->v[i].data);
		else
			s->v[n++] = s->v[i];
	}
	s->v[n++] = s->v[i];
	s->count = n;
}

static bool syncs_directory(const struct op *op)
{
	return op->sync == OP_SYNC_ALL &&
	       (op->kind == OP_REPLACE || op->kind == OP_UNLINK ||
		       op->kind == OP_BIG || op->kind == OP_UNTREE);
}

void ops_acked(struct ops *o)
{
	const struct op *op = &o->next;
	unsigned i;

	switch (op->kind) {
	case OP_MKDIR:
		o->dir = true;
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
	default:
		/* ext4's fsync of a file keeps its name, too */
		if (op->sync != OP_SYNC_NONE)
			settle(&o->slots[op->slot], true,
				op->sync == OP_SYNC_ALL);
	}
	for (i = 0; syncs_directory(op) && i < OPS_SLOTS; i++)
		settle(&o->slots[i], false, true);
	o->done++;
	draw_next(o);
	begin(o);
}

void ops_init(struct ops *o, uint64_t seed, unsigned thread)
{
	unsigned i;

	*o = (struct ops){.seed = seed, .thread = thread};
	for (i = 0; i < OPS_SLOTS; i++)
		o->slots[i].count = 1; /* of no file */
	draw_next(o);
	begin(o);
}

void ops_release(struct ops *o)
{
	unsigned i, n;

	for (i = 0; i < OPS_SLOTS; i++)
		for (n = 0; n < o->slots[i].count; n++)
			free(o->slots[i].v[n].data);
	memset(o, 0, sizeof(*o));
}
