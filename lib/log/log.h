/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The remote log: claim an epoch, append segments, find the tail, fetch and
 * verify. The rules and their reasons are in doc/log-format.md.
 */
#ifndef RJ_LOG_LOG_H
#define RJ_LOG_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "segment/segment.h"
#include "store/store.h"
#include "util/error.h"

/* Names a log, and says how its segments are sealed. Zero-initialise it. */
struct rj_log_id {
	uint8_t volume_uuid[RJ_UUID_BYTES];
	uint8_t journal_uuid[RJ_UUID_BYTES];
	const struct rj_sealkey *key; /* the log is encrypted with it; NULL: not
				       * encrypted. Must outlive readers, writers */
	bool compress;		      /* new segments, with zstd */
};

/* A place in the log: the last segment up to which it was verified. */
struct rj_log_tail {
	uint64_t sequence; /* 0: the log is empty */
	uint64_t epoch;	   /* of that segment */
	uint64_t oldest;   /* the segment's own "oldest" */
	uint8_t chain[RJ_SEG_HASH_BYTES];
};

struct rj_log_writer;

/* ---- reading ---- */

struct rj_log_summary {
	uint64_t first, last;	/* numbers present, by listing; 0: none */
	uint64_t start;		/* where reading began (last's "oldest") */
	uint64_t segments;	/* read and verified */
	uint64_t bytes;		/* of those */
	uint64_t epochs_claimed; /* highest epoch object; 0: none */
	uint64_t bad_sequence;	/* on failure, the segment at fault; else 0 */
	struct rj_log_tail tail;
	uint64_t tail_ns;	/* when that was sealed, since 1970; 0: nothing was read */
};

struct rj_log_read_opts {
	/* Segments up to FLOOR were acknowledged (superblock extension): a log
	 * that ends before it is RJ_E_GAP. 0: nothing known. */
	uint64_t floor;
	/* Continue after this tail (of an earlier call). NULL: start at the last
	 * segment's "oldest". */
	const struct rj_log_tail *resume;
	/* Called after each segment: DONE of TOTAL are read. May be NULL. A
	 * non-zero return ends the read with RJ_E_CANCELLED. */
	int (*progress)(void *arg, uint64_t done, uint64_t total);
	void *progress_arg;
	/* This segment was acknowledged to this host (log/floor/floor.h): a log that
	 * ends before it, or holds another one there, is RJ_E_REFUSED. Its
	 * oldest is not used. NULL, or of sequence 0: nothing known. */
	const struct rj_log_tail *seen;
	/* The epoch with which the volume is marked; 0: not known. Segment FLOOR is not of a later
	 * one (RJ_E_GAP). SEEN is not asked of a log that another copy of the volume has left since
	 * (rj_log_was_left()). */
	uint64_t epoch;
	const char *seen_by; /* the host that saw it, for messages; NULL: this one */
	const char *seen_cause;	 /* why it lacks that, for messages; NULL: the store lost it */
	const char *seen_advice; /* what to do then, for messages; NULL: --accept-loss */
	int retry_ms; /* time limit for trying a store again that does not answer;
		       * 0: 10000 */
	/* Read as if the log ended with this segment (which must exist); holes
	 * after it do not count. 0: read to the last segment. */
	uint64_t upto;
};

/*
 * Was ID's log at STORE, whose last segment is LAST, left after EPOCH by a move of a volume in use,
 * which took its numbers on to another place, and is SEEN of there? A fence marked CLEAN ends
 * such a log; what older copies put that were recovered from it may come after that. If it cannot
 * be read: no.
 */
bool rj_log_was_left(struct rj_store *store, const struct rj_log_id *id, uint64_t last,
	uint64_t epoch, const struct rj_log_tail *seen);

/* Receives each verified segment in order; it is valid during the call only.
 * A non-zero return (a negated rj_code) ends the read with that. */
typedef int (*rj_log_sink)(void *arg, const struct rj_segment *seg,
	struct rj_error *err);

