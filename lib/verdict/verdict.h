/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The judge: what is this volume, what is that log, and may a command go on? Every command
 * that recovers, serves, mounts, moves or checks a volume gathers the facts, asks
 * rj_verdict_judge(), and acts on the answer. Pure: no I/O, no allocation. The table is
 * table.c; doc/verdict.md shows it, and tests/verdict holds that page against it.
 */
#ifndef RJ_VERDICT_VERDICT_H
#define RJ_VERDICT_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

/* What was found, one bit each. The function that reads a source sets its bits. */
enum rj_found {
	/* the volume: rj_volume_judged() */
	RJ_IS_MOVE_CUT = 0, /* the extension has the intent of a move */
	RJ_IS_MISMATCH,	    /* superblock and extension name different journals */
	RJ_IS_NEEDS,	    /* needs_recovery */
	RJ_IS_UNCLEAN,	    /* s_state: not cleanly unmounted, or the error flag */
	RJ_IS_UNMOUNT_FAILED, /* facts.broken_unmount */
	RJ_IS_VOID,	    /* the log was given up */
	RJ_IS_PENDING,	    /* and the check that replaces it is not over */
	RJ_IS_TORN,	    /* enum rj_super_state */
	RJ_IS_LOST,
	RJ_IS_GONE,
	RJ_IS_STALE,
	RJ_IS_SUMS_OF_UUID, /* its metadata has checksums whose seed is its UUID */
	RJ_IS_MARKABLE,	    /* the volume can have a mark (format/mark.h) */
	RJ_IS_BACKUP,	    /* a backup superblock can be used */
	/* the log */
	RJ_IS_UNREADABLE,   /* it is lost, damaged, foreign, or out of reach, as .why says; not
			     * READ then */
	RJ_IS_AWAY,	    /* with UNREADABLE: of the log itself nothing is known */
	RJ_IS_UNKNOWN,	    /* with UNREADABLE: the journal has a feature that we do not know */
	RJ_IS_READ,	    /* it was read, verified and scanned */
	RJ_IS_EMPTY,	    /* with READ: it has no transactions */
	RJ_IS_RENAMED,	    /* with READ: it has another UUID of the volume, .was */
	RJ_IS_DAMAGED,	    /* with READ: transactions are damaged, and a commit may follow */
	RJ_IS_DAMAGED_END,  /* the same, and there is no commit in the damage or after it */
	RJ_IS_ERRNO,	    /* the journal's superblock has an error of the kernel's */
	RJ_IS_LOGGED,	    /* the log has a whole copy of the TORN superblock */
	RJ_IS_MATCHED,	    /* an UNMOUNT_FAILED was compared with the log */
	RJ_IS_SAME_UNMOUNT, /* and is that of the mount which wrote the log last */
	RJ_IS_WRITTEN_ON,   /* with VOID: another host served it from the log since */
	RJ_IS_ALONE,	    /* the store is away, and the fallback file alone was read */
	RJ_IS_FALLBACK_LOST, /* what the fallback file had, or the log's end, was given up */
	RJ_IS_WENT_ON,	    /* the log was read from another place than the volume names, and a
			     * writer went on there after it */
	RJ_IS_FORKED,	    /* this command has replayed a log that was LEFT */
	RJ_IS_TAKEN,	    /* this command has claimed the log, or holds the volume */
	/* what the user said */
	RJ_IS_YES,
	RJ_IS_FORCE,
	RJ_IS_ACCEPT_LOSS,
	RJ_IS_UNATTENDED,   /* nothing may be asked or given up: -p, -n */
	/* what follows; rj_verdict_judge() sets these */
	RJ_IS_BAD_SUPER,    /* TORN, LOST, GONE or STALE */
	RJ_IS_OLD_BACKUP,   /* LOST or GONE: the epoch is the last move's or recovery's */
	RJ_IS_LOG_CLOSED,   /* nothing more will be read: READ, VOID, or GIVE_UP of UNREADABLE */
	RJ_IS_WANTS_LOG,    /* what the log has is to be replayed */
	RJ_IS_BEHIND_MARK,  /* the log dropped segments that the volume lacks, by its mark; or
			     * has none, and who emptied the log put one right before */
	RJ_IS_OVERTAKEN,    /* all of the log is of mounts that the volume does not know */
	RJ_IS_AHEAD,	    /* the end of the log is of such a mount */
	RJ_IS_LEFT,	    /* its journal was moved away, clean, after the volume's epoch */
	RJ_IS_BASE_UNSEEN,  /* a recovery emptied the log, and was cut off then */
	RJ_IS_FILE_SHORT,   /* ALONE, and mark or floor know of more than the file has */
	RJ_IS_YES_FORCE,    /* YES and FORCE */
	RJ_IS_FORCE_LOSS,   /* FORCE and ACCEPT_LOSS */
	RJ_IS_GIVE_UP,	    /* YES, and ACCEPT_LOSS or VOID, and not UNATTENDED or TAKEN */
	RJ_FOUND_COUNT
};

#define RJ_FOUND(bit) (UINT64_C(1) << (bit))

