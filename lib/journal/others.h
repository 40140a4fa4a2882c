/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which logs of other volumes are at a store, and the host that wrote one last. */
#ifndef RJ_JOURNAL_OTHERS_H
#define RJ_JOURNAL_OTHERS_H

#include "format/claim-text.h"
#include "log/log.h"

/* The host that claimed EPOCH of ID's log, by the text of its claim, into HOST; "": not known. */
void rj_log_claimed_by(struct rj_store *store, const struct rj_log_id *id, uint64_t epoch,
	char host[RJ_CLAIM_HOST]);

/*
 * Look, before a new log is begun at STORE, at the logs there but those of OWN's volume and OWN's
 * journal (NULL: at all), and tell the log that was written last through rj_log(). A log that was
 * removed, that nothing was ever written to, or from which the journal was moved is not in use.
 * RJ_E_EXISTS without FORCE: a log was written within the last ten minutes. WAY says how to force
 * the new log; NULL: it cannot be forced. A store that denies the list, or cannot list its
 * journals, has no logs here. RJ_E_NOMEM; errors of the store.
 */
int rj_log_others_check(struct rj_store *store, const struct rj_log_id *own, bool force,
	const char *way, struct rj_error *err);

#endif
