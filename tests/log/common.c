// SPDX-License-Identifier: GPL-2.0-or-later
#include "log/common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/memstore.h"
#include "support/memtree.h"
#include "support/treerules.h"

static struct memshelf *shelf;
static struct memgrove *grove; /* RJ_TEST_STORE=tree: mode B, in memory */

static void bail(const char *why)
{
	printf("Bail out! %s\n", why);
	exit(99);
}

bool t_mode_b(const struct t_log *t)
{
	return !t->raw->caps.put_new;
}

struct rj_store *t_store(void)
{
	const char *url = getenv("RJ_TEST_STORE");
	struct rj_store *s = NULL;
	struct rj_error err;

	if (url && !strncmp(url, "tree", 4)) {
		if (!grove)
			grove = memgrove_new();
		if (grove && url[4] == ':') /* see support/treerules.h */
			s = treerules_store(grove, url + 5);
		else if (grove)
			s = memtree_store(grove);
		if (!s)
			bail("out of memory");
		return s;
	}
	if (url) {
		if (rj_store_open(url, NULL, &s, &err))
			bail(err.msg);
		return s;
	}
	if (!shelf)
		shelf = memshelf_new();
	if (shelf)
		s = memstore_open(shelf);
	if (!s)
		bail("out of memory");
	return s;
}

void t_store_done(void)
{
	memshelf_free(shelf);
	shelf = NULL;
	memgrove_free(grove);
	grove = NULL;
}

void t_log_begin(struct t_log *t)
{
	memset(t, 0, sizeof(*t));
	if (rj_uuid_random(t->id.volume_uuid) ||
		rj_uuid_random(t->id.journal_uuid))
		bail("no random bytes");
	t->raw = t_store();
	if (rj_fault_open(t_store(), &t->store, &t->err))
		bail(t->err.msg);
	if (rj_ring_new(T_BLOCK, T_BLOCKS, &t->ring, &t->err) ||
		rj_ring_new(T_BLOCK, T_BLOCKS, &t->seen, &t->err))
		bail(t->err.msg);
}

void t_log_end(struct t_log *t)
{
	rj_store_close(t->store);
	rj_store_close(t->raw);
	rj_ring_free(t->ring);
	rj_ring_free(t->seen);
}

struct rj_log_writer *t_claim(
	struct t_log *t, const struct rj_log_claim_opts *opts)
{
	struct rj_log_claim_opts quick = {.retry_ms = T_PATIENCE_MS};
	struct rj_log_writer *w = NULL;

	t->err = (struct rj_error){0};
	rj_log_claim(t->store, &t->id, opts ? opts : &quick, &w, &t->err);
	return w;
}

int t_append(struct t_log *t, struct rj_log_writer *w, uint32_t block,
	uint32_t count, uint8_t fill)
{
	struct rj_seg_run run = {block, count};
	struct rj_log_append a = {
		.body = {.block_size = T_BLOCK, .journal_blocks = T_BLOCKS},
		.runs = &run,
		.run_count = 1,
		.ring = t->ring->data,
	};

	memset(t->ring->data + (size_t)block * T_BLOCK, fill,
		(size_t)count * T_BLOCK);
	return rj_log_append(w, &a, &t->err);
}

struct rj_log_append t_block_3(const uint8_t *ring)
{
	static const struct rj_seg_run run = {.block = 3, .count = 1};

	return (struct rj_log_append){
		.body = {.block_size = T_BLOCK, .journal_blocks = T_BLOCKS},
		.runs = &run,
		.run_count = 1,
		.ring = ring,
	};
}

int t_append_base(struct t_log *t, struct rj_log_writer *w)
{
	struct rj_seg_run run = {0, T_BLOCKS};
	struct rj_log_append a = {
		.body = {.block_size = T_BLOCK, .journal_blocks = T_BLOCKS},
		.runs = &run,
		.run_count = 1,
		.ring = t->ring->data,
		.base = true,
	};

	return rj_log_append(w, &a, &t->err);
}

void t_log_fill(struct t_log *t, unsigned count)
{
	struct rj_log_writer *w = t_claim(t, NULL);
	unsigned i;

	if (!w)
		bail(t->err.msg);
	for (i = 0; i < count; i++)
		if (t_append(t, w, i % T_BLOCKS, 1, (uint8_t)(i + 1)))
			bail(t->err.msg);
	rj_log_writer_free(w);
}

static int take(void *arg, const struct rj_segment *seg, struct rj_error *err)
{
	struct t_log *t = arg;

	if (t->count < sizeof(t->sequence) / sizeof(t->sequence[0]))
		t->sequence[t->count] = seg->header.sequence;
	t->count++;
	return rj_ring_apply(t->seen, seg, err);
}

int t_read(struct t_log *t, const struct rj_log_read_opts *opts)
{
	struct rj_log_read_opts o = {.retry_ms = T_PATIENCE_MS};

	if (opts)
		o = *opts;
	t->count = 0;
	if (!o.resume) {
		rj_ring_free(t->seen);
		if (rj_ring_new(T_BLOCK, T_BLOCKS, &t->seen, &t->err))
			bail(t->err.msg);
	}
	return rj_log_read(t->store, &t->id, &o, take, t, &t->sum, &t->err);
}

bool t_same_ring(const struct t_log *t)
{
	return !memcmp(t->ring->data, t->seen->data, T_BLOCK * T_BLOCKS);
}

struct rj_key t_segment_key(const struct t_log *t, uint64_t sequence)
{
	struct rj_key key = {.kind = RJ_KEY_LOG, .number = sequence};

	memcpy(key.journal_uuid, t->id.journal_uuid, RJ_UUID_BYTES);
	return key;
}

void t_get(struct t_log *t, uint64_t sequence, struct rj_buf *out)
{
	struct rj_key key = t_segment_key(t, sequence);

	out->len = 0;
	if (rj_store_get(t->raw, &key, RJ_SEG_MAX_BYTES, out, &t->err))
		bail(t->err.msg);
}

void t_remove(struct t_log *t, uint64_t sequence)
{
	struct rj_key key = t_segment_key(t, sequence);

	if (rj_store_remove(t->raw, &key, &t->err))
		bail(t->err.msg);
}

void t_replace(struct t_log *t, uint64_t sequence, const void *data, size_t len)
{
	struct rj_key key = t_segment_key(t, sequence);
	int rc;

	if (grove) {
		memgrove_replace(
			grove, t->id.journal_uuid, sequence, data, len);
		return;
	}
	rc = rj_store_remove(t->raw, &key, &t->err);
	if (rc && rc != -RJ_E_NOTFOUND)
		bail(t->err.msg);
	if (rj_store_put_new(t->raw, &key, data, len, &t->err))
		bail(t->err.msg);
}

void t_flip(struct t_log *t, uint64_t sequence, size_t offset)
{
	struct rj_buf b = {0};

	t_get(t, sequence, &b);
	if (offset >= b.len)
		bail("no such byte to flip");
	b.data[offset] ^= 0xFF;
	t_replace(t, sequence, b.data, b.len);
	rj_buf_free(&b);
}

void t_fault(struct t_log *t, enum rj_fault_op op, enum rj_fault_kind kind,
	unsigned long nth, unsigned long times)
{
	struct rj_fault f = {
		.op = op, .kind = kind, .nth = nth, .times = times};

	rj_fault_clear(t->store);
	if (rj_fault_add(t->store, &f))
		bail("cannot arm a fault");
}
