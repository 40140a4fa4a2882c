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

/* Whose log it is, and how its segments are sealed. Zero-initialise it. */
struct rj_log_id {
	uint8_t volume_uuid[RJ_UUID_BYTES];
	uint8_t journal_uuid[RJ_UUID_BYTES];
	const struct rj_sealkey *key; /* encrypted with it; NULL: not at all.
				       * Outlives readers and writers */
	bool compress;		      /* what is written, with zstd */
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
};

struct rj_log_read_opts {
	/* Segments up to FLOOR were acknowledged (superblock extension): a log
	 * that ends before it is RJ_E_GAP. 0: nothing known. */
	uint64_t floor;
	/* Continue behind this tail (of an earlier call), NULL: from the last
	 * segment's "oldest". */
	const struct rj_log_tail *resume;
	/* Called after each segment: so many of so many. May be NULL. A
	 * non-zero return ends the read with RJ_E_CANCELLED. */
	int (*progress)(void *arg, uint64_t done, uint64_t total);
	void *progress_arg;
	int retry_ms; /* how long to go on trying a store that does not answer;
		       * 0: 10000 */
	/* Read as if the log ended with this segment (which must exist); holes
	 * behind it do not count. 0: to the last one. */
	uint64_t upto;
};

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
 * missing below the last one listed or below the floor. RJ_E_CORRUPT: a
 * segment is there and fails its check: never taken for the end of the log.
 * RJ_E_FOREIGN: a segment of another volume or journal. RJ_E_UNREACHABLE.
 * Messages name the store, and the segment's number.
 *
 * If the store has handles to spare (rj_store_dup()), threads fetch ahead on
 * them: at most 8, holding at most 16 segments and, by the sizes that the store
 * listed, 64 MiB. SINK and progress are called by the caller's own thread; all
 * others have ended on return.
 */
int rj_log_read(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_log_read_opts *opts, rj_log_sink sink, void *arg,
	struct rj_log_summary *sum, struct rj_error *err);

/*
 * Does the log still hold TAIL, of an earlier read, and all that follows, now
 * that W's fence stands? Not if the older writer needed less by then, and trimmed
 * what follows. Beside that, in mode A always, and nobody is asked; of two stores
 * the other one's log may be the log by now; and in mode B a segment that its
 * writer never got acknowledged can be read, and yet not be of the log that W's
 * fence stands behind. If *HOLDS is false, what was read has to be read again.
 */
int rj_log_holds(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_log_tail *tail, const struct rj_log_writer *w,
	int retry_ms, bool *holds, struct rj_error *err);

/* ---- writing ---- */

/*
 * With --accept-loss one of two stores is gone on with, and what the other one
 * holds is given up. A worker there that knows nothing of it may be followed by
 * others, each an epoch higher; this much higher is the recovery's, so that its
 * log is the one of the higher epoch for ever. A random number below this comes on
 * top: who gives up first the one and then the other, because the first time was
 * cut off, must not claim the same epoch in both.
 */
#define RJ_LOG_LOSS_EPOCHS (1u << 20)

struct rj_log_claim_opts {
	uint64_t min_epoch; /* claim above this too (superblock extension) */
	bool after_loss;    /* by RJ_LOG_LOSS_EPOCHS, see there */
	/* The last segment fails its check, or a part is missing: claim all the
	 * same and mark the fence RJ_SEG_F_BREAK. The next append must be a
	 * base. Without this such a log is refused with RJ_E_CORRUPT, RJ_E_GAP
	 * or RJ_E_FOREIGN. */
	bool allow_break;
	/* One of two stores, by itself: say of its being alone in the fence what
	 * the segment before it says. */
	bool repeat_alone;
	/* The volume is clean, and about to leave this log: say so in the fence
	 * (RJ_SEG_F_CLEAN), for who comes with an older copy of it. */
	bool clean;
	bool new_log; /* the log must be empty: RJ_E_EXISTS otherwise */
	/* Take over from the writer that had this epoch, and from no other: a
	 * newer one is RJ_E_FENCED, found before anything is written. 0:
	 * whoever it was. */
	uint64_t heir_of;
	/* A segment that was acknowledged: RJ_E_UNREACHABLE, and nothing was
	 * written, if the log ends before it. It may be that the server is
	 * there without its disk, and that waiting helps. */
	uint64_t reaches;
	/* The epoch that the volume was marked with, which was mounted all the
	 * time since, so that it cannot be marked anew. Put into the epoch's
	 * object, see rj_log_served_since(). 0: this one is marked itself. */
	uint64_t continues;
	const uint8_t *nonce; /* RJ_SEG_NONCE_BYTES that nobody ever used;
			       * NULL: drawn here */
	int retry_ms; /* as in rj_log_read_opts */
};

