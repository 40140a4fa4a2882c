/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which logs of other volumes are at a store, and the host that wrote one last. */
#ifndef RJ_JOURNAL_OTHERS_H
#define RJ_JOURNAL_OTHERS_H

#include "format/claim-text.h"
#include "log/log.h"

/* Logs that are looked at; further ones are only counted. */
#define RJ_OTHERS_LOOKED 64

struct rj_log_others {
	unsigned count;	 /* logs in use of other volumes */
	unsigned beyond; /* logs that were not looked at */
	/* Of the one that was written last: */
	uint8_t journal_uuid[RJ_UUID_BYTES], volume_uuid[RJ_UUID_BYTES];
	char host[RJ_CLAIM_HOST]; /* "": not known */
	uint64_t last;		  /* segment */
	int64_t written_ns;	  /* since 1970, by the clock of that host */
};

/*
 * Look at the logs at STORE but those of OWN's volume and OWN's journal (NULL: at all). A log that
 * was removed, that nothing was ever written to, or from which the journal was moved is not in
 * use. A store that cannot list its journals has none. RETRY_MS as in rj_log_read_opts.
 * RJ_E_NOMEM; errors of the store.
 */
int rj_log_others(struct rj_store *store, const struct rj_log_id *own, int retry_ms,
	struct rj_log_others *out, struct rj_error *err);
/* The host that claimed EPOCH of ID's log, by the text of its claim, into HOST; "": not known. */
void rj_log_claimed_by(struct rj_store *store, const struct rj_log_id *id, uint64_t epoch,
	char host[RJ_CLAIM_HOST]);

/*
 * The same before a new log is begun at STORE: the log that was written last is told through
 * rj_log(). RJ_E_EXISTS without FORCE: that was within the last ten minutes. WAY says how to force
 * that; NULL: it cannot be forced. A store that denies the list has no logs here.
 */
int rj_log_others_check(struct rj_store *store, const struct rj_log_id *own, bool force,
	const char *way, struct rj_error *err);

#endif
