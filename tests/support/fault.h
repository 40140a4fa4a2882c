/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A layer for tests: pass calls to the store below, and fail or delay those that
 * faults were added for. A handle serves one thread at a time, as of every store;
 * handles that rj_store_dup() makes share their faults and counts.
 */
#ifndef RJTEST_FAULT_H
#define RJTEST_FAULT_H

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
	/* The store below gets the call; the caller gets CODE, whatever it returned. */
	RJ_FAULT_LOST,
	/* The delay passes (rj_sleep_ns) before the call, which then goes on.
	 */
	RJ_FAULT_DELAY,
	/* The connection breaks half-way: a put is not stored, a get returns no
	 * bytes, a list shows the first half. The caller gets CODE. */
	RJ_FAULT_PARTIAL,
};

struct rj_fault {
	enum rj_fault_op op;
	enum rj_fault_kind kind;
	unsigned long nth;   /* the first call that fails, counted from the time
			      * the fault is added; 0 and 1: the next */
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
/* Add a fault to S, of rj_fault_open(). Of several faults for one call, each delay
 * counts, and of the others the one added first. At most 16: RJ_E_NOSPACE. */
int rj_fault_add(struct rj_store *s, const struct rj_fault *fault);
void rj_fault_clear(struct rj_store *s);
/* Get the number of calls of OP since the store was opened. */
unsigned long rj_fault_calls(const struct rj_store *s, enum rj_fault_op op);

#endif
