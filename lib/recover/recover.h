/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Recovery of a volume from its journal, wherever that is: a remote log, an
 * external journal device, or inside the volume.
 * gather -> verify -> plan -> claim -> replay -> empty the log -> check; or,
 * when the log cannot be read or does not verify and the caller says yes, a
 * whole-volume e2fsck that a second one must confirm.
 */
#ifndef RJ_RECOVER_RECOVER_H
#define RJ_RECOVER_RECOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "format/sbx.h"
#include "jbd2/jbd2.h"
#include "log/log.h"
#include "util/error.h"

enum rj_verify_level {
	RJ_VERIFY_QUICK, /* superblock, group descriptors, bitmaps */
	RJ_VERIFY_NONE,
	RJ_VERIFY_FULL, /* e2fsck -fn */
};

enum rj_recover_phase {
	RJ_PHASE_GATHER = 1, /* segments read and verified */
	RJ_PHASE_REPLAY = 2, /* blocks written */
	RJ_PHASE_CHECK = 3,  /* block groups checked */
};

struct rj_recover_opts {
	bool dry_run; /* tell, change nothing: neither volume nor log */
	bool yes;     /* if the log cannot be used, e2fsck may mend the volume */
	bool preen;   /* never ask for or do anything but a safe replay */
	bool check_clean; /* check a clean volume too */
	bool force;   /* replay a log although the volume says that it needs none; with yes:
		       * use a backup that may be of an earlier volume */
	bool accept_loss; /* go on without what only a fallback file holds */
	bool quiet;   /* e2fsck's own output is not passed on */
	enum rj_verify_level verify;
	const char *undo_file; /* for e2undo(8); NULL: none */
	const char *url;       /* read the log here instead; NULL: as the
				* superblock extension says */
	/* The log is at this URL now: read it there, and write that into the superblock. It is
	 * sealed as at the volume's own URL. NULL: not */
	const char *from;
	const char *keyfile;   /* of an encrypted log; NULL: rj.conf's */
	const char *journal_device; /* the external journal; NULL: find it */
	int retry_ms;	       /* how long to try an unreachable store; 0: 10000 */
	/* All may be NULL. A non-zero return of progress cancels. */
	int (*progress)(void *arg, enum rj_recover_phase phase, uint64_t done,
		uint64_t total);
	void (*say)(void *arg, const char *line); /* one line for the user */
	/* Each plan that is made, before anything is done with it; the last
	 * one is replayed. PLAN is valid during the call. */
	void (*planned)(void *arg, const struct rj_jbd2_plan *plan);
	/* rj_recover_drop_journal(): the volume is sound, and has no journal. A
	 * failure puts it back as it was; else FALLBACK ("": none), the file of
	 * OLD, the log that it had, is removed or renamed next. */
	int (*dropped)(void *arg, const struct rj_log_id *old,
		const char *fallback, struct rj_error *err);
	void *arg;
};

enum rj_outcome {
	RJ_OUTCOME_FAILED = 0,	  /* nothing was changed, or see the message */
	RJ_OUTCOME_CLEAN,	  /* there was nothing to recover */
	RJ_OUTCOME_REPLAYED,	  /* the log was replayed */
	RJ_OUTCOME_RESET,	  /* log and volume agree that there is nothing to
				   * replay, and say so again */
	RJ_OUTCOME_FSCK,	  /* e2fsck repaired the volume; verified */
	RJ_OUTCOME_WOULD_REPLAY,  /* dry run */
	RJ_OUTCOME_WOULD_RESET,	  /* dry run */
	RJ_OUTCOME_WOULD_REFUSE,  /* dry run: the log cannot be used */
};

/* Bits of fsck(8). */
#define RJ_FSCK_OK	    0
#define RJ_FSCK_CORRECTED   1
#define RJ_FSCK_REBOOT	    2
#define RJ_FSCK_UNCORRECTED 4
#define RJ_FSCK_ERROR	    8
#define RJ_FSCK_USAGE	    16
#define RJ_FSCK_CANCELLED   32
#define RJ_FSCK_LIBRARY	    128

struct rj_recover_report {
	enum rj_outcome outcome;
	int fsck_status;	 /* bits of fsck(8), for the whole run */
	bool needs_recovery;	 /* what the volume said at the start */
	bool log_void;		 /* RJ_SBX_INCOMPAT_LOG_VOID was set */
	enum rj_placement placement; /* where the journal is */
	char url[512]; /* the log's store, or its device; "" if never opened */
	struct rj_log_summary log; /* as far as reading got */
	bool have_plan;
	struct rj_jbd2_info plan; /* valid if have_plan */
	uint32_t block_size;	  /* of the volume, bytes */
	uint64_t epoch;		  /* claimed by this run; 0: none */
	/* Orphan inodes that e2fsck would damage are left to the kernel's next mount,
	 * and so a full check is. */
	bool orphans_left;
	/* The floor store that rj.conf names: its URL ("": none), what it saw
	 * acknowledged last (0: nothing that counts), and why it could not be
	 * asked ("": it was). */
	char floor_url[512];
	uint64_t floor_epoch, floor_sequence;
	char floor_why[RJ_ERROR_BYTES];
};

/*
 * Recover the volume at DEVICE (block device or image file, not mounted).
 * Returns 0 or a negated rj_code with ERR filled; REPORT is filled in both
 * cases, and its fsck_status is the exit status for a tool.
 *
 * Order of the durable steps, so that a cut at any moment can be run again:
 * the epoch is claimed and the old writer fenced; the plan's blocks are
 * written and flushed; the log gets a base segment with an empty journal, the
 * sequence moved on; the superblock's needs_recovery flag is cleared last.
 */
int rj_recover(const char *device, const struct rj_recover_opts *opts,
	struct rj_recover_report *report, struct rj_error *err);

/*
 * Detach the lost external or remote journal from the volume at DEVICE, and
 * repair the volume by e2fsck, verified by a second run. The old contents of all
 * that is written go to opts->undo_file, which must not exist yet; if the volume is
 * not clean at the end, it is restored from there. Only undo_file, quiet, say,
 * dropped and arg of OPTS count. RJ_E_INVAL: no such journal, or no undo file.
 */
int rj_recover_drop_journal(const char *device,
	const struct rj_recover_opts *opts, struct rj_recover_report *report,
	struct rj_error *err);

/* A short word for an outcome ("replayed"), for messages and JSON. */
const char *rj_outcome_name(enum rj_outcome outcome);

#endif
