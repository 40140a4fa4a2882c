/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A base at a store: its objects, each sealed like a segment, of the kind RJ_KEY_BASE beside
 * the log. Names and bytes are in doc/log-format.md.
 */
#ifndef RJ_HISTORY_BASE_STORED_H
#define RJ_HISTORY_BASE_STORED_H

#include <stdbool.h>

#include "history/base/manifest.h"
#include "log/log.h"

/* One base. STORE and ID's key are the caller's. */
struct rj_stored_base {
	struct rj_store *store;
	struct rj_log_id id; /* volume_uuid all zero: not known */
	uint64_t number;     /* from 1 */
};

/* What a list shows of a base. */
struct rj_stored_seen {
	uint64_t number;
	uint64_t objects, bytes; /* at the store */
	bool begun, finished;	 /* notes that are there */
	/* The manifest could be read, or of an unfinished one the note that it was begun: */
	bool known;
	struct rj_base_record record;
	uint64_t hold, time, volume_bytes;
};

/* Append all bases of the log ID to OUT, as struct rj_stored_seen, by number; with ID's
 * key what they say is read. The store's errors. */
int rj_stored_list(struct rj_store *store, const struct rj_log_id *id, struct rj_buf *out,
	struct rj_error *err);
/* Remove the base, first what makes it one. Its hold stays. RJ_E_NOTFOUND: no such base;
 * RJ_E_EXISTS: it is finished, and one that is was not meant (FINISHED). The store's errors. */
int rj_stored_remove(const struct rj_stored_base *b, bool finished, struct rj_error *err);

/*
 * Seal the manifest M (BEGUN: the note of a base that is begun) and put it.
 * RJ_E_EXISTS: another one is there. Else the store's errors.
 */
int rj_stored_put_manifest(const struct rj_stored_base *b, bool begun,
	const struct rj_base_manifest *m, struct rj_error *err);
/* Get it. RJ_E_NOTFOUND; RJ_E_CORRUPT; RJ_E_KEY: encrypted, and ID has no key or another
 * one. Sets B's volume UUID. */
int rj_stored_get_manifest(struct rj_stored_base *b, bool begun, struct rj_base_manifest *m,
	struct rj_error *err);

/*
 * Put chunk I: the blocks of BLOCK_SIZE bytes that RUNS name, COUNT of them, counted from the
 * chunk's first, in DATA. One that is there already is as good, and is left.
 */
int rj_stored_put_chunk(const struct rj_stored_base *b, uint64_t i, const uint8_t *data,
	uint32_t block_size, const struct rj_seg_run *runs, uint32_t count,
	struct rj_error *err);
/* Write all chunks of M into FD, an empty file that is long enough. PROGRESS as in
 * rj_copy. RJ_E_CORRUPT: a chunk is missing, or damaged; RJ_E_KEY. */
int rj_stored_fetch(const struct rj_stored_base *b, const struct rj_base_manifest *m, int fd,
	const char *to, int (*progress)(void *arg, uint64_t done, uint64_t total), void *arg,
	struct rj_error *err);

#endif
