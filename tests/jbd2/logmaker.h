/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes JBD2 logs of random transactions, together with the right answer: what
 * the volume holds after replay, found by a model so naive that it can be
 * checked by eye. Shares no code with lib/jbd2.
 */
#ifndef RJ_TEST_JBD2_LOGMAKER_H
#define RJ_TEST_JBD2_LOGMAKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buf.h"

/* Commit times, seconds since 1970: the live log's from BASE on, those of the
 * stale blocks from STALE on. In between the volume was made. */
#define LM_STALE_TIME 1600000000u
#define LM_BORN_TIME  1650000000u
#define LM_BASE_TIME  1700000000u

enum lm_tail {
	LM_TAIL_NONE,
	LM_TAIL_OPEN,   /* a transaction without a commit block */
	LM_TAIL_REVOKE, /* only its revoke block */
	LM_TAIL_STALE,  /* bad checksums, commit time in the past (v2, v3) */
	LM_TAIL_BAD_COMMIT, /* async_commit: the last one was not finished */
	LM_TAIL_TYPE,       /* right magic and tid, unknown block type */
	LM_TAILS,
};

/* The block groups that the target blocks are in; their descriptors stand in one
 * block. BYTES: that block, then the groups' bitmaps, as they are now. */
struct lm_groups {
	uint64_t target, desc_block, fs_blocks;
	uint32_t targets, first, n; /* number of the first group */
	uint32_t block_size, first_block, group_blocks, desc_bytes;
	enum { LM_GROUPS_PLAIN, LM_GROUPS_CRC16, LM_GROUPS_CRC32C } csum;
	uint32_t seed;
	uint8_t uuid[16];
	uint8_t *bytes;
};

/* What became of a target block, at the end of the log. */
enum lm_state {
	LM_FREE,
	LM_LOGGED, /* in use; its bytes go through the log */
	LM_DIRECT, /* in use; written to the device since it is */
};

struct lm_params {
	uint64_t seed;
	uint32_t block_size;
	uint32_t maxlen, first, sb_block, fc_blocks;
	uint8_t uuid[16];
	int csum; /* 0..3 */
	bool wide, async, fast_commit, revoke_bit, version_1;
	uint32_t first_tid;         /* of the log to replay */
	uint32_t stale, live, tags; /* transactions; most tags in each */
	uint64_t target;            /* blocks of the volume that are written */
	uint32_t targets;
	enum lm_tail tail;
	bool partial_commits; /* rubbish after the commit header (v2, v3) */
	bool bad_but_revoked; /* spoil copies that a revoke cancels (v2, v3) */
	bool stale_ahead;     /* the stale ones have higher tids: of an earlier
			       * journal in the same place */
	bool own_uuids;       /* tags without SAME_UUID in mid-block too */
	bool no_revokes;
	struct lm_groups *groups; /* the transactions free and allocate target
				   * blocks, and log it; or NULL */
};

struct lm_write {
	uint32_t target; /* among the volume's target blocks; after them
			  * lm_groups_block() 0, 1, ... */
	uint64_t seed;   /* of its bytes */
	uint8_t *bytes;  /* or NULL: those of seed */
	uint32_t log;    /* block that holds the copy */
};

struct lm_txn {
	uint32_t tid;
	struct lm_write *write;
	uint32_t writes;
	uint32_t *revoke;
	uint32_t revokes;
	bool *shows_free; /* of each target, with its bitmap and descriptor */
	/* where it stands in the log; 0: it has none */
	uint32_t descriptor_block, revoke_block, commit_block;
	bool partial; /* rubbish after its commit header */
	bool round;   /* it reaches beyond the ring's end */
};

struct lm_log {
	struct lm_params p;
	uint8_t *bytes; /* maxlen blocks */
	size_t len;
	uint32_t start;  /* s_start */
	uint32_t end;    /* after the last commit */
	uint32_t used;   /* blocks from start to end */
	uint32_t spoilt; /* copies made bad */
	bool wrapped;
	uint32_t transactions, last_tid;
	uint64_t descriptors, tags, revokes, escapes, blocks;
	int64_t first_commit_ns, last_commit_ns;
	uint32_t last_txn;  /* log block where the last transaction begins */
	struct lm_txn *txn; /* of the live ones, for the model */
	enum lm_state *state; /* of each target */
};

uint64_t lm_rand(uint64_t *state);
/* Is a copy of TARGET in transaction I revoked by one of I..N-1? */
bool lm_cancelled(
	const struct lm_log *l, uint32_t i, uint32_t target, uint32_t n);
/* Make the checksum of a descriptor, revoke or commit block (v2, v3) right
 * after a change in l->bytes. */
void lm_seal_block(struct lm_log *l, uint32_t block);
/* Fill in all but block_size, maxlen, first, sb_block, uuid, target and
 * targets from the seed. */
void lm_shuffle(struct lm_params *p);
/* Make the log. Aborts when memory is short. */
void lm_make(const struct lm_params *p, struct lm_log *out);
/*
 * The model: apply the first N transactions to REGION, which holds the target
 * blocks. Returns the number of distinct blocks written.
 */
uint32_t lm_apply(const struct lm_log *l, uint32_t n, uint8_t *region);
/* The same for all transactions and with implied revokes. Returns the number of
 * copies that those drop. */
uint32_t lm_apply_freed(const struct lm_log *l, uint8_t *region);
/* After a change to the journal superblock in l->bytes. */
void lm_seal_superblock(struct lm_log *l);
void lm_free(struct lm_log *l);
/* Fill in all but target and targets from the image of a volume; false: it is not
 * as expected. The caller frees bytes. */
bool lm_groups_read(struct lm_groups *g, const struct rj_buf *volume);
/* The block of the volume that part I of bytes is. */
uint64_t lm_groups_block(const struct lm_groups *g, uint32_t i);
/* The group of TARGET, from 0. */
uint32_t lm_groups_of(const struct lm_groups *g, uint32_t target);
bool lm_groups_free(const struct lm_groups *g, uint32_t target);
/* Free TARGET, or allocate it; counts and checksums follow. */
void lm_groups_toggle(struct lm_groups *g, uint32_t target);
/* One line, for messages. */
const char *lm_describe(const struct lm_params *p, char out[256]);

#endif
