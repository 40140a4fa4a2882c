/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's counters of a volume, read again and again. */
#ifndef RJADVISE_SAMPLE_H
#define RJADVISE_SAMPLE_H

#include "trace.h"
#include "volume.h"

/* One moment. What cannot be read has its has_* false. */
struct sample {
	int64_t ns; /* monotonic */
	bool has_jbd2, has_disk, has_journal;
	struct jbd2_text jbd2;
	struct disk_text disk;	  /* of the volume's device, or the part that it is of it */
	struct disk_text flushes; /* of the whole disk */
	struct disk_text journal; /* of a journal's own device */
	struct trace_counts trace;
};

#define POINTS_MAX 600

/* What a plot shows: a stretch of time, means per second. */
struct point {
	double at_s, syncs_s, commits_s, written_bytes_s, log_bytes_s;
};

/* All of one observation: bounded, whatever its length. */
struct series {
	struct sample first, last;
	double commit_us_sum; /* of the kernel's mean, weighted by commits */
	uint64_t commit_us_weight;
	struct point points[POINTS_MAX];
	int count;
	int stride, in_point; /* samples that a point stands for */
	struct sample point_begin;
};

void sample_take(const struct volume *v, struct trace *t, struct sample *out);
void series_begin(struct series *s, const struct sample *first);
void series_add(struct series *s, const struct sample *next, double block_bytes);

/* Fill the counted figures of OUT (what is not known is NAN); those of files stay. */
void series_load(const struct series *s, const struct volume *v, struct load *out);

#endif
