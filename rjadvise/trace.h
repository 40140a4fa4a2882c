/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Count the kernel's tracepoints of one volume, by perf_event_open(2): fsyncs by counters that
 * the kernel keeps, commits by one record each in a ring of memory.
 */
#ifndef RJADVISE_TRACE_H
#define RJADVISE_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Sizes of commits are counted in steps of a quarter: 4 buckets from one power of two to
 * the next. */
#define TRACE_BUCKETS 128

#define TRACE_WRITES 3 /* delalloc, nodelalloc, data=journal */

struct trace_counts {
	bool on;	  /* fsyncs are counted */
	uint64_t fsyncs;  /* calls of fsync(2) and fdatasync(2), and O_SYNC writes */
	double sync_threads; /* that call these; NAN */
	/* Writes to the page cache, by tracepoint; of a part of them the bytes are known. */
	uint64_t writes[TRACE_WRITES], sampled[TRACE_WRITES], sampled_bytes[TRACE_WRITES];
	bool commits_on;  /* so are the sizes of commits */
	uint64_t commits; /* whose record was read */
	uint64_t lost;	  /* whose record found no space in the ring */
	uint64_t logged;  /* blocks to the log, of those that were read */
	uint32_t sizes[TRACE_BUCKETS];
};

struct trace;

/*
 * Begin to count for the volume on DEV, which the kernel calls NAME. NULL: the kernel has no
 * tracepoints for us, WHY says why, SIZE bytes with the NUL. For trace_stop().
 */
struct trace *trace_start(dev_t dev, const char *name, char *why, unsigned size);
/* Read what is new, and copy all counts so far. NULL-safe: then OUT is not on. */
void trace_read(struct trace *t, struct trace_counts *out);
/* Count writes to the page cache, or do not. NULL-safe. */
void trace_writes(struct trace *t, bool on);
/* NULL-safe. */
void trace_stop(struct trace *t);

/* The writes from A to B that were counted. */
uint64_t trace_writes_between(const struct trace_counts *a, const struct trace_counts *b);
/* The bytes of those: for each tracepoint their number by the mean of the sample. NAN: no
 * sample. */
double trace_written(const struct trace_counts *a, const struct trace_counts *b);

/* The most blocks that a commit of BUCKET has. */
double trace_bucket_most(unsigned bucket);

#endif
