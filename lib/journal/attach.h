/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Attach a journal to a volume that has none. */
#ifndef RJ_JOURNAL_ATTACH_H
#define RJ_JOURNAL_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

#include "format/sbx.h"
#include "util/error.h"

/* The -J words, parsed: comma separated, as in mke2fs -J. */
struct rj_journal_opts {
	enum rj_placement placement; /* remote= device= none, else internal */
	bool given;		     /* any placement word or size= was there */
	uint32_t size_mb;	     /* 0: the default for the volume */
	char url[512];		     /* remote= */
	char device[4096];	     /* device= */
	char key_file[4096];	     /* key=; "": rj.conf's, if it has one */
	enum rj_on_loss on_loss;
	bool on_loss_given;
	bool ack_received;
	bool ack_given;
	char fallback[RJ_SBX_URL_BYTES]; /* fallback=; "": none */
	uint32_t fallback_mb; /* fallback_size=; 0: rj_attach_fallback_bytes() */
	char rest[1024]; /* words that are mke2fs's own (location=,
			  * fast_commit_size=), comma separated */
};

/*
 * Parse TEXT. RJ_E_INVAL names the word and what is allowed. With fallback=
 * on_loss is local.
 */
int rj_journal_opts_parse(const char *text, struct rj_journal_opts *out,
	struct rj_error *err);

/* Bytes of the fallback file of a journal of BLOCKS blocks: what OPTS (may be
 * NULL) says, else the default. */
uint64_t rj_attach_fallback_bytes(const struct rj_journal_opts *opts,
	uint32_t block_size, uint32_t blocks);

/*
 * Compute the blocks of a journal by OPTS (its size, or the default) on a volume
 * of VOLUME_BLOCKS blocks of BLOCK_SIZE bytes. RJ_E_INVAL: the volume is too
 * small for a journal, or the size is outside 1024 to 10240000 blocks. One or
 * two are added where the kernel would refuse the size as too small.
 */
int rj_attach_blocks(const struct rj_journal_opts *opts, uint32_t block_size,
	uint64_t volume_blocks, uint32_t *out, struct rj_error *err);

/*
 * Refuse a volume at DEVICE with a feature that is not safe with a remote journal:
 * RJ_E_REFUSED for fast_commit (doc/results/power-cuts.md) and mmp. For inline_data only
 * warn through rj_log() (doc/upstream/inline-data.md).
 */
struct rj_volume_facts;
int rj_attach_features(const char *device, const struct rj_volume_facts *f,
	struct rj_error *err);

/*
 * Check OPTS' store before a volume is changed. Fails if the URL does not fit
 * into a superblock, or if the store does not answer, refuses access, lacks what a
 * log needs, or is not durable; and as rj_log_others_check(), of a new volume. Reads only.
 */
int rj_attach_check(const struct rj_journal_opts *opts, bool force, struct rj_error *err);
/*
 * Check that the fallback file that OPTS name, if any, can be made for a journal
 * of BLOCKS blocks of BLOCK_SIZE bytes. Errors as of rj_fallback_check(). Changes
 * nothing.
 */
int rj_attach_check_fallback(const struct rj_journal_opts *opts,
	uint32_t block_size, uint32_t blocks, struct rj_error *err);

/*
 * Try OPTS' store, before a volume is made, as rj_store_probe_brief() does. SEEN gets the
 * journal_uuid of the log to come, which has the objects of the race, probed and probed_day.
 * Changes nothing here. RJ_E_UNSUPPORTED: several writers would be told that they are the first,
 * or its lists are wrong; else as rj_attach_check().
 */
int rj_attach_race(const struct rj_journal_opts *opts, struct rj_sbx *seen, struct rj_error *err);

/*
 * Give the volume at DEVICE, which has no journal, a remote journal at a store of which
 * rj_attach_race() has SEEN what it can (NULL: try it first): claim epoch 1 of a new log, put
 * the empty journal as its base segment, and only then write the superblocks, all backups first.
 * A cut before the last write leaves the volume without a journal and an orphan log at the store.
 * RJ_E_EXISTS: it has a journal already. RJ_E_REFUSED: it is not clean, or see
 * rj_attach_features().
 */
int rj_attach_remote(const char *device, const struct rj_journal_opts *opts,
	const struct rj_sbx *seen, struct rj_error *err);

/*
 * Put a fresh, empty journal as a base segment: the journal device's two
 * superblocks, next transaction NEXT_TID. Also used after a recovery: a base after
 * other segments is marked RJ_SEG_F_RECOVERED. A store that does not
 * answer is tried again for 10 seconds.
 */
struct rj_log_writer;
int rj_journal_put_empty(struct rj_log_writer *w, uint32_t block_size,
	uint32_t blocks, const uint8_t journal_uuid[RJ_UUID_BYTES],
	const uint8_t volume_uuid[RJ_UUID_BYTES], uint32_t next_tid,
	struct rj_error *err);

#endif
