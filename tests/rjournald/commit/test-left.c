// SPDX-License-Identifier: GPL-2.0-or-later
/* Workers that die one after the other while a large commit is under way: what
 * they leave must always fit into a segment. */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "format/seghdr.h"
#include "jbd2/jbd2.h"
#include "rjournald/commit/needed.h"
#include "rjournald/commit/pipeline.h"
#include "support/rjtest.h"
#include "util/environ.h"

#define BLOCK  4096u
#define BLOCKS 16384u
/* Five of them are more than a batch, four are not. */
#define WRITE 255u

struct world {
	struct rj_worker_map memory;
	struct rj_ring *ring;
	struct rj_pipeline *p;
	uint8_t *store;   /* what the segments bring */
	uint32_t at;	  /* where the kernel writes next */
	uint64_t last;	  /* number of the last segment */
	uint64_t largest; /* segment that was to be put, in bytes */
	uint64_t workers;
	bool deadly; /* who puts a segment, dies */
	jmp_buf death;
};

static bool rule_always(const struct rj_rule_in *in)
{
	return true;
}

static int put(void *arg, const struct rj_log_append *a, struct rj_error *err)
{
	uint64_t bytes = RJ_SEG_HEADER_BYTES + RJ_SEG_BODY_HEAD +
			 (uint64_t)a->run_count * RJ_SEG_RUN_BYTES;
	struct world *w = arg;
	uint32_t i;

	for (i = 0; i < a->run_count; i++)
		bytes += (uint64_t)a->runs[i].count * BLOCK;
	if (bytes > w->largest)
		w->largest = bytes;
	if (w->deadly)
		longjmp(w->death, 1);
	for (i = 0; i < a->run_count; i++)
		memcpy(w->store + (size_t)a->runs[i].block * BLOCK,
			a->ring + (size_t)a->runs[i].block * BLOCK,
			(size_t)a->runs[i].count * BLOCK);
	w->last++;
	return 0;
}

static void start_worker(struct world *w)
{
	struct rj_pipeline_opts o = {
		.ring = w->ring,
		.sb_block = rj_jbd2_device_sb_block(BLOCK),
		.rule = rule_always,
		.sink = {.append = put, .arg = w},
		.write_through = true,
		.map = &w->memory,
		.resumed = w->workers++ > 0,
		.inflight = 2,
		.tail = {.sequence = w->last, .oldest = 1},
	};

	rj_pipeline_free(w->p);
	if (o.resumed)
		rj_worker_shm_settle(&w->memory);
	if (rj_pipeline_new(&o, &w->p, NULL))
		abort();
	if (!o.resumed)
		return;
	o.tail.sequence = ++w->last; /* its fence */
	rj_pipeline_continue(w->p, &o.tail);
}

static void start(struct world *w)
{
	uint8_t uuid[RJ_UUID_BYTES] = {1};
	uint32_t sb = rj_jbd2_device_sb_block(BLOCK);

	memset(w, 0, sizeof(*w));
	w->store = calloc(BLOCKS, BLOCK);
	if (!w->store ||
		rj_worker_shm_create(BLOCK, BLOCKS, &w->memory, NULL) ||
		rj_ring_new_over(BLOCK, BLOCKS, w->memory.data, w->memory.seq,
			&w->ring, NULL))
		abort();
	rj_jbd2_sb_format_external(w->ring->data + (size_t)sb * BLOCK, BLOCK,
		BLOCKS, uuid, uuid, 5);
	w->last = 1;
	w->at = sb + 1;
	start_worker(w);
}

static void stop(struct world *w)
{
	rj_pipeline_free(w->p);
	rj_ring_free(w->ring);
	rj_worker_shm_release(&w->memory);
	free(w->store);
}

/* The next write of COUNT blocks. False: the worker died of it. */
static bool kernel_writes(struct world *w, uint32_t count)
{
	static uint8_t data[WRITE * BLOCK];

	memset(data, 1 + (int)(w->at / WRITE % 250), sizeof(data));
	if (setjmp(w->death))
		return false;
	CU_ASSERT(rj_pipeline_write(w->p, data, (size_t)count * BLOCK,
			  (uint64_t)w->at * BLOCK, NULL) == 0);
	w->at += count;
	return true;
}

static int64_t now;

static int64_t slow_time(void *arg)
{
	return now += 5000000;
}

static void no_sleep(void *arg, int64_t ns)
{
	now += ns;
}

static void each_leaves_more(void)
{
	static const struct rj_environ slow = {
		.realtime_ns = slow_time,
		.monotonic_ns = slow_time,
		.sleep_ns = no_sleep,
	};
	static struct world w;
	uint32_t from;
	int deaths;

	rj_environ_set(&slow);
	start(&w);
	from = w.at;
	CU_ASSERT(kernel_writes(&w, 1)); /* so it knows that the store is far */
	CU_ASSERT(rj_pipeline_drain(w.p, NULL) == 0);
	w.deadly = true;
	while (kernel_writes(&w, WRITE))
		;
	/* two are under way, and the third would have been, too */
	CU_ASSERT(w.at - from == 1 + 14 * WRITE);
	for (deaths = 0; deaths < 3; deaths++) {
		w.at += WRITE; /* the kernel sends another one first */
		start_worker(&w);
		CU_ASSERT(!kernel_writes(&w, WRITE));
	}
	w.at += WRITE;
	start_worker(&w);
	w.deadly = false;
	CU_ASSERT(kernel_writes(&w, WRITE));
	for (deaths = 4; deaths > 0; deaths--) { /* and those again */
		w.at -= 2 * WRITE;
		CU_ASSERT(kernel_writes(&w, WRITE));
	}
	CU_ASSERT(rj_pipeline_drain(w.p, NULL) == 0);
	CU_ASSERT(w.largest <= RJ_SEG_MAX_BYTES);
	CU_ASSERT(!memcmp(w.store + (size_t)from * BLOCK,
		w.ring->data + (size_t)from * BLOCK,
		(size_t)(1 + 19 * WRITE) * BLOCK));
	CU_ASSERT(w.ring->data[(size_t)(from + 19 * WRITE) * BLOCK] != 0);
	stop(&w);
	rj_environ_set(NULL);
}

/* The same for the fast commits that go along with a journal superblock. */
static void fast_commits_only_if_they_fit(void)
{
	struct rj_ring ring = {.block_size = BLOCK, .blocks = BLOCKS};
	struct rj_track t = {
		.sb_block = 1,
		.sb_good = true,
		.last = BLOCKS - 2048,
		.fast_blocks = 2048,
	};
	struct rj_pending p;

	if (rj_pending_init(&p, BLOCKS, NULL))
		abort();
	rj_pending_mark(&p, 1, 1000);
	CU_ASSERT(rj_needed_with_superblock(&ring, &t, &p));
	CU_ASSERT(p.count == 1001 + 2048);
	rj_pending_clear(&p);
	rj_pending_mark(&p, 1, 3825);
	CU_ASSERT(!rj_needed_with_superblock(&ring, &t, &p));
	CU_ASSERT(p.count == 3826);
	t.fast_blocks = 0;
	CU_ASSERT(rj_needed_with_superblock(&ring, &t, &p));
	rj_pending_release(&p);
}

static const struct rjtest tests[] = {
	RJTEST(each_leaves_more),
	RJTEST(fast_commits_only_if_they_fit),
};

int main(void)
{
	return RJTEST_RUN("what workers leave", tests);
}
