/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The floor at a second store: what log/floor/floor.h keeps on the host, kept where it
 * outlives the host. rj.conf names the store (floor=URL), never a volume.
 * doc/floor.md
 *
 * It is a log of its own there, under a UUID that is a hash of the journal's.
 * Each of its segments is a base of one block, which holds the record; so all
 * kinds of stores take it, and it is sealed with the volume's key if there is
 * one.
 */
#ifndef RJ_LOG_FLOOR_FLOOR_URL_H
#define RJ_LOG_FLOOR_FLOOR_URL_H

#include "log/log.h"
#include "util/error.h"

struct rj_floor_url;

/* What a floor store said. */
struct rj_floor_answer {
	char url[512]; /* of the floor store; "": rj.conf names none */
	/* All zero: it knows nothing of the journal, or nothing that counts. */
	struct rj_log_tail saw;
	char why[RJ_ERROR_BYTES]; /* why it could not be asked; "": it was */
};

/*
 * The URL where rj.conf wants the floor of the log at LOG_URL, into OUT (to be
 * freed, also after a failure; NULL: nowhere). RJ_E_INVAL: it is the log's own store.
 */
int rj_floor_url_find(const char *log_url, char **out, struct rj_error *err);
/*
 * Ask the floor store of the log at LOG_URL for ID's journal. A record older
 * than EPOCH, which the volume was marked with, does not count. A store that is
 * away is tried for RETRY_MS, as in rj_log_read_opts.
 */
void rj_floor_url_load(const char *log_url, const struct rj_log_id *id,
	uint64_t epoch, int retry_ms, struct rj_floor_answer *out);

/* Make a writer of ID's floor at the store at URL, for one thread at a time. Sends
 * no request. RJ_E_NOMEM. */
int rj_floor_url_new(const char *url, const struct rj_log_id *id,
	struct rj_floor_url **out, struct rj_error *err);
/*
 * Write TAIL, as durably as that store can; does nothing if it has TAIL already.
 * One attempt, which begins a new epoch there if there is none yet,
 * another writer has taken over, or the store lost what it had. RJ_E_FENCED: a
 * writer of a later epoch than TAIL's has noted something; then nothing is written
 * there ever again. RJ_E_FOREIGN: what is there is no floor of this journal.
 */
int rj_floor_url_write(struct rj_floor_url *f, const struct rj_log_tail *tail,
	struct rj_error *err);
/* Why the older notes could not be deleted; "": they could. Beside no write. */
const char *rj_floor_url_untrimmed(const struct rj_floor_url *f);
/* From any thread: end the write that is under way, within a second. */
void rj_floor_url_stop(struct rj_floor_url *f);
/* NULL-safe. */
void rj_floor_url_free(struct rj_floor_url *f);

#endif