/*
 * A writer died, and perhaps others that were to take over from it. Which epoch
 * was the last of them? EPOCH is the last one known; NONCE is that of the claim
 * that was begun behind it and may have been cut off. NEWEST gets the one for
 * heir_of. RJ_E_FENCED: somebody else has claimed a newer one.
 */
int rj_log_heir(struct rj_store *store, const struct rj_log_id *id,
	uint64_t epoch, const uint8_t nonce[RJ_SEG_NONCE_BYTES], int retry_ms,
	uint64_t *newest, struct rj_error *err);

/*
 * Become the one writer: put epoch/<E+1> if absent, then a fence segment at
 * the next free number. From then on every older writer's next append fails
 * (in mode B already from the claim on).
 * A lost race is tried again with the next epoch a few times.
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

/*
 * Blocks of EPOCH go with a volume that was marked with which epoch? *SINCE is
 * EPOCH itself, or what its claim continues.
 */
int rj_log_served_since(struct rj_store *store, const struct rj_log_id *id,
	uint64_t epoch, int retry_ms, uint64_t *since, struct rj_error *err);

#define RJ_LOG_OTHER_BYTES 128
/*
 * For people: "SECONDS s ago by HOST", of what was written in EPOCH at TIME_NS
 * (since 1970 UTC), into OUT, which is returned; or "": that was this host, or
 * nobody knows (an encrypted log does not say it). The store is asked once.
 */
const char *rj_log_other_writer(struct rj_store *store,
	const struct rj_log_id *id, uint64_t epoch, uint64_t time_ns,
	char out[RJ_LOG_OTHER_BYTES]);

/* The writer's last appended (after a claim: its fence). */
const struct rj_log_tail *rj_log_writer_tail(const struct rj_log_writer *w);
uint64_t rj_log_writer_epoch(const struct rj_log_writer *w);

struct rj_log_append {
	struct rj_segbody body; /* run_count is computed */
	const struct rj_seg_run *runs;
	uint32_t run_count;
	const uint8_t *ring;
	bool base;	 /* the runs hold all that a replay needs */
	bool recovered;	 /* RJ_SEG_F_RECOVERED; only with base */
	uint64_t oldest; /* ignored for a base. 0: as in the tail */
	uint64_t sequence; /* that it will have; only for rj_log_seal_next() */
};

/*
 * Seal the next segment and put it. 0: the store has acknowledged it. After
 * RJ_E_UNREACHABLE, and after any other failure that leaves rj_log_pending()
 * true (RJ_E_NOSPACE, ...), the very same bytes are kept in the writer: call
 * rj_log_retry() until it succeeds; appending something else is RJ_E_INVAL.
 * With nothing pending rj_log_retry() returns 0.
 * RJ_E_INVAL: nothing was sent. RJ_E_FENCED: another writer took over; this
 * writer never appends again. RJ_E_CORRUPT, RJ_E_FOREIGN: unreadable or
 * foreign bytes have our number; it never appends again either.
 * An answer lost on the way is recognised by reading back: it is ours when
 * the bytes are ours. One call is one attempt: the caller sets the pace.
 * A warm writer allocates nothing.
 */
int rj_log_append(struct rj_log_writer *w, const struct rj_log_append *a,
	struct rj_error *err);
