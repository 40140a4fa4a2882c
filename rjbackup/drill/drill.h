/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prove that a moment can be restored. */
#ifndef RJBACKUP_DRILL_H
#define RJBACKUP_DRILL_H

#include "rjbackup/drill/compare.h"
#include "history/base.h"
#include "rjbackup/options.h"
#include "tools/drill-note.h"

struct drill {
	const struct options *o;
	struct rj_base_facts facts;
	struct rj_history_report report;
	struct rj_error err;
	int rc;		   /* with its error */
	int64_t latest_ns; /* of the last commit that was seen in the log; 0: not known */
	int64_t rpo_ns;	   /* age of the restored commit at the beginning, if the log has a later
			    * one; else 0; < 0: not known */
	int64_t rto_ns;	   /* until the volume was restored and mounted */
	uint64_t bytes;	   /* that the restored volume uses in the scratch file */
	const char *volume, *dir; /* the scratch file, and where it is mounted */
	/* by the child that mounts: */
	struct looked {
		int64_t mounted_ns; /* rj_monotonic_ns(); 0: it was not mounted */
		struct comparison files;
		bool unread;	 /* --compare=DIR could not be read */
		int exec_status; /* as in a shell; -1: not run */
	} *looked;
};

/*
 * Restore, check, mount, compare, run, remove; note what came of it, and print it. Nothing
 * else is left, also after SIGINT, SIGTERM and SIGHUP. Returns 0 or a negative rj_code;
 * RJ_E_CORRUPT: files differ, or --exec failed; RJ_E_REFUSED: --compare had nothing to compare,
 * or as of rj_history_walk().
 */
int drill(const struct options *o);
void drill_print(const struct drill *d);
/*
 * Note durably what came of D, for rjctl, and write --metrics. What fails is said, and is
 * D's error if it had none.
 */
void note_drill(struct drill *d);
/* Write the metrics of N into PATH, by a rename. UUID: of the volume; "": not known. RJ_E_IO. */
int drill_metrics(const char *path, const struct drill_note *n, const char *uuid,
	struct rj_error *err);

/* Note that BASE, a file or the URL of a store, was made, with FACTS. What fails is said, and is no
 * failure of the base. */
void note_base(const char *base, const struct rj_base_facts *facts);
/* If BASE, with FACTS, is the one that was made here last, note what is known of its history: ENDED
 * says why it has ended; NULL, and TO_END: it was read to the log's end, and goes on. */
void note_end(const char *base, const struct rj_base_facts *facts, bool to_end, const char *ended);
/* If it is, note that it is whole at AT now, and has that HOLD (number 0: no other one). */
void note_place(const char *base, const struct rj_base_facts *facts,
	const struct rj_history_place *at, const struct rj_hold *hold);

#endif
