/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Count how long a store takes to acknowledge each segment: a handle
 * with a histogram (struct rj_store) adds each put of a segment to it. Several
 * handles and threads may share one. Nothing is allocated, nothing is locked.
 */
#ifndef RJ_STORE_LATENCY_HIST_H
#define RJ_STORE_LATENCY_HIST_H

#include <stdatomic.h>
#include <stdint.h>

/* Eight steps in each power of two of microseconds, up to 2^40: each count is
 * of times that differ by less than an eighth. */
#define RJ_LATENCY_HIST_STEPS	 8
#define RJ_LATENCY_HIST_BUCKETS (40 * RJ_LATENCY_HIST_STEPS)

/* Zero is empty. */
struct rj_latency_hist {
	_Atomic uint64_t puts;	   /* acknowledged */
	_Atomic uint64_t failures; /* no answer came, or one that is a failure;
				    * also "exists" */
	_Atomic uint64_t bytes;	   /* of the acknowledged puts, as stored */
	_Atomic uint64_t ns;	   /* sum of their times */
	_Atomic int64_t acked_ns;  /* realtime of the last one; 0: none */
	_Atomic uint64_t bucket[RJ_LATENCY_HIST_BUCKETS];
};

/* Count a put of BYTES that returned RC after NS nanoseconds. */
void rj_latency_hist_add(
	struct rj_latency_hist *m, int rc, uint64_t bytes, int64_t ns);
/* Get the PER_MILLE quantile of the times of acknowledged puts, in microseconds, to an
 * eighth; 0: there was no put. */
uint64_t rj_latency_hist_quantile_us(
	const struct rj_latency_hist *m, unsigned per_mille);

#endif
