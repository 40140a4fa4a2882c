/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Delay the puts of segments for a while, or refuse them: those of all handles that have
 * the throttle (struct rj_store), from any thread.
 */
#ifndef RJ_STORE_PUT_THROTTLE_H
#define RJ_STORE_PUT_THROTTLE_H

#include <stdatomic.h>
#include <stdint.h>

#include "util/error.h"

/* Zero is open. */
struct rj_put_throttle {
	_Atomic int64_t until_ns; /* monotonic: no put begins before it */
	_Atomic uint64_t passed;  /* puts so far */
	_Atomic uint64_t acked;   /* the last segment that the store took; 0: none */
	_Atomic uint64_t missing; /* one that it took, and lacks: puts fail; 0: none */
};

/* Fill ERR: RJ_E_UNREACHABLE, RJ_CAUSE_MISSING. Segment NUMBER, which the store of URL
 * acknowledged, is not there; WHAT is what may be the wrong one: "server". */
int rj_fail_missing(
	const char *url, const char *what, uint64_t number, struct rj_error *err);
/*
 * Count a put at the store of URL, and delay it if puts are to be delayed now.
 * RJ_E_UNREACHABLE (RJ_CAUSE_MISSING): it may not begin, since a segment is missing.
 */
int rj_put_throttle_pass(
	struct rj_put_throttle *g, const char *url, struct rj_error *err);

#endif