struct rj_verdict_facts {
	uint64_t found; /* RJ_FOUND(RJ_IS_...) */
	/* the volume's extension and mark; 0: unknown */
	uint64_t epoch, mark;
	/* The last segment with blocks: its epoch, the epoch in which the mount that wrote it was
	 * marked, its number, the oldest segment that a replay of it needs; MARKED: the writer
	 * kept the mark. All 0 for a journal that is not remote. */
	uint64_t newest_epoch, newest_since, newest, oldest;
	uint64_t marked;
	/* the first segment with blocks, likewise */
	uint64_t first, first_epoch, first_since;
	/* the last fence that found the volume clean: its epoch; and the last base, if a recovery
	 * put it; 0: none */
	uint64_t clean_epoch, recovered_epoch;
	/* the last segment of the fallback file that was read; that a floor saw acknowledged */
	uint64_t file_last, floor_seen;
	uint64_t origin_epoch; /* of WENT_ON */
	/* for messages; NULL: "" */
	const char *device, *log, *file;
	const char *why; /* of UNREADABLE, DAMAGED, STALE */
	const char *who; /* ", last N s ago by HOST" */
	const char *was; /* of RENAMED */
	const char *origin; /* where the volume says that the log is */
	const char *known_end; /* " (it reached segment ...)" */
	uint64_t group;	 /* of the backup superblock */
	uint64_t first_tid, last_tid;
};

enum rj_verdict_kind {
	RJ_VERDICT_CLEAN,     /* the volume has it all: use the journal, or take it away */
	RJ_VERDICT_REPLAY,    /* the log is this volume's: replay it */
	RJ_VERDICT_CHECK,     /* nothing to replay, but e2fsck is to check the whole volume */
	RJ_VERDICT_RENEW,     /* the volume has all that there is: begin the log again */
	RJ_VERDICT_PART,      /* give the volume a journal and a log of its own */
	RJ_VERDICT_GIVE_UP,   /* leave the log, and check the whole volume */
	/* refusals */
	RJ_VERDICT_UNDER_WAY, /* something was cut off, and is to be finished first */
	RJ_VERDICT_WAIT,      /* the log is out of reach: it may be whole */
	RJ_VERDICT_SUPER,     /* the superblock is not to be trusted */
	RJ_VERDICT_STALE,     /* an older copy of the volume */
	RJ_VERDICT_UNSURE,    /* clean, and a log with transactions */
	RJ_VERDICT_DAMAGED,   /* the log is damaged */
	RJ_VERDICT_FOREIGN,   /* volume and journal do not belong together */
	RJ_VERDICT_LOST,      /* the log is lost, or cannot be used */
	RJ_VERDICT_NOTE,      /* no verdict: a line for the user, and the judge goes on */
};

/* The ways on, ordered by harm, the least first. */
enum rj_way {
	RJ_WAY_NONE = 0,
	RJ_WAY_AGAIN,
	RJ_WAY_WAIT,
	RJ_WAY_RESUME,
	RJ_WAY_RECOVER,
	RJ_WAY_KERNEL,
	RJ_WAY_PREEN,
	RJ_WAY_ORIGIN,
	RJ_WAY_OTHER_COPY,
	RJ_WAY_COPY_AGAIN,
	RJ_WAY_PUT_UUID,
	RJ_WAY_PUT_BACK,
	RJ_WAY_PUT_SUPER,
	RJ_WAY_SEE,
	RJ_WAY_YES_END,
	RJ_WAY_YES_CHECK,
	RJ_WAY_YES_BACKUP,
	RJ_WAY_YES_FORCE_BACKUP,
	RJ_WAY_YES_FORCE_COPY,
	RJ_WAY_FORCE_SERVED,
	RJ_WAY_FORCE_COPY,
	RJ_WAY_FORCE_UNMOUNT,
	RJ_WAY_LOSS_REPLAY,
	RJ_WAY_LOSS_PART,
	RJ_WAY_LOSS_VOID,
	RJ_WAY_LOSS_KEEP,
	RJ_WAY_LOSS_LOG,
	RJ_WAY_COUNT
};

#define RJ_ROW_WAYS 4

struct rj_verdict_row {
	const char *name;
	uint64_t must;	/* all of these were found, */
	uint64_t without; /* and none of these */
	enum rj_verdict_kind kind;
	enum rj_code code; /* of a refusal */
	const char *words; /* for the user, with {names} of facts; NULL: none */
	enum rj_way ways[RJ_ROW_WAYS];
};

struct rj_verdict {
	enum rj_verdict_kind kind;
	bool check; /* e2fsck is to check the whole volume afterwards */
	const struct rj_verdict_row *row;
	uint64_t found; /* facts.found, and what follows */
	uint64_t notes; /* 1 << number of the row, for each NOTE that was passed */
};

/* The rows in order: the first one that fits, and is no NOTE, is the verdict. The last row
 * fits always. */
const struct rj_verdict_row *rj_verdict_rows(unsigned *count);

/* Is KIND one of those that no command may go on with? */
bool rj_verdict_refuses(enum rj_verdict_kind kind);
void rj_verdict_judge(const struct rj_verdict_facts *f, struct rj_verdict *out);

#define RJ_VERDICT_BYTES 900
/* Write the words of ROW with the facts F into OUT, without the ways. Returns OUT. */
const char *rj_verdict_words(const struct rj_verdict_row *row, const struct rj_verdict_facts *f,
	char out[RJ_VERDICT_BYTES]);
/* Fill ERR (not NULL) with the words of V's row; return its code, negated. */
int rj_verdict_why(const struct rj_verdict *v, const struct rj_verdict_facts *f,
	struct rj_error *err);
/* Append to ERR that nothing was changed (if the log was not TAKEN), and the ways on; return
 * ERR's code, negated. */
int rj_verdict_ways(const struct rj_verdict *v, const struct rj_verdict_facts *f,
	struct rj_error *err);
/* Do both: for refusals that are not UNREADABLE. */
int rj_verdict_refuse(const struct rj_verdict *v, const struct rj_verdict_facts *f,
	struct rj_error *err);
/* A word for KIND, as in doc/verdict.md and in debug messages. */
const char *rj_verdict_name(enum rj_verdict_kind kind);
const char *rj_found_name(enum rj_found bit);
/* The text of a way, with {names} of facts; a command to type, or what to do. */
const char *rj_way_text(enum rj_way way);

#endif