/*
 * Read the part of the log that a replay needs, verify every segment (seal,
 * number, chain, epochs never falling, a fence first in each epoch, the
 * volume's and journal's UUID) and hand each to SINK. SUM is filled as far as
 * it got, also on failure.
 *
 * RJ_E_NOTFOUND: no segment at all (and floor 0). RJ_E_GAP: a number is
 * missing below the last one listed or below the floor; or nothing follows
 * RESUME, and it is not there as it was. RJ_E_CORRUPT: a
 * segment is there and fails its check: never taken for the end of the log.
 * RJ_E_FOREIGN: a segment of another volume or journal. RJ_E_REFUSED: see
 * SEEN. RJ_E_UNREACHABLE. Messages name the store, and the segment's number.
 *
 * If the store can have more handles (rj_store_dup()), threads fetch ahead on
 * them: at most RJ_PREFETCH_THREADS, with at most RJ_PREFETCH_SEGMENTS segments and, by
 * the sizes that the store listed, RJ_PREFETCH_BYTES in memory. SINK and progress are
 * called by the caller's own thread; all others have ended on return.
 */
int rj_log_read(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_log_read_opts *opts, rj_log_sink sink, void *arg,
	struct rj_log_summary *sum, struct rj_error *err);

/*
 * Check that the log before W's fence still contains TAIL, from an earlier read,
 * and all segments after it. The older writer may have trimmed those since.
 * Mode A: only that is checked, without a request. Mode B: a segment whose put was
 * never acknowledged can be readable and yet not belong to the log that W's fence
 * continues, so the store is asked. *HOLDS false: read the log again.
 */
int rj_log_still_contains(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_log_tail *tail, const struct rj_log_writer *w,
	int retry_ms, bool *holds, struct rj_error *err);

/* ---- writing ---- */

struct rj_log_claim_opts {
	uint64_t min_epoch; /* claim above this too (superblock extension) */
	/* Claim even if the last segment fails its check or a part is missing,
	 * and mark the fence RJ_SEG_F_BREAK. The next append must be a base.
	 * Without this flag such a log is refused with RJ_E_CORRUPT, RJ_E_GAP
	 * or RJ_E_FOREIGN. */
	bool allow_break;
	/* Mark the fence RJ_SEG_F_CLEAN: the volume is clean and about to leave
	 * this log. An older copy of the volume is recognised by this mark. */
	bool clean;
	bool new_log; /* the log must be empty: RJ_E_EXISTS otherwise */
	/* Put the fence at this number or after the last segment, whichever is higher, marked
	 * RJ_SEG_F_BREAK: the segments below were acknowledged by a store that is lost, or is
	 * left. The next append must be a base. 0: after the last segment. */
	uint64_t begin_at;
	/* Take over from the writer that had this epoch, and from no other. 0:
	 * take over from any writer. RJ_E_BUSY: a newer epoch was claimed while this
	 * looked; rj_log_successor() will tell by whom. */
	uint64_t successor_of;
	/* With successor_of: the newest epoch in which that writer can have put segments.
	 * A segment of a newer one is another host's: RJ_E_FENCED. 0: successor_of. */
	uint64_t wrote;
	/* Called once the number is ours and no other host has written, before anything
	 * is sealed. NULL: not. */
	void (*claimed)(void *arg, uint64_t epoch);
	void *arg;
	/* Fail with RJ_E_UNREACHABLE, with nothing written, if the log ends before
	 * this segment, which was acknowledged. The server may run without its
	 * disk, so that waiting can help. 0: not checked. */
	uint64_t reaches;
	/* The epoch in the volume's superblock, which cannot be rewritten since
	 * the volume has stayed mounted. Written into the epoch's claim, see
	 * rj_log_served_since(). 0: this epoch is written to the superblock. */
	uint64_t continues;
	const uint8_t *nonce; /* RJ_SEG_NONCE_BYTES that nothing was sealed with;
			       * NULL: drawn here */
	int retry_ms; /* as in rj_log_read_opts */
};

