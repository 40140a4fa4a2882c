/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Move a volume's journal: from any of none, internal, external device and
 * remote log to any other, or to another size of the same. The order of the
 * writes, and what a cut at each of them leaves, is in doc/moving.md: the new
 * journal is complete and durable first, one write of 1024 bytes switches, the
 * old journal is released after. An intent record in the superblock extension
 * is durable before any part of a journal is changed, so that
 * rj_move_resume() can finish or roll back an interrupted move.
 */
#ifndef RJ_JOURNAL_MOVE_H
#define RJ_JOURNAL_MOVE_H

#include <stdbool.h>
#include <stdint.h>

#include "journal/attach.h"
#include "os/bio.h"
#include "store/store.h"

struct rj_log_id;

/* struct rj_sbx.intent_op */
enum rj_move_op {
	RJ_MOVE_NONE = 0,
	RJ_MOVE_JOURNAL = 1, /* the journal moves */
	RJ_MOVE_UUID = 2,    /* the volume gets another UUID */
};

/* struct rj_sbx.intent_state. intent_placement and intent_uuid name the journal
 * that a resume acts on. */
enum rj_move_state {
	/* the new journal (intent_*) is being made, the volume is as it was; a
	 * resume takes the new one back */
	RJ_MOVE_PREPARE = 1,
	/* blocks of the volume are being changed by the redo record at block
	 * redo_block, whose id is intent_uuid; it cannot be mounted until then. A
	 * resume continues; intent_placement is the resulting one */
	RJ_MOVE_APPLY = 2,
	/* the volume has its new journal; a resume releases the old one
	 * (intent_*) */
	RJ_MOVE_RELEASE = 3,
};

/* For tests: everything that a move changes, in order. All may be NULL. */
struct rj_move_hooks {
	const struct rj_bio_tap *volume;
	/* Writes to an external journal device. NEW: the one moved to. */
	const struct rj_bio_tap *(*device)(void *arg, const char *path);
	/* Instead of rj_store_open(url). */
	int (*open_store)(void *arg, const char *url, struct rj_store **out,
		struct rj_error *err);
	void *arg;
};

struct rj_move_opts {
	/* The journal to be. placement RJ_PLACE_NONE: the volume gets no journal.
	 * Ignored by rj_move_resume() and with JOURNAL_STAYS. */
	struct rj_journal_opts to;
	bool journal_stays; /* the journal stays where it is: for NEW_UUID alone
			     */
	bool force; /* the new log may lie where another volume's was written lately */
	bool dry_run; /* tell the steps through say, change nothing */
	/* Go on without the old journal, which cannot be reached or used: the
	 * caller has made sure that it is not needed. */
	bool abandon;
	/* With dry_run: the log that the volume has just given up, and its fallback
	 * file, removed or renamed before the move itself. May be NULL. */
	const struct rj_log_id *given_up;
	const char *given_up_fallback;
	/* The volume's UUID becomes this one. NULL: stays. */
	const uint8_t *new_uuid;
	/* Where the old external journal (for a resume: any) may be found, also
	 * as an image file; it is known by its UUID. NULL-terminated; may be
	 * NULL: by device number and UUID. */
	const char *const *devices;
	const char *old_key; /* key file of the old remote log, as for
			      * rj_log_sealing_load(); NULL: rj.conf's */
	/* What is overwritten in the volume goes there, for e2undo(8), after what the file has
	 * already. NULL: nowhere. Not for a resume. */
	const char *undo_file;
	bool allow_files; /* an image file may become an external journal */
	int retry_ms;	  /* how long to try an unreachable store; 0: 10000 */
	/* One line for each step, before it is taken. May be NULL. */
	void (*say)(void *arg, const char *line);
	void *arg;
	struct rj_move_hooks hooks;
};

/* One end of a move. */
struct rj_move_end {
	enum rj_placement placement;
	uint8_t uuid[RJ_UUID_BYTES]; /* of a device or log; else all 0 */
	char where[512];	     /* URL, or the device's path; "" if neither
				      * or not known */
	uint32_t blocks;	     /* length, in blocks of the volume; 0: not
				      * known */
};

enum rj_move_outcome {
	RJ_MOVED_NOTHING = 0,	/* nothing to do, or refused: nothing changed */
	RJ_MOVED_DONE,		/* moved; for a resume: finished */
	RJ_MOVED_ROLLED_BACK,	/* by a resume: everything is as before */
	RJ_MOVED_UNFINISHED,	/* failed half-way: run rj_move_resume() */
	RJ_MOVED_WOULD,		/* dry run */
};

struct rj_move_report {
	enum rj_move_outcome outcome;
	bool needs_recovery;   /* refused, since the journal must be replayed */
	bool journal_lost;     /* refused, since the old journal is not there or
				* not usable; of a resume: the record of the move
				* is not */
	bool contradicts;      /* refused, since volume and log contradict each other:
				* without this journal the volume goes on as it is */
	bool pending;	       /* refused, since a move was cut off before */
	struct rj_move_end from, to;
	/* Something to know that is no failure; "" */
	char warning[RJ_ERROR_BYTES];
};

/* Check that no change of the superblock of the volume at PATH (F) would be taken back: by
 * the replay of its journal, or the end of a move. RJ_E_REFUSED, and REPORT says which. */
int rj_move_check_settled(const char *path, const struct rj_volume_facts *f,
	struct rj_move_report *report, struct rj_error *err);

/*
 * Move the journal of the volume at DEVICE (not mounted). REPORT is filled
 * also on failure; unless its outcome is RJ_MOVED_UNFINISHED nothing was
 * changed, except that the extension may have been written (and a new, unused log
 * to a store). If the volume already has that journal, nothing is written:
 * RJ_MOVED_NOTHING and 0.
 *
 * RJ_E_REFUSED: needs recovery, is not clean, a move was cut off, or the
 * new journal is another volume's. RJ_E_BUSY: mounted, held, served by a
 * rjournald, MMP in use, or the journal device is. RJ_E_NOTFOUND,
 * RJ_E_UNREACHABLE and others with report->journal_lost. RJ_E_NOSPACE: no
 * space for the internal journal. RJ_E_EXISTS: the device holds something else
 * than a journal. RJ_E_INVAL: size, block size.
 */
int rj_move(const char *device, const struct rj_move_opts *opts,
	struct rj_move_report *report, struct rj_error *err);

/*
 * Finish or roll back an interrupted move. Only opts' dry_run, devices,
 * retry_ms, say and hooks count. RJ_MOVED_NOTHING and 0: no move was under way.
 * May be interrupted and run again. A missing device is no failure:
 * report->warning says what may be left on it.
 */
int rj_move_resume(const char *device, const struct rj_move_opts *opts,
	struct rj_move_report *report, struct rj_error *err);

/* Check whether a move of DEVICE's journal is under way or interrupted. Reads
 * only. False after any error; true also for a superblock that the move tore. */
bool rj_move_pending(const char *device);

/* "device /dev/sdb1", "remote log rj://...", "none": into OUT; returns it. */
const char *rj_move_end_text(
	const struct rj_move_end *e, char *out, size_t size);
const char *rj_move_outcome_name(enum rj_move_outcome o);

#endif
