/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the puts of segments can be held up for a while: those of all handles
 * that have the gate (struct rj_store), by whoever has it, from any thread.
 */
#ifndef RJ_STORE_GATE_H
#define RJ_STORE_GATE_H

#include <stdatomic.h>
#include <stdint.h>

/* Zero is open. */
struct rj_gate {
	_Atomic int64_t until_ns; /* monotonic: no put begins before it */
	_Atomic uint64_t passed;  /* puts so far */
};

/* A put comes by: count it, and wait until the gate is open. */
void rj_gate_pass(struct rj_gate *g);

#endif
