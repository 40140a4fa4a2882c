/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The history of a volume with data=journal: a base, and the log from there on, are
 * any moment of it. What that rests on, and what ends a history, is in
 * doc/history.md.
 */
#ifndef RJ_HISTORY_HISTORY_H
#define RJ_HISTORY_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "format/mount-note.h"
#include "format/point.h"
#include "format/sbx-base.h"
#include "log/log.h"
#include "os/bio.h"
#include "text/when.h"
#include "util/error.h"

enum rj_moment_kind {
	RJ_AT_LATEST,  /* the last commit in the log */
	RJ_AT_SEGMENT, /* the last commit up to a segment */
	RJ_AT_TIME,    /* the last commit before the first one later than a time */
	RJ_AT_MARK,    /* the last commit up to the segment that a mark names */
};

struct rj_moment {
	enum rj_moment_kind kind;
	uint64_t segment;
	int64_t time_ns; /* since 1970 UTC */
	char mark[RJ_POINT_NAME];
};

/*
 * Parse "latest" or "now", "segment:N", "mark:NAME", or a time as rj_when_parse() takes it.
 * RJ_E_INVAL.
 */
int rj_moment_parse(
	const char *text, struct rj_moment *out, struct rj_error *err);

/* A place in a history: after a whole transaction. */
struct rj_history_place {
	/* The last one that was read for it; of RJ_AT_TIME: that of its commit. */
	uint64_t segment;
	uint32_t tid;	  /* the transaction; 0 with TIME_NS 0: not known */
	int64_t time_ns;  /* of its commit, since 1970 UTC; 0: not known */
	int64_t sealed_ns; /* when SEGMENT was sealed, which is later; 0: not known */
};
/* Its time for people, into OUT: of the commit, or "about" that of the segment. Returns OUT. */
const char *rj_place_text(const struct rj_history_place *p, char out[RJ_WHEN_TEXT]);

struct rj_history_report {
	struct rj_history_place earliest; /* where the base is whole */
	struct rj_history_place reached;
	/* Of the commit before REACHED's, since 1970; 0: not known. What changed no later
	 * is in REACHED; what changed between the two may have come too late for it. */
	int64_t settled_ns;
	uint64_t transactions; /* after EARLIEST, up to REACHED */
	uint64_t blocks; /* the volume's size in REACHED */
	uint64_t segments, bytes; /* read */
	bool emptied; /* the journal is empty in REACHED */
	/* It is so by an unmount, of which the last segment that was read has the note; LEFT:
	 * SHA-256 of the primary superblock that it left. */
	bool unmounted;
	uint8_t left[RJ_MOUNT_NOTE_HASH];
	bool claimed; /* a newer epoch than that of the last segment that was read */
	bool later;   /* the log goes on after REACHED, with a commit, or in some other way */
	/* Why the history ends before the log does, after which segment; "": it
	 * does not. */
	uint64_t break_segment;
	char break_why[256];
};

struct rj_history_opts {
	struct rj_base_record base;
	uint64_t fs_blocks; /* the volume's size in the base; 0: not known */
	struct rj_moment at;
	/* A break before AT is no failure: the walk ends there. */
	bool until_break;
	/*
	 * Where the blocks go; NULL: nowhere, only look. The primary superblock is not
	 * written there, so that a base stays marked as one: the last one that the log
	 * holds goes into SUPER (1024 bytes; may be NULL without FS), if there is any
	 * (HAVE_SUPER).
	 */
	struct rj_bio *fs;
	uint8_t *super;
	bool *have_super;
	/*
	 * May be NULL. Called before FS gets blocks beyond END, its end up to now: it is to have
	 * TO blocks, and zeros from END on, whatever is there. Also if FS is NULL.
	 */
	int (*grow)(void *arg, uint64_t end, uint64_t to, struct rj_error *err);
	/* Called after each segment: DONE of TOTAL are read. May be NULL; non-zero
	 * cancels. */
	int (*progress)(void *arg, uint64_t done, uint64_t total);
	/*
	 * Both may be NULL. Called before blocks of transactions that are complete with SEGMENT
	 * are written to FS, for a base that is changed in place; and when all that is complete
	 * with SEGMENT was applied and flushed, and a walk that begins there would know as much
	 * as this one.
	 */
	int (*will_apply)(void *arg, uint64_t segment, struct rj_error *err);
	int (*settled)(void *arg, uint64_t segment, struct rj_error *err);
	void *arg;
	/* Read no segment that completes a commit later than this, nor any after it;
	 * nanoseconds since 1970. 0: no limit. */
	int64_t not_after_ns;
	/*
	 * May be NULL: after AT the walk goes on to this moment, not before AT, and what comes then
	 * is applied to THEN_FS. AT_REACHED is called between the two, with the report of AT;
	 * EACH (may be NULL) after each transaction then, which are applied one by one.
	 */
	const struct rj_moment *then;
	struct rj_bio *then_fs;
	int (*at_reached)(
		void *arg, const struct rj_history_report *report, struct rj_error *err);
	int (*each)(void *arg, const struct rj_history_report *report, struct rj_error *err);
	/* The walk can go on later: a mount whose note the log does not have yet is no break,
	 * but RJ_E_BUSY. */
	bool goes_on;
	int retry_ms; /* as in rj_log_read_opts */
};

/*
 * Make a mark in AT the segment that it names, and see that AT can be in the history of BASE.
 * *LAST is the log's last segment; 0: not asked, as AT is a time or the latest moment.
 * RJ_E_NOTFOUND: no such mark. RJ_E_REFUSED: AT is before the base, or after the end of the
 * log.
 */
int rj_history_resolve(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_base_record *base, int retry_ms, struct rj_moment *at, uint64_t *last,
	struct rj_error *err);

/*
 * Read the log from the base on, strictly in its order, and apply whole transactions
 * to opts->fs, up to opts->at. REPORT is filled as far as it got, also on failure.
 *
 * RJ_E_NOTFOUND: the log has no such mark. RJ_E_GAP: the log lacks a segment that is
 * needed (trimmed, or lost), or has another one in the place of base.whole.
 * RJ_E_REFUSED: AT is outside of what can be reached, or the history breaks before;
 * the message names the nearest moment. RJ_E_CORRUPT: a segment, or a transaction in
 * the log. RJ_E_CANCELLED; all that rj_log_read() and rj_jbd2_replay() report.
 * After a failure what was written to FS is no moment at all.
 */
int rj_history_walk(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_history_opts *opts, struct rj_history_report *report,
	struct rj_error *err);

#endif
