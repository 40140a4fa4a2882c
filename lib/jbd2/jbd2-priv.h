/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of lib/jbd2 share: the offsets of fields on disk, and the
 * structures of a scan. All on-disk integers are big-endian.
 */
#ifndef RJ_JBD2_JBD2_PRIV_H
#define RJ_JBD2_JBD2_PRIV_H

#include <stddef.h>

#include "jbd2/jbd2.h"
#include "jbd2/log-cache.h"
#include "util/bytes.h"

/* journal_superblock_t */
enum {
	SB_MAGIC = 0x00,
	SB_TYPE = 0x04,
	SB_BLOCK_SIZE = 0x0C,
	SB_MAXLEN = 0x10,
	SB_FIRST = 0x14,
	SB_SEQUENCE = 0x18,
	SB_START = 0x1C,
	SB_ERRNO = 0x20,
	SB_COMPAT = 0x24,
	SB_INCOMPAT = 0x28,
	SB_RO_COMPAT = 0x2C,
	SB_UUID = 0x30,
	SB_NR_USERS = 0x40,
	SB_CHECKSUM_TYPE = 0x50,
	SB_NUM_FC_BLOCKS = 0x54,
	SB_HEAD = 0x58,
	SB_CHECKSUM = 0xFC,
	SB_USERS = 0x100,
};

#define JBD2_USERS_MAX           48
#define JBD2_CHECKSUM_CRC32      1 /* v1's, in the commit block */
#define JBD2_CHECKSUM_CRC32C     4
#define JBD2_DEFAULT_FC_BLOCKS   256
#define JBD2_INCOMPAT_ALL        0x3Fu
#define JBD2_HEADER_BYTES        12
#define JBD2_REVOKE_HEADER_BYTES 16
#define JBD2_TAIL_BYTES          4  /* checksum, with v2 and v3 */
#define JBD2_COMMIT_HEADER_BYTES 64 /* struct commit_header, padded */
#define JBD2_COMMIT_CHECKSUM     16 /* h_chksum[0] */
#define JBD2_COMMIT_SECONDS      48
#define JBD2_COMMIT_NANOSECONDS  56

/* ---- block.c, checksum.c: one block, by the features of this journal ---- */

struct jbd2_dialect {
	uint32_t block_size;
	int checksum; /* 0 (none), 1, 2, 3 */
	bool wide;    /* 64-bit block numbers */
	bool async;
	uint32_t seed; /* of v2 and v3 */
	uint32_t tag_bytes, revoke_bytes;
	uint32_t payload; /* bytes of a descriptor or revoke block before its
			   * checksum */
};

void jbd2_dialect_init(struct jbd2_dialect *d, const struct rj_jbd2_sb *sb);

struct jbd2_tag {
	uint64_t block; /* of the volume */
	uint32_t checksum;
	bool escaped, last;
};

/* Decode the tag at byte *OFF of a descriptor (start with JBD2_HEADER_BYTES), and
 * move *OFF to the next. False when no whole tag is left. */
bool jbd2_tag_next(const struct jbd2_dialect *d, const uint8_t *block,
	uint32_t *off, struct jbd2_tag *out);
/* Get the number of revoke records; false when r_count does not fit the block. */
bool jbd2_revoke_count(
	const struct jbd2_dialect *d, const uint8_t *block, uint32_t *count);
uint64_t jbd2_revoke_record(
	const struct jbd2_dialect *d, const uint8_t *block, uint32_t i);

/* Check one checksum; true where the journal has no checksum of that kind. */
bool jbd2_tail_good(const struct jbd2_dialect *d, const uint8_t *block);
bool jbd2_tag_good(const struct jbd2_dialect *d, uint32_t checksum,
	uint32_t tid, const uint8_t *data);
bool jbd2_commit_good(const struct jbd2_dialect *d, const uint8_t *block);
/* v1: compare the commit block with the running sum of its transaction. */
bool jbd2_commit_sum_good(const uint8_t *block, uint32_t sum);

/* Is transaction A later than B? Tids wrap. */
static inline bool jbd2_tid_gt(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) > 0;
}

/* ---- window.c: read the log forwards in large pieces, or from the cache ---- */

#define JBD2_WINDOW_BYTES (1u << 20)

struct jbd2_window {
	struct rj_bio *bio;
	struct jbd2_log_cache *cache; /* blocks that it has are not read again */
	uint8_t *buf;
	uint32_t block_size, end; /* no block at or after END is read */
	uint32_t first, count;    /* what BUF holds */
};

int jbd2_window_init(struct jbd2_window *w, struct rj_bio *bio,
	struct jbd2_log_cache *cache, uint32_t block_size, uint32_t end, struct rj_error *err);
void jbd2_window_free(struct jbd2_window *w);
/* Get BLOCK. *OUT is valid until the next call. RJ_E_IO; RJ_E_CORRUPT: at or after END. */
int jbd2_window_get(struct jbd2_window *w, uint32_t block, const uint8_t **out,
	struct rj_error *err);

/* ---- copies.c: one record of 16 bytes per tag ---- */

#define JBD2_COPY_ESCAPED    (1ull << 63)
#define JBD2_COPY_FREED      (1ull << 62) /* implied-revoke.c: not to be replayed */
#define JBD2_COPY_BLOCK      ((1ull << 56) - 1)
#define JBD2_COPY_BLOCKS_MAX (1ull << 54) /* a byte offset needs to fit too */

