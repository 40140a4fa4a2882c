// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A warm writer appends without allocating: the kernel may wait for this very
 * append to free memory. Counted at malloc itself. OpenSSL 3.0 frees and allocates
 * again its 112 bytes of SHA-256 state each time a context is begun again, and xxHash
 * the 640 of its own for a segment that is left in the ring; malloc serves both from
 * the thread's own cache (up to 1,032 bytes each), so they are not counted.
 */
#include <stdlib.h>
#include <string.h>

#include "log/log.h"
#include "support/memstore.h"
#include "support/rjtest.h"

#define BLOCK  4096
#define BLOCKS 1024

#define LET_PASS 1024 /* bytes */

static unsigned long allocations, small;

#if defined(__SANITIZE_ADDRESS__) || !defined(__GLIBC__)
#define CAN_COUNT 0
#else
#define CAN_COUNT 1
void *__libc_malloc(size_t len);
void *__libc_calloc(size_t count, size_t len);
void *__libc_realloc(void *p, size_t len);

void *malloc(size_t len)
{
	*(len > LET_PASS ? &allocations : &small) += 1;
	return __libc_malloc(len);
}

void *calloc(size_t count, size_t len)
{
	*(count * len > LET_PASS ? &allocations : &small) += 1;
	return __libc_calloc(count, len);
}

void *realloc(void *p, size_t len)
{
	allocations++;
	return __libc_realloc(p, len);
}
#endif

/* Says yes to every put, and keeps nothing. */
static int swallow(struct rj_store *s, const struct rj_key *key,
	const void *data, size_t len, struct rj_error *err)
{
	return 0;
}

static int swallow_parts(struct rj_store *s, const struct rj_key *key,
	const struct iovec *parts, int count, struct rj_error *err)
{
	return 0;
}

static void a_warm_append_allocates_nothing(void)
{
	struct memshelf *shelf = memshelf_new();
	struct rj_store *store = memstore_open(shelf);
	struct rj_store_ops ops = *store->ops;
	struct rj_log_id id = {.volume_uuid = {1}, .journal_uuid = {2}};
	/* three runs, out of order, as when a commit goes round the end */
	struct rj_seg_run runs[] = {{1, 1}, {1000, 24}, {2, 40}};
	struct rj_seg_run all[] = {{0, BLOCKS}};
	struct rj_log_append a = {
		.body = {.block_size = BLOCK,
			.journal_blocks = BLOCKS,
			.tid_count = 1},
		.runs = runs,
		.run_count = 3,
	};
	struct rj_log_writer *w = NULL;
	unsigned long before, before_small;
	int i, rc = 0;

	a.ring = calloc(BLOCKS, BLOCK);
	CU_ASSERT_EQUAL_FATAL(rj_log_claim(store, &id, NULL, &w, NULL), 0);
	ops.put_new = swallow;
	ops.put_parts = swallow_parts;
	store->ops = &ops;
	CU_ASSERT_EQUAL(rj_log_append(w, &a, NULL), 0);
	/* 65 blocks have been; from here on it may be all of them */
	CU_ASSERT_EQUAL(
		rj_log_writer_reserve(w, BLOCKS * BLOCK, NULL), 0);
	before = allocations;
	before_small = small;
	CU_ASSERT_TRUE(!CAN_COUNT || before > 0);
	for (i = 0; i < 100; i++) {
		a.runs = i % 10 == 3 ? all : runs;
		a.run_count = i % 10 == 3 ? 1 : i % 2 ? 3 : 2;
		a.in_place = i % 3 == 0;
		rc |= rj_log_append(w, &a, NULL);
	}
	CU_ASSERT_EQUAL(allocations, before);
	/* the chain's hash, and each third's checksum */
	CU_ASSERT_TRUE(small - before_small <= 134);
	CU_ASSERT_EQUAL(rc, 0);
	CU_ASSERT_EQUAL(rj_log_writer_tail(w)->sequence, 102);
	if (!CAN_COUNT)
		rjtest_skip("allocations cannot be counted in this build");
	rj_log_writer_free(w);
	rj_store_close(store);
	memshelf_free(shelf);
	free((void *)a.ring);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(a_warm_append_allocates_nothing),
	};

	return RJTEST_RUN("hotpath", tests);
}
