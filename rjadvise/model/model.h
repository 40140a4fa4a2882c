/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each choice of journal and data mode would do to a load that was observed: pure
 * functions, described in doc/advise.md. A figure that is not known is NAN, and whatever
 * needs it is NAN too.
 */
#ifndef RJADVISE_MODEL_H
#define RJADVISE_MODEL_H

#include <stdbool.h>

#include "proc-text.h"

enum place { PLACE_INTERNAL, PLACE_SECOND, PLACE_REMOTE, PLACES };

/* A disk, or a store, as the journal sees it. */
struct device_cost {
	double write_us; /* a write of 4 KiB, not flushed; a put of 4 KiB */
	double flush_us; /* what a flush takes in addition; of a store 0 */
	double byte_us;	 /* each byte of a long write */
	bool fua;	 /* can make one write durable without a flush */
};

/* Of one volume, over the time of the observation. "_s": per second. */
struct load {
	double seconds;
	double block_bytes;
	/* the journal in use */
	enum place place;
	enum data_mode mode;
	bool delalloc;
	double commit_s; /* commit=, seconds */
	double journal_bytes; /* its length */
	/* counted */
	double fsyncs_s;     /* fsync and fdatasync calls */
	double sync_threads; /* that call these; NAN */
	double commits_s, requested_s;
	double flushes_s;    /* of the volume's disk */
	double commit_us;    /* mean time of a commit */
	double put_us;	      /* that a commit waited for a segment, of a remote journal */
	double commit_blocks; /* mean, logged */
	double commit_p99_blocks; /* at most */
	double log_bytes_s;
	double written_bytes_s; /* to the volume's disk, with an internal journal */
	double flush_us;	/* mean time of a flush there */
	double metadata_share;	/* of all that was written, at least: the log's part, if no
				 * file data pass it */
	double data_bytes_s;	/* of that, file data: at most */
	double cached_bytes_s;	/* file data that programs wrote to the page cache */
	double new_bytes_s;	/* by growth of files */
	double overwritten_bytes_s; /* data_bytes_s less that: at most */
	double flagged_share; /* of overwritten_bytes_s that the directories proposed for
			       * +j have, 0 to 1 */
	double flagged_data_share; /* the same, of all data, new and overwritten; NAN */
};

struct machine {
	struct device_cost disk, second, store;
};

struct choice {
	enum place place;
	enum data_mode mode; /* MODE_FLAGGED: nodelalloc, directories with +j */
};

struct prediction {
	struct choice choice;
	bool in_use;
	double wall;	   /* time for the same work, to that now: 1 is as now */
	double syncs_s;	   /* fsyncs a second; or commits, where those are not known */
	double commit_us;
	double log_bytes_day;
	const char *loses; /* what a crash can lose: one sentence */
	const char *lacks; /* the figure that is missing for a prediction; NULL: none */
};

#define CHOICES_MAX 16

/* All choices, in a fixed order; returns how many. */
int model_choices(struct choice out[CHOICES_MAX]);
const char *place_name(enum place p);
const char *mode_name(enum data_mode m);

/* Return what a crash can lose with C: one sentence, without its begin "a crash loses" and
 * without a full stop. With ext4's delayed allocation data that no fsync asked for can wait
 * for longer than one commit. */
const char *model_loses(struct choice c);

/* Time of one commit of BYTES to the log at PLACE, in microseconds, with the volume's disk
 * as M says. */
double model_commit_us(const struct machine *m, enum place place, double bytes);

/* How many syncs a second are known to have taken place: fsyncs_s, else what was requested of
 * the journal and what only flushed the disk. */
double model_syncs_s(const struct load *l, const struct machine *m);

/* Predict CHOICE for a load L that was observed on machine M. */
struct prediction model_predict(const struct load *l, const struct machine *m, struct choice c);

/*
 * Sort P: what is known before what is not; then by syncs_s, where two that are within
 * MODEL_SAME of each other count as equal, and the one with the smaller loss comes first.
 */
#define MODEL_SAME 0.10
void model_rank(struct prediction *p, int count);

#endif
