/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The JBD2 format: journal superblock, scan, plan, replay. All I/O goes through
 * the block-I/O vtable of os/bio.h; no length, count or block number that is read
 * is trusted. Rules and their sources: doc/jbd2-replay.md.
 */
#ifndef RJ_JBD2_JBD2_H
#define RJ_JBD2_JBD2_H

#include <stdbool.h>
#include <stdint.h>

#include "os/bio.h"
#include "util/error.h"
#include "util/uuid.h"

#define RJ_JBD2_MAGIC	 0xC03B3998u
#define RJ_JBD2_SB_BYTES 1024

enum rj_jbd2_block_type {
	RJ_JBD2_DESCRIPTOR = 1,
	RJ_JBD2_COMMIT = 2,
	RJ_JBD2_SB_V1 = 3,
	RJ_JBD2_SB_V2 = 4,
	RJ_JBD2_REVOKE = 5,
};

#define RJ_JBD2_COMPAT_CHECKSUM	     0x1
#define RJ_JBD2_INCOMPAT_REVOKE	     0x1
#define RJ_JBD2_INCOMPAT_64BIT	     0x2
#define RJ_JBD2_INCOMPAT_ASYNC	     0x4
#define RJ_JBD2_INCOMPAT_CSUM_V2     0x8
#define RJ_JBD2_INCOMPAT_CSUM_V3     0x10
#define RJ_JBD2_INCOMPAT_FAST_COMMIT 0x20

/* journal_superblock_t, the fields that matter, in memory form. For a version
 * 1 superblock the feature words are 0. */
struct rj_jbd2_sb {
	int version; /* 1 or 2 */
	uint32_t block_size, maxlen, first;
	uint32_t sequence, start;
	int32_t fs_errno; /* s_errno */
	uint32_t compat, incompat, ro_compat;
	uint8_t uuid[RJ_UUID_BYTES];
	uint32_t nr_users;
	uint8_t users[48][RJ_UUID_BYTES];
	uint32_t num_fc_blocks; /* effective: with the feature 256 where the field
				 * is 0; without the feature 0 */
	uint32_t head;
	uint32_t last; /* first block after the log proper: maxlen less the
			* fast-commit blocks */
};

/*
 * Decode the first 1024 bytes of the journal superblock's block.
 * RJ_E_CORRUPT: magic, type, checksum, or a field out of range (block size,
 * first, start, maxlen, fast-commit size). RJ_E_UNSUPPORTED: an unknown feature
 * bit.
 */
int rj_jbd2_sb_decode(const uint8_t raw[RJ_JBD2_SB_BYTES],
	struct rj_jbd2_sb *out, struct rj_error *err);

/*
 * Change a raw superblock into that of an empty log whose next transaction is
 * NEXT_TID: s_start 0, s_sequence, s_errno 0, checksum recomputed where the
 * features ask for one. All other fields stay.
 */
int rj_jbd2_sb_make_empty(uint8_t raw[RJ_JBD2_SB_BYTES], uint32_t next_tid,
	struct rj_error *err);

/*
 * Make a new version 2 superblock for an external journal of BLOCKS blocks (the
 * whole device): one user, no features, empty, first transaction FIRST_TID. It is
 * what ext2fs_create_journal_superblock2() makes for a journal device, plus the
 * user. s_first is 3 with 1 KiB blocks, else 2 (the block after the journal
 * superblock).
 */
void rj_jbd2_sb_format_external(uint8_t raw[RJ_JBD2_SB_BYTES],
	uint32_t block_size, uint32_t blocks,
	const uint8_t journal_uuid[RJ_UUID_BYTES],
	const uint8_t user_uuid[RJ_UUID_BYTES], uint32_t first_tid);

/*
 * Replace the users of an external journal (at most 48 UUIDs of volumes) in a
 * raw superblock, checksum recomputed where the features ask for one. All other
 * fields stay. RJ_E_UNSUPPORTED: a version 1 superblock has no users.
 */
int rj_jbd2_sb_set_users(uint8_t raw[RJ_JBD2_SB_BYTES],
	const uint8_t users[][RJ_UUID_BYTES], uint32_t count,
	struct rj_error *err);