/*
 * Find the newest epoch claimed by a dead writer or by the workers that were to
 * take over from it. EPOCH is the last one that one of them was told is its own; NONCE
 * is that of the claims after it. BEGUN: one may have been sent, and none was answered,
 * so that none of them has a segment. Then, in mode B, a folder that gets no text
 * within some seconds counts as such a claim, cut off. Another host may have made it: so
 * give EPOCH as rj_log_claim_opts.wrote. A host that gets its text there later finds
 * itself fenced by our claim; one that got a segment there before our claim fences us.
 * *NEWEST gets the epoch for successor_of. RJ_E_FENCED: another writer has claimed a
 * newer epoch.
 */
int rj_log_successor(struct rj_store *store, const struct rj_log_id *id,
	uint64_t epoch, const uint8_t nonce[RJ_SEG_NONCE_BYTES], bool begun,
	int retry_ms, uint64_t *newest, struct rj_error *err);

/*
 * Become the one writer: put epoch/<E+1> if absent, then a fence segment at
 * the next free number. After that every older writer's next append fails
 * (in mode B already after the claim).
 * After a lost race the claim is tried again a few times, with the next epoch.
 * STORE stays the caller's, must outlive the writer, and is used by it alone.
 * RJ_E_FENCED: a newer writer's fence was there first. RJ_E_BUSY: too many
 * claim at once, try again. RJ_E_UNREACHABLE, RJ_E_CORRUPT, RJ_E_GAP,
 * RJ_E_FOREIGN, RJ_E_UNSUPPORTED (a store with neither mode of fencing; a last
 * segment that this build cannot read). A log that is refused was not written
 * to.
 */
int rj_log_claim(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_log_claim_opts *opts, struct rj_log_writer **out,
	struct rj_error *err);

/* What to do when log and volume have the same journal, and not the same UUID of the volume. */
#define RJ_RENAMED_VOLUME \
	"; if another program changed the volume's UUID, rjrecover -p gives the volume a log of its own"

/*
 * Find the epoch in the superblock of the volume that EPOCH's blocks belong to.
 * *SINCE gets EPOCH itself, or the epoch that its claim continues.
 */
int rj_log_served_since(struct rj_store *store, const struct rj_log_id *id,
	uint64_t epoch, int retry_ms, uint64_t *since, struct rj_error *err);

#define RJ_LOG_OTHER_BYTES 128
/*
 * Write "SECONDS s ago by HOST" into OUT, for messages about a segment of EPOCH
 * that was written at TIME_NS (since 1970 UTC), and return OUT; "" if the host is
 * this one or unknown (an encrypted log does not tell). One request to the store.
 */
const char *rj_log_other_writer(struct rj_store *store,
	const struct rj_log_id *id, uint64_t epoch, uint64_t time_ns,
	char out[RJ_LOG_OTHER_BYTES]);

/* Get the last segment that W appended (after a claim: its fence). */
const struct rj_log_tail *rj_log_writer_tail(const struct rj_log_writer *w);
uint64_t rj_log_writer_epoch(const struct rj_log_writer *w);
/* Get that segment while another thread appends. */
void rj_log_writer_seen(struct rj_log_writer *w, struct rj_log_tail *out);

struct rj_log_append {
	struct rj_segbody body; /* run_count is computed */
	const struct rj_seg_run *runs;
	uint32_t run_count;
	const uint8_t *ring;
	bool base;	 /* the runs hold all that a replay needs */
	bool recovered;	 /* RJ_SEG_F_RECOVERED; only with base */
	uint64_t oldest; /* ignored for a base. 0: as in the tail */
	/* The volume's mark names this segment or a later one: for
	 * RJ_SEG_F_MARKED. 0: no mark is known. */
	uint64_t marked;
	/* The runs' blocks stay as they are until the segment is no longer pending:
	 * rj_log_append() may leave them in RING, and rj_log_retry() reads them there. */
	bool in_place;
};

