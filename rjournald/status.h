/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Collect the state of the daemon in numbers, and print it as JSON (rjctl status) or as
 * the text that Prometheus reads (rjctl metrics, metrics.h). One table in status.c names
 * each number in both.
 */
#ifndef RJ_JOURNALD_STATUS_H
#define RJ_JOURNALD_STATUS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "rjournald/fallback/state.h"
#include "rjournald/upkeep/floor.h"
#include "rjournald/upkeep/trim.h"
#include "store/store.h"
#include "util/buf.h"
#include "util/uuid.h"

struct rj_daemon;
struct rj_loaded;

/* Strings are the daemon's, and valid as long as it is. */
struct rj_status {
	const char *phase; /* ready, mounted, stopping */
	enum rj_state mode;
	const char *error; /* why it has failed; NULL: it has not */
	char why[RJ_ERROR_BYTES]; /* the store's last answer, while requests
				   * wait for it; "": they do not */
	const char *metrics; /* where there is a page of them; NULL: nowhere */
	const char *cause; /* of that, in a few stable words; "" */
	const char *on_loss, *store, *device, *journal_device;
	char volume_uuid[RJ_UUID_TEXT], journal_uuid[RJ_UUID_TEXT];
	uint64_t mode_since; /* seconds since 1970 */
	uint64_t started;    /* seconds since 1970 */
	uint64_t acknowledged, oldest; /* segments */
	/* The last transaction of which the store has acknowledged something,
	 * and when; 0: none since the start. */
	uint64_t remote_tid, remote_time;
	uint64_t epoch;
	uint64_t block_size, journal_blocks, pending_blocks;
	/* What was written, and the store has not acknowledged; since when. */
	uint64_t lag_bytes, lag_seconds;
	uint64_t segments, bytes, flushes, flushes_ordered, ship_ns;
	/* What the store took for a put of a segment. */
	uint64_t puts, put_failures, put_bytes, put_ns, put_p50_us, put_p99_us;
	/* The fallback file; all 0: there is none. In bytes; the last are how
	 * often the store was lost. */
	uint64_t fallback_capacity, fallback_used, fallback_backlog, losses;
	uint64_t pid, worker_pid, restarts;
	uint64_t nearly_full; /* of enum rj_nearly_full */
	bool zeroout_off; /* see zeroout.h */
	const char *no_mark; /* rj_volume_no_mark() */
	struct rj_floor_stat floor;
	struct rj_trimmer_stat upkeep;
	uint64_t upkeep_failing_s;
	/* When the store took a segment, or was asked and had them all; seconds since 1970. And
	 * whether the last question found that a write would not be acknowledged. */
	uint64_t store_seen, store_lost;
	uint64_t cert_until; /* seconds since 1970; 0: not known */
};

void rj_status_collect(const struct rj_daemon *d, struct rj_status *out);
/* Make a JSON object, which the caller puts. NULL: out of memory. */
struct json_object *rj_status_json(const struct rj_status *s);
/* Add what the fallback file of L, which has one, holds. */
void rj_status_add_fallback(const struct rj_loaded *l, struct json_object *o);
/* Append the metrics to OUT; rjournald(8) lists them. RJ_E_NOMEM. */
int rj_status_metrics(const struct rj_status *s, struct rj_buf *out);

#endif