/* Give a fresh superblock (rj_jbd2_sb_format_external()) BLOCKS fast-commit
 * blocks, which its length includes. RJ_E_CORRUPT: too many. */
int rj_jbd2_sb_set_fast_commit(
	uint8_t raw[RJ_JBD2_SB_BYTES], uint32_t blocks, struct rj_error *err);

/* Return the block of a journal *device* that holds the journal superblock: 2 with
 * 1 KiB blocks, else 1. */
uint32_t rj_jbd2_device_sb_block(uint32_t block_size);

/* ---- what one block is (for rjournald/commit/rule.c) ---- */

/*
 * Get the block's type and tid if it begins with the JBD2 magic; false if not. A
 * data block in a log never begins with the magic (it is escaped).
 */
bool rj_jbd2_block_header(const void *block, enum rj_jbd2_block_type *type,
	uint32_t *tid);

/* Get the time in BLOCK, a commit block: nanoseconds since 1970 by the clock of its host. */
int64_t rj_jbd2_commit_ns(const void *block);

/* ---- scan and plan ---- */

/* Where an ext3 or ext4 volume has its block bitmaps, for implied revokes (see
 * doc/jbd2-replay.md). All 0: not known, then there are none. */
struct rj_jbd2_groups {
	uint32_t first;	       /* block where group 0 begins */
	uint32_t group_blocks; /* in a group */
	uint32_t cluster_bits; /* a bit of a bitmap is 1 << this blocks */
	uint32_t desc_bytes;   /* of a group descriptor */
	uint64_t descs;	       /* block of the first; the others follow */
};

struct rj_jbd2_scan_opts {
	uint64_t sb_block;  /* where the journal superblock is in the log bio */
	uint64_t fs_blocks; /* volume's size: a tag or revoke beyond is damage, but for
			     * DEVICE_BLOCKS */
	/* When the volume was made, in seconds since 1970; 0: not known. Tells
	 * blocks of an earlier journal in the same place from lost transactions
	 * when no good transaction is there to compare their times with. */
	uint64_t born;
	/* Read the log in a thread that runs ahead of the scan, and keep up to
	 * this many bytes of it in the plan, so that replay reads only the rest.
	 * LOG's functions are called by that thread or by the caller's, never by both
	 * at once. The log must not
	 * change until the replay is over. 0: nothing is kept. */
	uint64_t keep_bytes;
	struct rj_jbd2_groups groups;
	/* Begin at log block FROM_BLOCK with transaction FROM_TID, and not at the
	 * superblock's s_start: what is before was replayed already. 0: at s_start. */
	uint32_t from_block, from_tid;
	/* Stop before transaction UNTIL_TID, if LIMITED. What follows it is not
	 * looked at. */
	bool limited;
	uint32_t until_tid;
	/* Call EACH_COPY (NULL: do not) for each copy of the volume's block COPIES_OF in the
	 * transactions that the plan replays, in log order, also for those that a later one
	 * replaces. BLOCK is valid during the call. */
	uint64_t copies_of;
	void (*each_copy)(void *arg, const uint8_t *block);
	void *arg;
	/* What the volume's device has space for: an online resize logs blocks of new groups
	 * before the superblock has them, so a tag is damage only beyond this. 0: FS_BLOCKS. */
	uint64_t device_blocks;
	/* Other checksums prove that LOG has the bytes that the kernel wrote. Then a copy that
	 * ends with zeros, and fails its checksum, is one whose end the kernel zeroed during the
	 * commit: it is replayed, and counted in info.zeroed (doc/jbd2-replay.md, rule 5). */
	bool verified;
};

enum rj_jbd2_damage {
	RJ_JBD2_SOUND = 0,
	RJ_JBD2_BAD_DESCRIPTOR,
	RJ_JBD2_BAD_REVOKE,
	RJ_JBD2_BAD_COMMIT,
	RJ_JBD2_BAD_DATA,	/* a data block's checksum (in its tag), or v1's sum */
	RJ_JBD2_BAD_BLOCKNR,	/* a tag or revoke points outside the volume */
	RJ_JBD2_BAD_FAST_COMMIT,
};

