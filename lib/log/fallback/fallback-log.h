/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The fallback file: sealed segments that were acknowledged while the store was
 * lost, to be put there later, in order, byte for byte. What it promises and
 * why, and its bytes: doc/fallback.md.
 *
 * Works on any rj_bio whose write and flush together are durable. One thread
 * at a time, but for rj_fallback_fetch().
 */
#ifndef RJ_LOG_FALLBACK_LOG_H
#define RJ_LOG_FALLBACK_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "format/fallback-hdr.h"
#include "log/log.h"
#include "os/bio.h"
#include "util/buf.h"
#include "util/error.h"

/* The least that is of use: a few segments of the largest kind. */
#define RJ_FALLBACK_MIN_BYTES (40u << 20)

struct rj_fallback;

struct rj_fallback_facts {
	enum rj_fallback_state state;
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
 * RJ_E_NOSPACE: BIO is smaller than RJ_FALLBACK_MIN_BYTES. */
int rj_fallback_format(struct rj_bio *bio, const struct rj_log_id *id,
	struct rj_error *err);
/*
 * Open what is in BIO, which stays the caller's and must outlive the fallback
 * file, and find every record. RJ_E_NOTRJ: no fallback file. RJ_E_FOREIGN:
 * another journal's. RJ_E_CORRUPT: both headers, or a record that is not the
 * last, are damaged: that is never taken for the end.
 */
int rj_fallback_open(struct rj_bio *bio, const struct rj_log_id *id,
	struct rj_fallback **out, struct rj_error *err);
/* NULL-safe. Writes nothing. */
void rj_fallback_close(struct rj_fallback *s);
void rj_fallback_facts(
	const struct rj_fallback *s, struct rj_fallback_facts *out);
const char *rj_fallback_name(const struct rj_fallback *s);

/* Record durably that the store is lost after TAIL (the last one it acknowledged)
 * of EPOCH, whose fence has the number FENCE: "local from TAIL + 1". */
int rj_fallback_begin(struct rj_fallback *s, const struct rj_log_tail *tail,
	uint64_t epoch, uint64_t fence, struct rj_error *err);
/* Keep the next segment, durably. RJ_E_NOSPACE: no space before more is shipped;
 * nothing was written. RJ_E_INVAL: not the next one. */
int rj_fallback_append(struct rj_fallback *s, const struct rj_log_sealed *seg,
	struct rj_error *err);
/* Make the last record durable, which is SEG's: the process that wrote it died
 * before it was told so. RJ_E_CORRUPT: the record holds something else. */
int rj_fallback_append_again(struct rj_fallback *s,
	const struct rj_log_sealed *seg, struct rj_error *err);
/* Free the space of all segments up to SEQUENCE, which the store has
 * acknowledged. Not a durable step, and need not be one. */
void rj_fallback_shipped(struct rj_fallback *s, uint64_t sequence);
/* Record durably where the records end and how many of them were shipped. */
int rj_fallback_note(struct rj_fallback *s, struct rj_error *err);
/* Mark the file idle, durably: the store has every segment. May run at the same time as
 * rj_fallback_facts(): nothing that it reads changes, but for the state. */
int rj_fallback_idle(struct rj_fallback *s, struct rj_error *err);
/*
 * Record durably in an idle file that EPOCH's writer will use it (one that is not
 * idle names its epoch already). Called before EPOCH is written to the volume: a
 * file of an older epoch than the volume's, even if idle, was not in use.
 */
int rj_fallback_serve(
	struct rj_fallback *s, uint64_t epoch, struct rj_error *err);
/* True if a writer of EPOCH, the volume's epoch, may have used another file, with
 * acknowledged segments in it: this one was not in use then, or was made later. */
bool rj_fallback_was_elsewhere(const struct rj_fallback *s, uint64_t epoch);
/*
 * Record TAIL, which the store has acknowledged, durably in the header of an idle
 * file; does nothing if the file is not idle. May run at the same time as
 * rj_fallback_facts(), and as no other call.
 */
int rj_fallback_note_tail(struct rj_fallback *s, const struct rj_log_tail *tail,
	struct rj_error *err);
/* Get the tail noted by rj_fallback_note_tail(); all zero if there is none. */
void rj_fallback_noted_tail(
	const struct rj_fallback *s, struct rj_log_tail *out);
/* Set the state RJ_FALLBACK_GIVEN_UP, durably. */
int rj_fallback_give_up(struct rj_fallback *s, struct rj_error *err);

/* Where a record is; good until its space is used again. */
struct rj_fallback_place {
	uint64_t session, sequence, position;
	uint32_t bytes;
};

/* Find the record of segment SEQUENCE. False: there is none here. */
bool rj_fallback_find(const struct rj_fallback *s, uint64_t sequence,
	struct rj_fallback_place *out);
/* Read a segment into OUT (emptied first), and check it. Safe during appends. */
int rj_fallback_fetch(const struct rj_fallback *s,
	const struct rj_fallback_place *at, struct rj_buf *out,
	struct rj_error *err);

/*
 * fallback-log-ship.c: put everything that the store may lack there, in order, each
 * verified first; then durably idle. For the next process, which is about to
 * read or claim the log. COUNT (may be NULL) gets how many. *TAKEN (may be
 * NULL): the store's log went on without them, RJ_E_FENCED.
 * RJ_E_UNREACHABLE, RJ_E_CORRUPT, and what else rj_log_put_sealed() reports.
 */
int rj_fallback_ship(struct rj_fallback *s, struct rj_store *store,
	const struct rj_log_id *id, int retry_ms, uint64_t *count, bool *taken,
	struct rj_error *err);
/*
 * A store, for reading only, that shows INNER's log with the fallback file's
 * segments after it; without INNER (NULL) only the fallback file's. Both stay
 * the caller's and outlive it. Epochs: INNER's and the fallback file's own.
 */
int rj_fallback_store(struct rj_fallback *s, struct rj_store *inner,
	const struct rj_log_id *id, struct rj_store **out,
	struct rj_error *err);

/* ---- fallback-log-file.c: where it is ---- */

#define RJ_FALLBACK_PATH_BYTES 256
/*
 * Where the fallback file is, or would be. The path comes from a superblock,
 * which a stranger may have made: it is opened only below the directories that
 * rj.conf allows, and there no link is followed.
 */
struct rj_fallback_path {
	char path[RJ_FALLBACK_PATH_BYTES]; /* for messages */
	bool open;
	int dir; /* its directory, O_PATH; only if OPEN */
	char name[RJ_FALLBACK_PATH_BYTES]; /* inside it */
	int nofollow; /* O_NOFOLLOW; 0: rj.conf names this very path */
};

/*
 * Make the fallback file at PATH, or, where that is a folder, as
 * PATH/<journal uuid>.rjfallback: a new file, mode
 * 0600, BYTES (0: RJ_FALLBACK_MIN_BYTES) written with zeros; or take an empty file,
 * a blank block device (its first and last MiB are zeros), or one that is this
 * journal's already and idle.
 * OLD (may be NULL): a block device with an idle one of that journal is taken, too.
 * VOLUME is the volume's device: it must not be on it (RJ_E_INVAL).
 * RJ_E_EXISTS: it holds something else. RJ_E_BUSY: a block device that is mounted,
 * or otherwise in use. RJ_E_REFUSED: segments that may be needed; or rj.conf does
 * not allow PATH. RJ_E_NOSPACE: too small, or no space; a file made here is removed.
 */
int rj_fallback_make(const char *path, const struct rj_log_id *id,
	const struct rj_log_id *old, const char *volume, uint64_t bytes, struct rj_error *err);
/* Check whether rj_fallback_make() can succeed. Changes nothing. Same errors. OLD
 * (may be NULL): a regular file of that journal is removed or renamed before. */
int rj_fallback_check(const char *path, const struct rj_log_id *id,
	const struct rj_log_id *old, const char *volume, uint64_t bytes,
	struct rj_error *err);

struct rj_fallback_file {
	struct rj_bio *bio;
	struct rj_fallback *log;
	struct rj_fallback_path at;
	char path[RJ_FALLBACK_PATH_BYTES]; /* the same as at.path */
};

/* Open the fallback file at PATH for ID's journal. READONLY: nothing can be
 * written. RJ_E_NOTFOUND: there is none (nor a folder that could hold it).
 * RJ_E_BUSY: another process has it open for writing, or (but with READONLY) the
 * block device is in use. */
int rj_fallback_file_open(const char *path, const struct rj_log_id *id,
	const char *volume, bool readonly, struct rj_fallback_file *out,
	struct rj_error *err);
/* Also of a zeroed one, and twice. */
void rj_fallback_file_close(struct rj_fallback_file *f);
/* Remove the file if it is ID's and idle; one that is needed, or another's, or a
 * block device, stays. 0: it is gone, or there was none. */
int rj_fallback_file_remove(const char *path, const struct rj_log_id *id,
	struct rj_error *err);
/* Undo a rj_fallback_make() of ID's journal that was cut off: remove what it left at PATH, a
 * file that holds nothing yet, or is that journal's and idle; a block device becomes an empty
 * one of BACK (may be NULL). Of ID only the journal counts. *GONE: that was done, or there is no
 * file at PATH. Another's file stays. */
int rj_fallback_file_unmake(const char *path, const struct rj_log_id *id,
	const struct rj_log_id *back, bool *gone, struct rj_error *err);
/* Space for PATH.kept-EPOCH, or PATH.kept-EPOCH.N. */
#define RJ_FALLBACK_ASIDE_BYTES (RJ_FALLBACK_PATH_BYTES + 32)
/* Rename the file to such a name that is free (KEPT gets it), its bytes as they
 * are; a block device keeps its name. RJ_E_IO. */
int rj_fallback_file_set_aside(struct rj_fallback_file *f,
	char kept[RJ_FALLBACK_ASIDE_BYTES], struct rj_error *err);
/* Rename a regular file at PATH, which rj_fallback_file_open() found to be damaged, or
 * nothing of ours, in the same way. False: it stays. */
bool rj_fallback_file_put_away(const char *path, const struct rj_log_id *id,
	const char *volume, uint64_t epoch, char kept[RJ_FALLBACK_ASIDE_BYTES]);
/* Give up F's segments: mark the file so, then set it aside. */
int rj_fallback_file_give_up(struct rj_fallback_file *f,
	char kept[RJ_FALLBACK_ASIDE_BYTES], struct rj_error *err);

#endif