int rj_log_retry(struct rj_log_writer *w, struct rj_error *err);
/*
 * A, but for the last block of its last run, will probably be appended next:
 * hash what is known of it while nobody waits. Only ever a saving: what comes
 * is compared with what was hashed, byte by byte.
 */
void rj_log_seal_begin(struct rj_log_writer *w, const struct rj_log_append *a);
/*
 * While another thread appends: seal A, with its SEQUENCE, if it comes right
 * behind what is pending now. Then the append of an A with that number, the
 * next one, finds it done: its blocks must not change from here on. Only ever a
 * saving. False: not done, and it may be asked for again.
 */
bool rj_log_seal_next(struct rj_log_writer *w, const struct rj_log_append *a);
/*
 * Memory for segments of up to BYTES of blocks now, with its pages, and not in
 * the middle of the first large append: the kernel may wait for that one to
 * free memory. BEGUN: the same for rj_log_seal_begin(). RJ_E_NOMEM.
 */
int rj_log_writer_reserve(struct rj_log_writer *w, size_t bytes, size_t begun,
	struct rj_error *err);
/*
 * Of two stores the one that was away has been caught up, and only the next
 * segment makes both needed again: put one of no blocks. Nothing where there is
 * nothing to be said so. Errors as of rj_log_append(), with the same
 * consequences; rj_log_retry() goes on with it. Of GEOMETRY only block_size and
 * journal_blocks are looked at.
 */
int rj_log_rejoin(struct rj_log_writer *w, const struct rj_segbody *geometry,
	struct rj_error *err);
bool rj_log_pending(const struct rj_log_writer *w);
/* NULL-safe. Does not touch the log. */
void rj_log_writer_free(struct rj_log_writer *w);

/* ---- writing in two steps: a fallback file, a second store ---- */

/* A sealed segment. A (number, epoch) pair is sealed once, ever: wherever these
 * bytes are put, and however often, they are the same. */
struct rj_log_sealed {
	struct rj_log_tail at; /* its own number, epoch, oldest and chain */
	const uint8_t *bytes;  /* the writer's, until it seals again */
	size_t len;
};

/*
 * The first half of rj_log_append(): seal the next segment, and send nothing.
 * From then on it is pending. Same errors as there: RJ_E_INVAL while another one
 * is pending.
 */
int rj_log_seal(struct rj_log_writer *w, const struct rj_log_append *a,
	struct rj_error *err);
/* What is pending; false if nothing is. */
bool rj_log_sealed(const struct rj_log_writer *w, struct rj_log_sealed *out);
/*
 * The pending segment is durable elsewhere, and whoever keeps it there will put
 * it with rj_log_put_sealed(), before anything that follows it: go on behind it
 * as if the store had acknowledged it.
 */
void rj_log_kept(struct rj_log_writer *w);
/* From here on put into STORE (the caller's, as in rj_log_claim()), another
 * handle of the same store: one with other time limits. */
void rj_log_writer_use(struct rj_log_writer *w, struct rj_store *store);
/* The writer's store has another's segment at our number: it is dead. */
bool rj_log_writer_dead(const struct rj_log_writer *w);

/*
 * Put the LEN sealed bytes DATA, segment SEQUENCE of EPOCH, unless they are there
 * already. One attempt. BACK is scratch, for reading back. Put in order, never
 * skip one: whether the segment before is there is for the caller to know.
 * 0: it is in the log, as durable as the store says. With *TAKEN (may be NULL)
 * the number is for ever another's: RJ_E_FENCED (a newer epoch's, or in mode B
 * one was claimed), RJ_E_CORRUPT or RJ_E_FOREIGN (unreadable or foreign). All
 * else is what rj_store_put_new() and rj_store_get() report, and may be tried
 * again. Messages name the store and the segment.
 */
int rj_log_put_sealed(struct rj_store *store, const struct rj_log_id *id,
	uint64_t sequence, uint64_t epoch, const void *data, size_t len,
	struct rj_buf *back, bool *taken, struct rj_error *err);

#endif
