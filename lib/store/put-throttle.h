/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Delay the puts of segments for a while: those of all handles that have the
 * throttle (struct rj_store), from any thread.
 */
#ifndef RJ_STORE_PUT_THROTTLE_H
#define RJ_STORE_PUT_THROTTLE_H

#include <stdatomic.h>
#include <stdint.h>

/* Zero is open. */
struct rj_put_throttle {
	_Atomic int64_t until_ns; /* monotonic: no put begins before it */
	_Atomic uint64_t passed;  /* puts so far */
};

/* Count a put, and delay it if puts are to be delayed now. */
void rj_put_throttle_pass(struct rj_put_throttle *g);

#endif
