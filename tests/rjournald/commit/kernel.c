// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel.h"

#include <stdlib.h>
#include <string.h>

#include "jbd2/jbd2.h"
#include "util/bytes.h"

int tk_no_chance(void *arg, void *out, size_t len)
{
	memset(out, 0, len);
	return 0;
}

static void keep(struct tk_sink *s, const struct rj_log_append *a)
{
	struct tk_segment *seg = &s->segments[++s->last];
	uint32_t i, blocks = 0, at = 0;

	if (s->last >= TK_SEGMENTS)
		abort();
	for (i = 0; i < a->run_count; i++)
		blocks += a->runs[i].count;
	seg->run_count = a->run_count;
	seg->runs = malloc((a->run_count + 1) * sizeof(*seg->runs));
	seg->blocks = malloc((size_t)(blocks + 1) * TK_SIZE);
	if (!seg->runs || !seg->blocks)
		abort();
	for (i = 0; i < a->run_count; i++) {
		seg->runs[i] = a->runs[i];
		memcpy(seg->blocks + (size_t)at * TK_SIZE,
			a->ring + (size_t)a->runs[i].block * TK_SIZE,
			(size_t)a->runs[i].count * TK_SIZE);
		at += a->runs[i].count;
	}
	seg->base = a->base;
	seg->oldest = a->base ? s->last : a->oldest;
	if (!seg->oldest)
		seg->oldest = s->segments[s->last - 1].oldest;
}

static int next_failure(struct tk_sink *s)
{
	int rc = s->fail[0];

	memmove(s->fail, s->fail + 1, sizeof(s->fail) - sizeof(s->fail[0]));
	return rc;
}

static int sink_append(
	void *arg, const struct rj_log_append *a, struct rj_error *err)
{
	struct tk_sink *s = arg;
	int rc = next_failure(s);

	s->appends++;
	if (s->lost)
		return rj_fail(err, RJ_E_INVAL, "append over a pending one");
	if (rc && rc != RJ_E_UNREACHABLE)
		return rj_fail(err, (enum rj_code)rc, "sink told to fail");
	keep(s, a);
	if (!rc)
		return 0;
	s->lost = true;
	return rj_fail(err, RJ_E_UNREACHABLE, "sink is away");
}

static int sink_retry(void *arg, struct rj_error *err)
{
	struct tk_sink *s = arg;
	int rc = next_failure(s);

	s->retries++;
	if (!s->lost)
		return rj_fail(err, RJ_E_INVAL, "nothing to retry");
	if (rc)
		return rj_fail(err, (enum rj_code)rc, "sink is still away");
	s->lost = false;
	return 0;
}

static void start(struct tk *k, struct rj_pipeline_opts opts)
{
	uint8_t uuid[RJ_UUID_BYTES] = {1};

	memset(k, 0, sizeof(*k));
	k->through = opts.write_through;
	opts.sb_block = TK_SB;
	k->sink = calloc(1, sizeof(*k->sink));
	if (!k->sink || rj_ring_new(TK_SIZE, TK_BLOCKS, &k->ring, NULL))
		abort();
	rj_jbd2_sb_format_external(k->ring->data + TK_SB * TK_SIZE, TK_SIZE,
		TK_BLOCKS, uuid, uuid, 5);
	opts.ring = k->ring;
	opts.sink = (struct rj_sink){.append = sink_append,
		.retry = sink_retry,
		.arg = k->sink};
	if (rj_pipeline_new(&opts, &k->p, NULL))
		abort();
	k->good = true;
	k->head = TK_FIRST;
	k->tid = 5;
	k->acked = 4;
	tk_superblock(k, 0, 5);
	tk_flush(k);
}

void tk_start(struct tk *k, rj_rule_fn rule, enum rj_on_loss on_loss)
{
	start(k, (struct rj_pipeline_opts){.rule = rule, .on_loss = on_loss});
}

void tk_start_through(struct tk *k, rj_rule_fn rule, enum rj_on_loss on_loss)
{
	start(k, (struct rj_pipeline_opts){.rule = rule,
			 .on_loss = on_loss,
			 .write_through = true});
}

void tk_start_ahead(
	struct tk *k, rj_rule_fn rule, enum rj_on_loss on_loss, bool thread)
{
	start(k, (struct rj_pipeline_opts){.rule = rule,
			 .on_loss = on_loss,
			 .write_through = true,
			 .inflight = 2,
			 .thread = thread});
}

void tk_start_watched(struct tk *k, rj_rule_fn rule,
	const struct rj_journal_watch *watch)
{
	start(k, (struct rj_pipeline_opts){.rule = rule,
			 .on_loss = RJ_LOSS_BLOCK,
			 .write_through = true,
			 .watch = *watch});
}

void tk_stop(struct tk *k)
{
	uint64_t i;

	rj_pipeline_free(k->p);
	rj_ring_free(k->ring);
	for (i = 1; i <= k->sink->last; i++) {
		free(k->sink->segments[i].runs);
		free(k->sink->segments[i].blocks);
	}
	free(k->sink);
}