struct rj_jbd2_info {
	struct rj_jbd2_sb sb;
	bool empty;	      /* s_start was 0: nothing to replay */
	uint32_t first_tid;   /* first transaction found complete */
	uint32_t last_tid;    /* last one that the plan replays */
	uint32_t next_tid;    /* what s_sequence must become: after every tid
			       * seen, also those of damaged transactions */
	uint64_t transactions, descriptors, tags, revokes, escapes;
	uint64_t suppressed;  /* copies dropped because revoked */
	uint64_t freed;	      /* copies dropped because the log shows the block
			       * as free later on */
	uint64_t duplicates;  /* copies dropped because a later one wins */
	uint64_t blocks;      /* distinct blocks that replay will write */
	uint64_t zeroed;      /* copies whose end the kernel zeroed during the commit */
	bool wrapped;	      /* the log went round the ring's end */
	uint32_t end_block;   /* log block after the last replayed commit */
	int64_t first_commit_ns, last_commit_ns; /* commit times since 1970 */
	/* The plan covers the longest good prefix of the log; DAMAGE is the reason
	 * why it ends there, if that is not simply the end of the log. */
	enum rj_jbd2_damage damage;
	uint64_t damage_block; /* log block */
	uint32_t damage_tid;
	/* With damage: a committed, and so acknowledged, transaction may follow
	 * the good prefix. False only if neither the damaged transaction nor a
	 * later one has a commit block. */
	bool damage_committed;
	char damage_text[256]; /* one line: what, which block, which tid */
	uint64_t fs_end; /* the volume's block after the last one that replay writes; 0:
			  * it writes none */
};

struct rj_jbd2_plan;

/*
 * Scan the log and plan its replay: the last copy of each block that no later
 * revoke (in the log, or implied, see GROUPS) cancels, sorted by volume block.
 * Reads only. LOG stays the caller's; *OUT is for rj_jbd2_plan_free().
 * 0 with info.damage set: the plan holds the provably good prefix; the caller
 * decides. RJ_E_CORRUPT: the journal superblock itself; RJ_E_UNSUPPORTED;
 * RJ_E_NOMEM; RJ_E_IO.
 */
int rj_jbd2_scan(struct rj_bio *log, const struct rj_jbd2_scan_opts *opts,
	struct rj_jbd2_plan **out, struct rj_error *err);
const struct rj_jbd2_info *rj_jbd2_plan_info(const struct rj_jbd2_plan *p);
/* Call FN for each transaction the plan replays, in log order. */
struct rj_jbd2_transaction {
	uint32_t tid;
	int64_t commit_ns;
	uint32_t tags, revokes; /* copies and revoke records in the log */
	uint32_t first_block;	/* in the log */
	uint32_t blocks;	/* copies of it that replay writes */
	uint32_t suppressed;	/* copies of it that are revoked */
	uint32_t freed;		/* copies of it of blocks that are free later */
};
void rj_jbd2_plan_each(const struct rj_jbd2_plan *p,
	void (*fn)(void *arg, const struct rj_jbd2_transaction *t), void *arg);
/*
 * Read the copy of the volume's BLOCK that replay will write from LOG into OUT (a
 * block's size). RJ_E_NOTFOUND: replay does not write BLOCK.
 */
int rj_jbd2_plan_read(const struct rj_jbd2_plan *p, struct rj_bio *log,
	uint64_t block, uint8_t *out, struct rj_error *err);
/* Get the block of the log that holds that copy; 0: replay does not write BLOCK. */
uint32_t rj_jbd2_plan_where(const struct rj_jbd2_plan *p, uint64_t block);
/* NULL-safe. */
void rj_jbd2_plan_free(struct rj_jbd2_plan *p);

/*
 * Write the plan's blocks to FS, then flush FS. Does not write to LOG. May be cut at
 * any point and run again. PROGRESS may be NULL; if it does not return 0, the replay
 * ends with RJ_E_CANCELLED.
 */
int rj_jbd2_replay(const struct rj_jbd2_plan *p, struct rj_bio *log,
	struct rj_bio *fs, int (*progress)(void *arg, uint64_t done,
				   uint64_t total),
	void *arg, struct rj_error *err);

#endif
