/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The fallback file: sealed segments that were acknowledged while the store was
 * lost, to be put there later, in order, byte for byte. What it promises and
 * why, and its bytes: doc/fallback.md.
 *
 * Works on any rj_bio whose write and flush together are durable. One thread
 * at a time, but for rj_spool_fetch().
 */
#ifndef RJ_LOG_SPOOL_H
#define RJ_LOG_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "format/spoolhdr.h"
#include "log/log.h"
#include "util/bio.h"
#include "util/buf.h"
#include "util/error.h"

/* The least that is of use: a few segments of the largest kind. */
#define RJ_SPOOL_MIN_BYTES (40u << 20)

struct rj_spool;

struct rj_spool_facts {
	enum rj_spool_state state;
	uint64_t epoch, fence; /* of the writer whose segments are here */
	uint64_t from;	  /* the first segment that was kept here */
	uint64_t next;	  /* the first one that the store has not acknowledged */
	uint64_t last;	  /* the last one here; below NEXT: none is missing there */
	uint64_t first;	  /* the first one that can still be read here */
	uint64_t oldest;  /* what the last one needs, by its header; 0: none */
	uint64_t backlog; /* bytes of the segments NEXT to LAST */
	uint64_t used, capacity; /* bytes of the area that are not free */
	int64_t since_ns; /* realtime: when the store was lost */
	/* A recovery needs no segment that is not here. */
	bool self_sufficient;
};

/* Make BIO an empty fallback file of ID's journal; whatever was there is gone.
 * RJ_E_NOSPACE: BIO is smaller than RJ_SPOOL_MIN_BYTES. */
int rj_spool_format(struct rj_bio *bio, const struct rj_log_id *id,
	struct rj_error *err);
/*
 * Open what is in BIO, which stays the caller's and must outlive the spool, and
 * find every record. RJ_E_NOTRJ: no fallback file. RJ_E_FOREIGN: another
 * journal's. RJ_E_CORRUPT: both headers, or a record that is not the last, are
 * damaged: that is never taken for the end.
 */
int rj_spool_open(struct rj_bio *bio, const struct rj_log_id *id,
	struct rj_spool **out, struct rj_error *err);
/* NULL-safe. Writes nothing. */
void rj_spool_close(struct rj_spool *s);
void rj_spool_facts(const struct rj_spool *s, struct rj_spool_facts *out);
const char *rj_spool_name(const struct rj_spool *s);

/* The store is lost behind TAIL (what it acknowledged last), of EPOCH, whose
 * fence has number FENCE: durably "local from TAIL + 1". */
int rj_spool_begin(struct rj_spool *s, const struct rj_log_tail *tail,
	uint64_t epoch, uint64_t fence, struct rj_error *err);
/* Keep the next segment, durably. RJ_E_NOSPACE: no room before more is shipped;
 * nothing was written. RJ_E_INVAL: not the next one. */
int rj_spool_append(struct rj_spool *s, const struct rj_log_sealed *seg,
	struct rj_error *err);
/* The last record is SEG's, written by a process that died before it knew that:
 * make sure that it is durable. RJ_E_CORRUPT: it holds something else. */
int rj_spool_append_again(struct rj_spool *s, const struct rj_log_sealed *seg,
	struct rj_error *err);
/* The store has acknowledged everything up to SEQUENCE: that room may be used
 * again. Not durable by itself: it needs not be. */
void rj_spool_shipped(struct rj_spool *s, uint64_t sequence);
/* Write down, durably, how far it goes and how much of it was shipped. */
int rj_spool_note(struct rj_spool *s, struct rj_error *err);
/* The store has everything: durably idle. */
int rj_spool_idle(struct rj_spool *s, struct rj_error *err);
/*
 * EPOCH's writer is going to have this file at hand: durably, if it is idle (one
 * that is not says whose it is already). Before the volume is marked with that
 * epoch: a file of an older one than the volume's was not there, however idle.
 */
int rj_spool_serve(struct rj_spool *s, uint64_t epoch, struct rj_error *err);
/* Can it be that a writer of EPOCH, which the volume was marked with, had
 * another file, and what it acknowledged is there? */
bool rj_spool_missed(const struct rj_spool *s, uint64_t epoch);
/* Durably RJ_SPOOL_GIVEN_UP. */
int rj_spool_give_up(struct rj_spool *s, struct rj_error *err);

/* Where a record is; good until its room is used again. */
struct rj_spool_place {
	uint64_t session, sequence, position;
	uint32_t bytes;
};

