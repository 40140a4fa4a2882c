/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Apply the log to a base in place, as far as it has come, again and again. Why a cut at any
 * moment does no harm is in doc/standby.md, "Follow".
 */
#ifndef RJ_HISTORY_FOLLOW_H
#define RJ_HISTORY_FOLLOW_H

#include "history/base.h"

struct rj_follow_opts {
	const char *base;
	const char *url;     /* of the log's store; NULL: as the base says */
	const char *keyfile; /* NULL: rj.conf's */
	bool dry_run;	     /* only look: the base is read, and locked as for that */
	/* Put a hold for so long at each new place, and remove the earlier ones of this base; it is
	 * renewed in a long pass, and when a pass is RJ_E_BUSY. 0: none. */
	uint64_t hold_s;
	bool goes_on; /* as in rj_history_opts: a mount that is under way is RJ_E_BUSY */
	/* May be NULL; non-zero ends a pass, which is then RJ_E_CANCELLED. */
	int (*stop)(void *arg);
	void *arg;
};

/* What one pass has done, and how far that is from the end of the log. */
struct rj_follow_state {
	struct rj_history_place at; /* where the base is whole now, */
	/* or, if not set, would be: the pass has not come to there, NOT_AFTER_NS is too early */
	bool whole;
	uint64_t transactions;	    /* applied by this pass */
	uint64_t segments, bytes;   /* read by this pass */
	uint64_t behind_segments, behind_bytes; /* of the log, not read yet */
	int64_t later_ns; /* the commit that NOT_AFTER_NS ended the pass at; 0: none */
	/* Why the history ends at AT, and after which segment; "": it does not */
	uint64_t break_segment;
	char break_why[256];
};

struct rj_follow;

/* Open the base's log. The base is locked during each pass only. Errors as of rj_base_open(),
 * rj_base_look(), rj_base_log_open(). */
int rj_follow_open(const struct rj_follow_opts *opts, struct rj_follow **out,
	struct rj_error *err);
const struct rj_base_facts *rj_follow_facts(const struct rj_follow *f);
/* The hold that was put last; number 0: none. */
const struct rj_hold *rj_follow_hold(const struct rj_follow *f);
/* Does what was read of the log end with an unmount? */
bool rj_follow_unmounted(const struct rj_follow *f);
/* The log of the base: the caller's too, between passes. */
const struct rj_base_log *rj_follow_log(const struct rj_follow *f);

/* The last segment that the last pass has read; it stays until the next one. */
const struct rj_log_tail *rj_follow_tail(const struct rj_follow *f);

/*
 * Apply what is in the log, up to segment UPTO (0: the last one), and nothing that completes a
 * commit later than NOT_AFTER_NS (0: no limit). The base is then whole at OUT->at, durably;
 * during a pass that reads much, now and then. OUT is filled as far as it got, also on failure.
 *
 * RJ_E_UNREACHABLE, RJ_E_CANCELLED, RJ_E_BUSY: another pass can go on. RJ_E_REFUSED with
 * OUT->break_why: the history ends at OUT->at. RJ_E_INVAL: this is no base any more. All other
 * errors as of rj_history_walk(): the base is whole where it was, or, after a failed write,
 * where the next pass that succeeds makes it so.
 */
int rj_follow_pass(struct rj_follow *f, int64_t not_after_ns, uint64_t upto,
	struct rj_follow_state *out, struct rj_error *err);
/* Say that the log ends for good where the next pass does: a resize that is under way there
 * will never go on. */
void rj_follow_is_last(struct rj_follow *f);
/* Is there a segment that the passes up to now have not looked at? One request. */
int rj_follow_news(struct rj_follow *f, bool *news, struct rj_error *err);
/* NULL-safe. */
void rj_follow_close(struct rj_follow *f);

#endif
