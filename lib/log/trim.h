/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Delete segments that no replay will need again. Fences and epoch claims stay for
 * ever: otherwise a writer that slept could put its segments under their numbers.
 * A time deletes nothing that the store's clock (rj_store_now()) or the log does not confirm: the
 * log confirms the time of a segment that another mount sealed, the time that passed since this
 * mount began, and RJ_CLOCK_AHEAD_NS more.
 */
#ifndef RJ_LOG_TRIM_H
#define RJ_LOG_TRIM_H

#include <stdbool.h>
#include <stdint.h>

#include "format/hold.h"
#include "log/listing.h"
#include "util/error.h"

/* Trimming keeps objects of at most this size. A fence has a header and an empty
 * body, encrypted or not. A data segment that zstd shrank to this size stays too,
 * which costs its few bytes. */
#define RJ_LOG_FENCE_BYTES (RJ_SEG_HEADER_BYTES + RJ_SEG_BODY_HEAD)

struct rj_log_trim_opts {
	/* Delete below this segment: an "oldest" that the store has
	 * acknowledged, see rj_log_trim_limit(). */
	uint64_t below;
	/* The epoch of the writer that asks; 0: BELOW is the store's own number.
	 * A writer's BELOW may come from a segment that the store does not have
	 * yet: nothing at or above the "oldest" of the last segment at the store
	 * is deleted either. If that segment is of a later epoch, nothing is
	 * deleted, since an interrupted recovery may need it. */
	uint64_t epoch;
	/* Keep segments sealed in the last RETAIN_S seconds, whatever BELOW is,
	 * by the segments' own times. 0: no such limit. */
	uint64_t retain_s;
	/* No time after this one counts as now, for RETAIN_S and for holds (nanoseconds since
	 * 1970): what the log confirms of this host's clock. 0: no such limit. */
	int64_t until_ns;
	/* An earlier call's report said that a hold kept all from this limit on:
	 * while one still does, the log itself is not listed. 0: not known. */
	uint64_t held_from;
	bool dry_run; /* only count */
	int retry_ms; /* as in rj_log_read_opts */
};

struct rj_log_trim_report {
	uint64_t limit; /* deleted was below this; 0: nothing could be */
	int64_t next_ns; /* realtime: before then RETAIN_S keeps all that is left
			  * below BELOW; 0: it keeps nothing there */
	struct rj_hold hold; /* which keeps most of what else could go; number 0:
			      * none does */
	uint64_t segments; /* deleted, or with dry_run that would be */
};

/*
 * Delete the data segments that OPTS allows and no hold keeps. May be interrupted at any point and
 * run again; also while a writer appends, on another handle. RJ_E_UNREACHABLE and
 * the store's other errors; RJ_E_CORRUPT: a hold that cannot be read, and nothing is
 * deleted. REPORT is filled as far as it got.
 */
int rj_log_trim(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_log_trim_opts *opts, struct rj_log_trim_report *report,
	struct rj_error *err);

/*
 * Find the first segment that L lists below LIMIT and that was sealed at CUT_NS (since 1970) or
 * later, and its time; LIMIT and time 0: there is none. From the lowest on in growing steps,
 * and then by halving, so that segments that a wrong clock sealed do not make the many below
 * them look old. By the headers alone, whose seals are not checked. Errors as of
 * rj_log_fetch_header().
 */
int rj_log_since(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_listing *l, uint64_t limit, int64_t cut_ns,
	uint64_t *out, int64_t *time_ns, struct rj_error *err);

/*
 * Find the segment below which a process other than the writer may trim the log.
 * The log is read and verified from the last segment's "oldest" on; that is the
 * limit, unless only a recovery's segments follow it: a volume that did not see
 * that recovery's end still needs the earlier ones. LIMIT 0: none. UNTIL_NS gets what the last
 * segment confirms of the clock (struct rj_log_trim_opts). Errors as of rj_log_read().
 */
int rj_log_trim_limit(struct rj_store *store, const struct rj_log_id *id,
	uint64_t *limit, int64_t *until_ns, struct rj_error *err);

#endif