/* False: it is not here. */
bool rj_spool_find(const struct rj_spool *s, uint64_t sequence,
	struct rj_spool_place *out);
/* The segment's bytes into OUT (emptied first), checked. Beside appends. */
int rj_spool_fetch(const struct rj_spool *s, const struct rj_spool_place *at,
	struct rj_buf *out, struct rj_error *err);

/*
 * spool-ship.c: put everything that the store may lack there, in order, each
 * verified first; then durably idle. For the next process, which is about to
 * read or claim the log. COUNT (may be NULL) gets how many. *TAKEN (may be
 * NULL): the store's log went on without them, RJ_E_FENCED.
 * RJ_E_UNREACHABLE, RJ_E_CORRUPT, and what else rj_log_put_sealed() reports.
 */
int rj_spool_ship(struct rj_spool *s, struct rj_store *store,
	const struct rj_log_id *id, int retry_ms, uint64_t *count, bool *taken,
	struct rj_error *err);
/*
 * A store, for reading only, that shows INNER's log with the spool's segments
 * behind it; without INNER (NULL) only the spool's. Both stay the caller's and
 * outlive it. Epochs: INNER's and the spool's own.
 */
int rj_spool_store(struct rj_spool *s, struct rj_store *inner,
	const struct rj_log_id *id, struct rj_store **out,
	struct rj_error *err);

/* ---- spool-file.c: where it is ---- */

/*
 * The file that PATH (absolute) means for ID's journal: PATH itself, or in an
 * existing folder PATH/<journal uuid>.rjfallback. RJ_E_INVAL.
 */
#define RJ_SPOOL_PATH_BYTES 256
int rj_spool_resolve(const char *path, const struct rj_log_id *id,
	char out[RJ_SPOOL_PATH_BYTES], struct rj_error *err);
/*
 * Make the fallback file at PATH (as in rj_spool_resolve()): a new file, mode
 * 0600, BYTES (0: RJ_SPOOL_MIN_BYTES) written with zeros; or take an empty file,
 * a blank block device (its first and last MiB are zeros), or one that is this
 * journal's already and idle.
 * VOLUME is the volume's device: it must not be on it (RJ_E_INVAL).
 * RJ_E_EXISTS: it holds something else. RJ_E_BUSY: a block device that is mounted,
 * or otherwise in use. RJ_E_REFUSED: segments that may be
 * needed. RJ_E_NOSPACE: too small, or no room; a file made here is removed.
 */
int rj_spool_make(const char *path, const struct rj_log_id *id,
	const char *volume, uint64_t bytes, struct rj_error *err);
/* May rj_spool_make() succeed? Changes nothing. Same errors. */
int rj_spool_check(const char *path, const struct rj_log_id *id,
	const char *volume, uint64_t bytes, struct rj_error *err);

struct rj_spool_file {
	struct rj_bio *bio;
	struct rj_spool *spool;
	char path[RJ_SPOOL_PATH_BYTES];
};

/* Open the fallback file at PATH for ID's journal. READONLY: nothing can be
 * written. RJ_E_NOTFOUND: there is none (nor a folder that could hold it).
 * RJ_E_BUSY: another process has it open for writing, or (but with READONLY) the
 * block device is in use. */
int rj_spool_file_open(const char *path, const struct rj_log_id *id,
	const char *volume, bool readonly, struct rj_spool_file *out,
	struct rj_error *err);
/* Also of a zeroed one, and twice. */
void rj_spool_file_close(struct rj_spool_file *f);
/* Remove the file if it is ID's and idle; one that is needed, or another's, or a
 * block device, stays. 0: it is gone, or there was none. */
int rj_spool_file_remove(const char *path, const struct rj_log_id *id,
	struct rj_error *err);
/* Room for PATH.kept-EPOCH, or PATH.kept-EPOCH.N. */
#define RJ_SPOOL_KEPT_BYTES (RJ_SPOOL_PATH_BYTES + 32)
/* Rename the file to such a name that is free (KEPT gets it), its bytes as they
 * are; a block device keeps its name. RJ_E_IO. */
int rj_spool_file_keep(struct rj_spool_file *f,
	char kept[RJ_SPOOL_KEPT_BYTES], struct rj_error *err);
/* Its segments are given up: that is marked in it, then it is kept. */
int rj_spool_file_put_aside(struct rj_spool_file *f,
	char kept[RJ_SPOOL_KEPT_BYTES], struct rj_error *err);

#endif