struct jbd2_copy {
	uint64_t key; /* volume block and flags */
	uint32_t log; /* block in the log */
	uint32_t tid;
};

struct jbd2_copies {
	struct jbd2_copy *v;
	size_t n, cap;
};

int jbd2_copies_add(struct jbd2_copies *c, uint64_t key, uint32_t log,
	uint32_t tid, struct rj_error *err);
/* Sort by volume block; copies of the same block stay in log order. */
int jbd2_copies_sort(struct jbd2_copies *c, struct rj_error *err);
void jbd2_copies_free(struct jbd2_copies *c);

/* ---- revoke.c: the last transaction that revoked each block ---- */

/* A copy whose checksum is wrong. It is harmless if a revoke in the same or a
 * later transaction (HEALED_BY) cancels it. */
struct jbd2_bad {
	uint64_t block;
	uint32_t log, tid;
	uint32_t healed_by, next;
	bool healed;
};

struct jbd2_revoke_slot {
	uint64_t block; /* volume block + 1; 0: free */
	uint32_t tid;
	uint32_t bad; /* index + 1 of the first bad copy; 0: none */
};

struct jbd2_revokes {
	struct jbd2_revoke_slot *slot;
	size_t n, cap;
	struct jbd2_bad *bad;
	size_t bads, bad_cap;
};

int jbd2_revokes_add(struct jbd2_revokes *r, uint64_t block, uint32_t tid,
	struct rj_error *err);
/* Add a bad copy. Called after the revokes of its own transaction were added. */
int jbd2_revokes_add_bad(struct jbd2_revokes *r, uint64_t block, uint32_t log,
	uint32_t tid, struct rj_error *err);
/* Is a copy of BLOCK in transaction TID cancelled? */
bool jbd2_revokes_test(
	const struct jbd2_revokes *r, uint64_t block, uint32_t tid);
/* Find the earliest bad copy before END (a tid) that no revoke in a
 * transaction before it cancels: its transaction must not be replayed. NULL: there is none. */
const struct jbd2_bad *jbd2_revokes_cut(
	const struct jbd2_revokes *r, uint32_t end);
void jbd2_revokes_free(struct jbd2_revokes *r);

/* ---- the plan, and the scan that fills it ---- */

struct rj_jbd2_plan {
	struct rj_jbd2_info info;
	struct jbd2_copies copies; /* once built: one per block, sorted */
	struct rj_jbd2_transaction *txn;
	size_t txns, txn_cap;
	struct jbd2_log_cache cache;
};

struct jbd2_scan {
	struct rj_jbd2_plan *plan;
	struct jbd2_dialect dialect;
	struct jbd2_window window;
	struct jbd2_revokes revokes;
	uint8_t *descriptor; /* a block */
	uint64_t *pending;   /* revokes of the open transaction */
	size_t pendings, pending_cap;
	uint64_t fs_blocks;
	uint64_t born; /* of rj_jbd2_scan_opts */
	uint32_t ring; /* blocks in the ring */
	bool verified; /* of rj_jbd2_scan_opts */
	bool limited;  /* stop before transaction LIMIT */
	uint32_t limit;
	/* results of the walk */
	uint32_t expected; /* tid after the last good one */
	uint32_t good;     /* blocks from the start to after it */
	uint32_t stopped;  /* block at which the walk ended */
	uint64_t last_seconds;
	uint32_t max_tid;
	bool uncommitted; /* the damage is not judged by a commit block */
};

/* Get the block IDX blocks after the start of the log. */
uint32_t jbd2_scan_block(const struct jbd2_scan *s, uint32_t idx);
/* Note damage in the info; the first one counts. */
void jbd2_scan_damage(struct jbd2_scan *s, enum rj_jbd2_damage damage,
	uint64_t block, uint32_t tid, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* walk.c: walk the log transaction by transaction, from its start to its end. */
int jbd2_walk(struct jbd2_scan *s, struct rj_error *err);
/* lookahead.c: is there a committed transaction after a clean end? */
int jbd2_lookahead(struct jbd2_scan *s, struct rj_error *err);
/* lookahead.c: with damage, see what else is in the whole ring: raise max_tid
 * to the highest there, and find out whether anything was committed after it. */
int jbd2_look_beyond(struct jbd2_scan *s, struct rj_error *err);
/* fastcommit.c: RJ_E_UNSUPPORTED if records are to be replayed. */
int jbd2_fast_commits(struct jbd2_scan *s, struct rj_error *err);
/* implied-revoke.c: mark the copies (sorted, all of them) of blocks that the log shows as
 * free later on. LOG is read where the plan has not kept it. RJ_E_NOMEM. */
int jbd2_freed_mark(struct rj_jbd2_plan *p, struct rj_bio *log,
	const struct rj_jbd2_scan_opts *opts, struct rj_error *err);
/* plan.c: read the block that copy C of the plan holds into OUT. */
int jbd2_plan_copy(const struct rj_jbd2_plan *p, struct rj_bio *log,
	const struct jbd2_copy *c, uint8_t *out, struct rj_error *err);
/* plan.c: of the sorted copies keep the last of each block that no revoke cancels,
 * and that is not freed. */
void jbd2_plan_build(struct rj_jbd2_plan *p, const struct jbd2_revokes *r);

#endif
