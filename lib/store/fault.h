/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A layer for tests: a store that does what the store below does, except
 * where it was told to fail. A handle serves one thread at a time, as of every
 * store; those that rj_store_dup() makes count and fail together.
 */
#ifndef RJ_STORE_FAULT_H
#define RJ_STORE_FAULT_H

#include "store/store.h"

enum rj_fault_op {
	RJ_FAULT_PUT,
	RJ_FAULT_GET,
	RJ_FAULT_LIST,
	RJ_FAULT_REMOVE,
	RJ_FAULT_ANY, /* counts the calls of all */
};

enum rj_fault_kind {
	/* The call fails with CODE; the store below does not see it. */
	RJ_FAULT_FAIL,
	/* The store below does it, well or badly; the caller hears CODE. */
	RJ_FAULT_LOST,
	/* The delay passes (rj_sleep_ns) before the call, which then goes on.
	 */
	RJ_FAULT_DELAY,
	/* The connection breaks half-way: a put is not stored, a get brings
	 * nothing, a list shows the first half. The caller hears CODE. */
	RJ_FAULT_PARTIAL,
};

struct rj_fault {
	enum rj_fault_op op;
	enum rj_fault_kind kind;
	unsigned long nth;   /* the first call it strikes, counted from the time
			      * it is added; 0 and 1: the next */
	unsigned long times; /* how many calls in a row; 0: all from then on */
	enum rj_code code;   /* 0: RJ_E_UNREACHABLE */
	unsigned delay_ms;   /* of RJ_FAULT_DELAY: both are added */
	unsigned delay_us;
};

/*
 * Wrap INNER, which then belongs to the new store and is closed with it
 * (also on failure: RJ_E_NOMEM). Capabilities and url are INNER's.
 */
int rj_fault_open(
	struct rj_store *inner, struct rj_store **out, struct rj_error *err);
/* S must be of rj_fault_open(). Of several faults that strike one call, each
 * delays, and the first added of the others fails it. At most 16: RJ_E_NOSPACE.
 */
int rj_fault_add(struct rj_store *s, const struct rj_fault *fault);
void rj_fault_clear(struct rj_store *s);
/* How many calls of OP there were since the store was opened. */
unsigned long rj_fault_calls(const struct rj_store *s, enum rj_fault_op op);

#endif
