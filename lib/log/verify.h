/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Check that each segment follows the one before: number, chain, epoch, identity. (Its
 * checksum or tag is checked by segment/open.c, which this calls.) Free of I/O: bytes go in, in
 * order, and each segment comes out opened or refused. The rules, and why each is there,
 * are in doc/log-format.md.
 */
#ifndef RJ_LOG_VERIFY_H
#define RJ_LOG_VERIFY_H

#include <stdbool.h>

#include "log/log.h"

struct rj_verify {
	const char *url;            /* for messages; the caller's */
	const struct rj_log_id *id; /* the caller's */
	struct rj_log_tail tail;    /* the last one verified */
	uint64_t next;              /* the number that must come next */
	bool chained;   /* tail is known: the next one must follow from it */
	bool need_base; /* a break was seen, and no base since */
	bool know_nonce;
	uint8_t nonce[RJ_SEG_NONCE_BYTES]; /* of tail.epoch's writer */
};

/* Begin at segment FIRST, knowing nothing before it. */
void rj_verify_start(struct rj_verify *v, const char *url,
	const struct rj_log_id *id, uint64_t first);
/* Begin after TAIL. */
void rj_verify_resume(struct rj_verify *v, const char *url,
	const struct rj_log_id *id, const struct rj_log_tail *tail);
/*
 * Check LEN bytes DATA as the next segment. On success SEG is open (release
 * it) and V has moved on; on failure V is as it was. RJ_E_CORRUPT,
 * RJ_E_FOREIGN, RJ_E_UNSUPPORTED; messages name url and number.
 */
int rj_verify_next(struct rj_verify *v, const uint8_t *data, size_t len,
	struct rj_segment *seg, struct rj_error *err);
/* The same for bytes that rj_segment_open() has already opened into SEG, which
 * returned OPENED, with its error WHY. */
int rj_verify_opened(struct rj_verify *v, int opened,
	const struct rj_error *why, struct rj_segment *seg,
	struct rj_error *err);
/*
 * Check LEN bytes DATA that are encrypted with a key that is not available
 * (rj_segment_open() returned RJ_E_KEY): number, owner, chain and epochs, by the
 * header. Of the body only the length is checked; SEG has a header and a chain,
 * and nothing to release.
 */
int rj_verify_header(struct rj_verify *v, const uint8_t *data, size_t len,
	struct rj_segment *seg, struct rj_error *err);
/* Check the end of the log: RJ_E_CORRUPT if no base follows a break. */
int rj_verify_end(const struct rj_verify *v, struct rj_error *err);

#endif
