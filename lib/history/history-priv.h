/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of lib/history share. */
#ifndef RJ_HISTORY_HISTORY_PRIV_H
#define RJ_HISTORY_HISTORY_PRIV_H

#include "format/mount-note.h"
#include "history/history.h"
#include "jbd2/jbd2.h"
#include "log/ring.h"
#include "util/buf.h"

/* A larger ring is kept in a file (lib/log/ring.h). */
#define RJ_HIST_MEMORY (256u << 20)

/* Between two mounts, and until it is known how the next one began, nothing is applied. */
enum rj_hist_held {
	RJ_HELD_NOT = 0,
	RJ_HELD_CRASHED,   /* a fence ended the mount: rjrecover's base is next, */
	RJ_HELD_EMPTIED,   /* then its note of how it left the volume, */
	RJ_HELD_RECOVERED, /* then the fence of the next mount */
	RJ_HELD_MOUNTED,   /* that was there, or the one after an unmount; its note is next */
};

/* A commit block that a segment has. */
struct rj_hist_commit {
	uint64_t segment;
	int64_t sealed_ns; /* when the segment was sealed, since 1970 */
	uint32_t tid;
};

struct rj_hist {
	struct rj_store *store;
	const struct rj_log_id *id;
	const struct rj_history_opts *opts;
	struct rj_history_report *report;
	uint64_t since; /* first epoch of the mount that the walk is in: rj_log_served_since() */
	struct rj_ring *ring;
	struct rj_bio *bio; /* over the ring */
	uint32_t sb_block;
	uint64_t segment; /* the last one in the ring, */
	uint64_t chain;	  /* rj_base_chain() of it, */
	int64_t sealed_ns; /* and when it was sealed, since 1970 */
	struct rj_log_tail tail; /* from which the next reading goes on */
	uint64_t claimed; /* the highest epoch, when the last reading began */
	struct rj_log_tail at;	 /* of the segment that is looked at, or was the last one */
	int64_t later_ns; /* the commit that opts->not_after_ns ended the last one at; 0 */
	/* If a time is looked for: those that were read, and are not applied yet; the last one
	 * that was. */
	struct rj_buf commits; /* of struct rj_hist_commit */
	struct rj_hist_commit commit;
	/* The place of the walk in the ring: transaction TID begins at BLOCK, or has
	 * yet to begin somewhere (0: the journal was emptied). */
	bool placed; /* the superblock of the base's first moment was seen */
	uint32_t block, tid;
	bool fresh; /* emptied in that moment: TID may be one more (the kernel skips
		     * one when it mounts a volume with an empty journal) */
	bool ended; /* the journal was emptied as an unmount does it, */
	uint64_t ended_segment; /* in this segment or before */
	/* The last note in the log, and in which segment; 0: there was none. */
	struct rj_mount_note note;
	uint64_t note_segment;
	/* Nothing is applied until notes say how the volume was mounted, and that nothing
	 * else wrote to it since HELD_SEGMENT. */
	enum rj_hist_held held;
	uint64_t held_segment;
	struct rj_mount_note held_note; /* of the unmount, or of rjrecover's end */
	/* Blocks of opts->fs, in use or zeros: report->blocks, or more while a resize has set
	 * groups up, and the superblock does not have them yet. */
	uint64_t end;
	bool then;  /* opts->at was reached, and opts->then is looked for */
	bool whole; /* base.whole was reached */
	bool stop;  /* the moment was found, or the history breaks */
	enum rj_code bad; /* it breaks as a segment is missing or damaged; else RJ_OK */
	bool found;
};

/* ---- walk.c: a walk in several steps ---- */

/* Rebuild the ring as of opts->base.from, and apply what is complete in it. STORE, ID, OPTS and
 * REPORT are set in H, and nothing else. rj_hist_close() in any case. */
int rj_hist_open(struct rj_hist *h, struct rj_error *err);
/*
 * Go on, up to segment UPTO (0: the last one). After RJ_E_UNREACHABLE, RJ_E_BUSY and
 * RJ_E_CANCELLED the next call goes on. After any other failure H can only be closed.
 */
int rj_hist_advance(struct rj_hist *h, uint64_t upto, struct rj_error *err);
void rj_hist_close(struct rj_hist *h);

/* ---- place.c ---- */

/*
 * Apply the transactions that are complete in the ring, from the place of the walk on.
 * RJ_E_REFUSED with h->stop set: the history breaks. 0 with h->stop set: the moment
 * that is looked for was reached; the rest was not applied.
 */
int rj_hist_consume(struct rj_hist *h, struct rj_error *err);

/* Find the next commit block in S after the block AFTER (NULL: the first one), and its
 * transaction, *TID. NULL: there is none. */
const uint8_t *rj_hist_next_commit(
	const struct rj_segment *s, const uint8_t *after, uint32_t *tid);
/* Note which commits segment S has. RJ_E_NOMEM. */
int rj_hist_note_commits(struct rj_hist *h, const struct rj_segment *s, struct rj_error *err);

/* ---- remount.c ---- */

/* Note why the history ends after SEGMENT. Returns -RJ_E_REFUSED. */
int rj_hist_broken(struct rj_hist *h, uint64_t segment, struct rj_error *err,
	const char *why);
/* Look at the note of a mount in S, if there is one. RJ_E_REFUSED with h->stop set: the
 * history breaks. */
int rj_hist_look_at_note(struct rj_hist *h, const struct rj_segment *s,
	struct rj_error *err);
/* Does h->segment have the note of the unmount of the mount that the walk is in, and is the
 * journal empty as that left it? If so, transaction *TID is next. */
bool rj_hist_unmounted(const struct rj_hist *h, uint32_t *tid);
/* Transactions of a mount have to be taken, and its note did not come yet: look for it in the
 * log after h->at. RJ_E_BUSY: the log ends before it, and opts->goes_on is set. RJ_E_REFUSED with
 * h->stop set: the history breaks; the store's errors. */
int rj_hist_look_ahead(struct rj_hist *h, struct rj_error *err);
/* The fence after h->segment begins the service of another mount, in epoch SINCE, or a
 * recovery: go on after it, if the mount before was ended as it should, or crashed. What
 * follows is to be proven. RJ_E_REFUSED with h->stop set: the history ends here. */
int rj_hist_go_over(struct rj_hist *h, uint64_t since, struct rj_error *err);
/* Is segment S, which has blocks, one that may follow here? RJ_E_REFUSED with h->stop set: the
 * history ends. */
int rj_hist_look_at_recovery(
	struct rj_hist *h, const struct rj_segment *s, struct rj_error *err);
/* S was applied to the ring: is it one of rjrecover's, from which the walk goes on? */
void rj_hist_recovered(struct rj_hist *h, const struct rj_segment *s);

#endif