/*
 * Seal the next segment and put it. 0: the store has acknowledged it. After
 * RJ_E_UNREACHABLE, and after any other failure that leaves rj_log_pending()
 * true (RJ_E_NOSPACE, ...), the writer has the sealed bytes: call
 * rj_log_retry() until it succeeds; appending something else is RJ_E_INVAL.
 * With nothing pending rj_log_retry() returns 0.
 * RJ_E_INVAL: nothing was sent. RJ_E_FENCED: another writer took over; this
 * writer never appends again. RJ_E_CORRUPT, RJ_E_FOREIGN: unreadable or
 * foreign bytes have our number; it never appends again either.
 * After a lost answer the segment is read back: it is ours if the bytes are equal. One
 * call is one attempt: the caller decides when to try again. After its first appends of
 * a size a writer allocates nothing.
 */
int rj_log_append(struct rj_log_writer *w, const struct rj_log_append *a,
	struct rj_error *err);
int rj_log_retry(struct rj_log_writer *w, struct rj_error *err);
/* Append for a tool: try again for RETRY_MS (as in rj_log_read_opts) while the store is away.
 * Errors as of rj_log_append(). */
int rj_log_append_within(struct rj_log_writer *w, const struct rj_log_append *a, int retry_ms,
	struct rj_error *err);
/*
 * Allocate memory for segments of up to BYTES of blocks, with its pages, before
 * the first large append: the kernel may wait for that append to free memory.
 * RJ_E_NOMEM.
 */
int rj_log_writer_reserve(
	struct rj_log_writer *w, size_t bytes, struct rj_error *err);
bool rj_log_pending(const struct rj_log_writer *w);
/* Free W; puts nothing. NULL-safe. */
void rj_log_writer_free(struct rj_log_writer *w);

/* ---- writing in two steps: a fallback file ---- */

/* A sealed segment. A (number, epoch) pair is sealed only once: every copy of
 * it has the same bytes. */
struct rj_log_sealed {
	struct rj_log_tail at; /* its own number, epoch, oldest and chain */
	const uint8_t *bytes;  /* the writer's, until it seals again */
	size_t len;
};

/*
 * Seal the next segment and send nothing: the first half of rj_log_append().
 * The segment is then pending. Same errors as rj_log_append(): RJ_E_INVAL while
 * another segment is pending.
 */
int rj_log_seal(struct rj_log_writer *w, const struct rj_log_append *a,
	struct rj_error *err);
/* Get the pending segment; false if there is none, or if it was appended in place. */
bool rj_log_sealed(const struct rj_log_writer *w, struct rj_log_sealed *out);
/*
 * Continue after the pending segment as if the store had acknowledged it. The
 * caller has made it durable elsewhere, and puts it with rj_log_put_sealed()
 * before every later segment.
 */
void rj_log_mark_stored(struct rj_log_writer *w);
/* Change the writer's handle to STORE (the caller's, as in rj_log_claim()),
 * another handle of the same store: one with other time limits. */
void rj_log_writer_use(struct rj_log_writer *w, struct rj_store *store);
/* True if another writer's segment has our number: W can never append again. */
bool rj_log_writer_dead(const struct rj_log_writer *w);

/*
 * Put the COUNT parts of a sealed segment, SEQUENCE of EPOCH, unless they are there
 * already. One attempt. BACK is scratch, for reading back. The caller must put in
 * order and skip none: the segment before is not looked for.
 * 0: it is in the log, as durable as the store says. *TAKEN (may be NULL) is set
 * if another object has the number, so that no retry helps: RJ_E_FENCED (of a newer
 * epoch, or in mode B one was claimed), RJ_E_CORRUPT or RJ_E_FOREIGN (unreadable or
 * foreign). All other errors are those of rj_store_put_new() and rj_store_get(), and the
 * put may be tried again. Messages name the store and the segment.
 */
int rj_log_put_sealed(struct rj_store *store, const struct rj_log_id *id,
	uint64_t sequence, uint64_t epoch, const struct iovec *parts, int count,
	struct rj_buf *back, bool *taken, struct rj_error *err);

#endif