void tk_header(uint8_t *block, uint32_t type, uint32_t tid)
{
	rj_put_be32(block, RJ_JBD2_MAGIC);
	rj_put_be32(block + 4, type);
	rj_put_be32(block + 8, tid);
}

int tk_write(struct tk *k, uint32_t block, const void *data)
{
	int rc;

	if (k->meanwhile)
		k->meanwhile(k);
	do
		rc = rj_pipeline_write(k->p, data, TK_SIZE,
			(uint64_t)block * TK_SIZE, NULL);
	while (k->died && k->died(k));
	if (rc)
		k->good = false;
	return rc;
}

int tk_flush(struct tk *k)
{
	int rc = k->through ? 0 : rj_pipeline_flush(k->p, NULL);

	if (rc)
		k->good = false;
	return rc;
}

int tk_superblock(struct tk *k, uint32_t start, uint32_t tid)
{
	uint8_t raw[TK_SIZE];

	memcpy(raw, k->ring->data + TK_SB * TK_SIZE, TK_SIZE);
	rj_put_be32(raw + 0x18, tid);
	rj_put_be32(raw + 0x1c, start);
	k->start = start;
	k->sequence = tid;
	return tk_write(k, TK_SB, raw);
}

static uint32_t advance(uint32_t b)
{
	return b + 1 == TK_BLOCKS ? TK_FIRST : b + 1;
}

static int put_next(struct tk *k, const uint8_t *block)
{
	int rc = tk_write(k, k->head, block);

	k->head = advance(k->head);
	return rc;
}

int tk_blocks(struct tk *k, uint32_t n)
{
	uint8_t block[TK_SIZE] = {0};
	uint32_t i;
	int rc;

	tk_header(block, RJ_JBD2_DESCRIPTOR, k->tid);
	rj_put_be32(block + 12, n);
	rj_put_be32(block + 24, k->life);
	rc = put_next(k, block);
	for (i = 0; i < n; i++) {
		memset(block, 0, sizeof(block));
		rj_put_be32(block + 16, k->tid);
		rj_put_be32(block + 20, i);
		rj_put_be32(block + 24, k->life);
		if (put_next(k, block))
			rc = -1;
	}
	return rc;
}

int tk_commit(struct tk *k, bool flush)
{
	uint8_t block[TK_SIZE] = {0};
	int rc;

	tk_header(block, RJ_JBD2_COMMIT, k->tid++);
	rc = put_next(k, block);
	if (flush && !rc) {
		rc = tk_flush(k);
		if (!rc)
			k->acked = k->tid - 1;
	}
	return rc;
}

int tk_transaction(struct tk *k, uint32_t n)
{
	int rc = tk_blocks(k, n);

	if (!rc)
		rc = tk_flush(k);
	return rc ? rc : tk_commit(k, true);
}

static void rebuild(const struct tk *k, uint8_t *ring)
{
	const struct tk_segment *s;
	const uint8_t *from;
	uint64_t i;
	uint32_t r;

	for (i = k->sink->segments[k->sink->last].oldest; i <= k->sink->last;
		i++) {
		s = &k->sink->segments[i];
		if (s->base)
			memset(ring, 0, (size_t)TK_BLOCKS * TK_SIZE);
		from = s->blocks;
		for (r = 0; r < s->run_count; r++) {
			memcpy(ring + (size_t)s->runs[r].block * TK_SIZE, from,
				(size_t)s->runs[r].count * TK_SIZE);
			from += (size_t)s->runs[r].count * TK_SIZE;
		}
	}
}

static bool walk_data(
	const uint8_t *ring, uint32_t *b, uint32_t n, uint32_t tid)
{
	const uint8_t *data;
	bool good = true;
	uint32_t i;

	for (i = 0; i < n; i++, *b = advance(*b)) {
		data = ring + (size_t)*b * TK_SIZE;
		if (rj_get_be32(data + 16) != tid ||
			rj_get_be32(data + 20) != i)
			good = false;
	}
	return good;
}

uint32_t tk_recover(const struct tk *k, bool *damaged)
{
	uint8_t *ring = calloc(TK_BLOCKS, TK_SIZE);
	enum rj_jbd2_block_type type;
	uint32_t b, tid, want, laps = 0;
	struct rj_jbd2_sb sb;
	bool good = true;

	*damaged = false;
	if (!ring)
		abort();
	rebuild(k, ring);
	if (rj_jbd2_sb_decode(ring + TK_SB * TK_SIZE, &sb, NULL)) {
		free(ring);
		*damaged = true;
		return 0;
	}
	want = sb.sequence;
	for (b = sb.start; b && laps < 2 * TK_BLOCKS; laps++) {
		if (!rj_jbd2_block_header(
			    ring + (size_t)b * TK_SIZE, &type, &tid) ||
			tid != want)
			break;
		laps++;
		if (type == RJ_JBD2_COMMIT) {
			want++;
			if (!good)
				*damaged = true;
		}
		tid = rj_get_be32(ring + (size_t)b * TK_SIZE + 12);
		b = advance(b);
		if (type == RJ_JBD2_DESCRIPTOR &&
			!walk_data(ring, &b, tid & (TK_BLOCKS - 1), want))
			good = false;
	}
	free(ring);
	return want - 1;
}
