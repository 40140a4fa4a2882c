/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Two moments of a history side by side, without a copy of the volume. */
#ifndef RJ_HISTORY_COMPARE_COMPARE_H
#define RJ_HISTORY_COMPARE_COMPARE_H

#include "history/base.h"

/* A moment as it can be read. */
struct rj_compare_side {
	struct rj_bio *fs;
	uint8_t super[1024]; /* its primary superblock: not what FS has there */
	struct rj_history_place place;
	uint64_t blocks; /* the volume's size; FS may be longer */
};

struct rj_compare_opts {
	const char *base;    /* a file, or the URL of a store */
	const char *url;     /* of the log's store; NULL: as the base says */
	const char *keyfile; /* NULL: rj.conf's */
	int scratch[2];	     /* two empty files: blocks of FROM, and of what came after it */
	struct rj_moment from, to;
	bool from_base;	  /* FROM is the first moment of the base */
	bool until_break; /* as in rj_history_opts */
	/*
	 * Called with FROM and TO; with EACH_COMMIT first with FROM twice and no block, then with
	 * each two commits that follow each other up to TO. BLOCKS, ascending, are the COUNT blocks
	 * whose content differs.
	 */
	bool each_commit;
	int (*step)(void *arg, const struct rj_compare_side *before,
		const struct rj_compare_side *after, const uint64_t *blocks, size_t count,
		struct rj_error *err);
	/* As in rj_restore_opts, without the pass: a non-zero return cancels. May be NULL. */
	int (*progress)(void *arg, uint64_t done, uint64_t total);
	void *arg;
};

/*
 * Read the log once, from the base to opts->to, and show opts->step what differs. The base is
 * locked, shared, until the end, and it and the log are only read. REPORT is that of opts->to.
 * Errors as of rj_base_open(), rj_base_look(), rj_base_log_open() and rj_history_walk(), and what
 * step() returns. RJ_E_INVAL: TO is before FROM.
 */
int rj_history_compare(const struct rj_compare_opts *opts, struct rj_base_facts *facts,
	struct rj_history_report *report, struct rj_error *err);

#endif
