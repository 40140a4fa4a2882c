/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Delete what no replay will need again. Fences and epoch claims stay for ever:
 * they hold the numbers that a writer which slept could otherwise be given.
 */
#ifndef RJ_LOG_TRIM_H
#define RJ_LOG_TRIM_H

#include <stdbool.h>
#include <stdint.h>

#include "log/log.h"
#include "util/error.h"

/* Trimming leaves what has no more bytes. A fence: a header and an empty body,
 * encrypted or not. A data segment that zstd shrank so far stays too, which costs
 * its few bytes. */
#define RJ_LOG_FENCE_BYTES (RJ_SEG_HEADER_BYTES + RJ_SEG_BODY_HEAD)

struct rj_log_trim_opts {
	/* Delete below this segment: an "oldest" that the store has
	 * acknowledged, see rj_log_trim_limit(). */
	uint64_t below;
	/* Keep what was sealed in the last so many seconds, whatever BELOW. By
	 * the segments' own times. 0: no such floor. */
	uint64_t retain_s;
	bool dry_run; /* only count */
	int retry_ms; /* as in rj_log_read_opts */
};

struct rj_log_trim_report {
	uint64_t limit; /* deleted was below this; 0: nothing could be */
	int64_t next_ns; /* realtime: before then RETAIN_S keeps all that is left
			  * below BELOW; 0: it keeps nothing there */
	uint64_t segments; /* deleted, or with dry_run that would be */
};

/*
 * Delete the data segments that OPTS allows. Safe to be cut at any point and to
 * be run again; beside a writer too, on a handle of its own. RJ_E_UNREACHABLE
 * and what else the store says; REPORT is filled as far as it got.
 */
int rj_log_trim(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_log_trim_opts *opts, struct rj_log_trim_report *report,
	struct rj_error *err);

/*
 * Below which segment may the log be trimmed by one who is not its writer? The
 * log is read and verified from the last segment's "oldest" on; that is the
 * limit, unless nothing but what a recovery put stands behind it: a volume that
 * did not see that recovery's end still needs what came before. LIMIT 0: none.
 * What rj_log_read() reports.
 */
int rj_log_trim_limit(struct rj_store *store, const struct rj_log_id *id,
	uint64_t *limit, struct rj_error *err);

#endif
