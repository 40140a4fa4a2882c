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
	bool partial_commits; /* rubbish behind the commit header (v2, v3) */
	bool bad_but_revoked; /* spoil copies that a revoke cancels (v2, v3) */
	bool stale_ahead;     /* the stale ones have higher tids: of an earlier
			       * journal in the same place */
	bool own_uuids;       /* tags without SAME_UUID in mid-block too */
};

struct lm_write {
	uint32_t target; /* among the volume's target blocks */
	uint64_t seed;   /* of its bytes */
	uint32_t log;    /* block that holds the copy */
};

struct lm_txn {
	uint32_t tid;
	struct lm_write *write;
	uint32_t writes;
	uint32_t *revoke;
	uint32_t revokes;
	/* where it stands in the log; 0: it has none */
	uint32_t descriptor_block, revoke_block, commit_block;
	bool partial; /* rubbish behind its commit header */
	bool round;   /* it reaches beyond the ring's end */
};

struct lm_log {
	struct lm_params p;
	uint8_t *bytes; /* maxlen blocks */
	size_t len;
	uint32_t start;  /* s_start */
	uint32_t end;    /* behind the last commit */
	uint32_t used;   /* blocks from start to end */
	uint32_t spoilt; /* copies made bad */
	bool wrapped;
	uint32_t transactions, last_tid;
	uint64_t descriptors, tags, revokes, escapes, blocks;
	int64_t first_commit_ns, last_commit_ns;
	uint32_t last_txn;  /* log block where the last transaction begins */
	struct lm_txn *txn; /* of the live ones, for the model */
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
/* After a change to the journal superblock in l->bytes. */
void lm_seal_superblock(struct lm_log *l);
void lm_free(struct lm_log *l);
/* One line, for messages. */
const char *lm_describe(const struct lm_params *p, char out[256]);

#endif
