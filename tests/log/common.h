/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tests of the log share: a store to test on, a log of its own for
 * each test, and ways to write to it and to spoil it.
 */
#ifndef RJ_TEST_LOG_COMMON_H
#define RJ_TEST_LOG_COMMON_H

#include "log/log.h"
#include "log/ring.h"
#include "support/fault.h"
#include "support/rjtest.h"

#define T_BLOCK  1024
#define T_BLOCKS 64
/* For rj_log_claim() and rj_log_read() on a store that answers in the end: the first
 * answer alone may take a second when the disk is busy, and then nothing is tried again. */
#define T_PATIENCE_MS 60000

/* Open another handle of the store under test: in memory, or the one that
 * $RJ_TEST_STORE names. Ends the program on failure. */
struct rj_store *t_store(void);
void t_store_done(void);
struct t_log;
/* Is the store under test fenced by folders (doc/log-format.md, mode B)? */
bool t_mode_b(const struct t_log *t);

struct t_log {
	struct rj_log_id id;    /* random */
	struct rj_store *store; /* a fault layer around a handle */
	struct rj_store *raw;   /* a second handle, without */
	struct rj_ring *ring;   /* the writer's image */
	uint64_t sequence[256]; /* what read_log() saw */
	unsigned count;
	struct rj_ring *seen; /* the reader's image */
	struct rj_log_summary sum;
	struct rj_error err;
};

void t_log_begin(struct t_log *t);
void t_log_end(struct t_log *t);

/* Claim with OPTS (may be NULL); the writer, or NULL with t->err. */
struct rj_log_writer *t_claim(
	struct t_log *t, const struct rj_log_claim_opts *opts);
/* Fill COUNT blocks from BLOCK of the ring with FILL, and append them. */
int t_append(struct t_log *t, struct rj_log_writer *w, uint32_t block,
	uint32_t count, uint8_t fill);
/* An append of block 3 of RING, T_BLOCK * T_BLOCKS bytes, and of nothing else. */
struct rj_log_append t_block_3(const uint8_t *ring);
/* As t_append(), but a base that holds the whole ring. */
int t_append_base(struct t_log *t, struct rj_log_writer *w);
/* A log of one epoch: fence, and COUNT segments of one block each. */
void t_log_fill(struct t_log *t, unsigned count);
/* Read into t->seen, t->sequence and t->sum. OPTS may be NULL. */
int t_read(struct t_log *t, const struct rj_log_read_opts *opts);
/* Does the reader's image equal the writer's? */
bool t_same_ring(const struct t_log *t);

struct rj_key t_segment_key(const struct t_log *t, uint64_t sequence);
/* Segment SEQUENCE's bytes, into OUT (emptied first). */
void t_get(struct t_log *t, uint64_t sequence, struct rj_buf *out);
/* Put LEN bytes DATA in the place of segment SEQUENCE. */
void t_replace(
	struct t_log *t, uint64_t sequence, const void *data, size_t len);
void t_remove(struct t_log *t, uint64_t sequence);
/* Invert one byte. */
void t_flip(struct t_log *t, uint64_t sequence, size_t offset);
/* Arm a fault on t->store: the NTH next call, TIMES in a row. */
void t_fault(struct t_log *t, enum rj_fault_op op, enum rj_fault_kind kind,
	unsigned long nth, unsigned long times);

/* CALL fails with CODE, and its message (in ERRP) holds TEXT and the url. */
#define T_FAILS(t, call, want, text)                                           \
	do {                                                                   \
		int t_rc;                                                      \
		(t)->err = (struct rj_error){0};                               \
		t_rc = (call);                                                 \
		CU_ASSERT_EQUAL(t_rc, -(int)(want));                           \
		CU_ASSERT_EQUAL((t)->err.code, (want));                        \
		CU_ASSERT_PTR_NOT_NULL(strstr((t)->err.msg, (text)));          \
		CU_ASSERT_PTR_NULL(strchr((t)->err.msg, '\n'));                \
		if (t_rc != -(int)(want) || !strstr((t)->err.msg, (text)))     \
			printf("# %s:%d: %d: %s\n", __FILE__, __LINE__, t_rc,  \
				(t)->err.msg);                                 \
	} while (0)

#define T_WORKS(t, call)                                                       \
	do {                                                                   \
		int t_rc = (call);                                             \
		CU_ASSERT_EQUAL(t_rc, 0);                                      \
		if (t_rc)                                                      \
			printf("# %s:%d: %d: %s\n", __FILE__, __LINE__, t_rc,  \
				(t)->err.msg);                                 \
	} while (0)

#endif
