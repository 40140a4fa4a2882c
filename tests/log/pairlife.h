/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two stores and the hosts that use them, for test-pair: what a host's kernel
 * and its worker know, what was acknowledged to anybody, and whether a log that
 * was read has all of it.
 */
#ifndef RJ_TEST_LOG_PAIRLIFE_H
#define RJ_TEST_LOG_PAIRLIFE_H

#include "log/common.h"
#include "log/weather.h"

#define HOSTS  3
#define MAX_ID 512 /* of what is appended in one life */

/* What is appended, by number. */
struct ids {
	uint64_t bits[MAX_ID / 64];
};

static inline bool ids_has(const struct ids *s, uint64_t id)
{
	return s->bits[id / 64] >> id % 64 & 1;
}

static inline void ids_add(struct ids *s, uint64_t id)
{
	s->bits[id / 64] |= (uint64_t)1 << id % 64;
}

struct life;

/* The way from a host to a store in a tree: one for each of both. */
struct path {
	struct weather *net;
	const bool *cut;
};

struct host {
	struct life *life;
	bool cut[2]; /* from which store it is cut off */
	struct path path[2];
	/* its worker; W only once it has become the writer */
	struct rj_store *store;
	struct rj_log_writer *w;
	uint64_t id, sequence; /* of the pending segment */
	/* what outlives the worker, as in rjournald: it is mounted */
	bool mounted;
	uint64_t epoch, since, acked;
	uint8_t nonce[RJ_SEG_NONCE_BYTES];
	struct ids has; /* what its journal holds */
	struct ids seen; /* what it read last */
};

struct life {
	struct memshelf *shelf[2];
	struct memgrove *grove[2];
	struct weather net[2], calm;
	struct rj_log_id id;
	struct host host[HOSTS];
	/* the volume's superblock */
	uint64_t mark_epoch, mark_floor;
	uint64_t next_id;
	struct {
		uint64_t at, epoch, since; /* of the segment that holds it */
		uint64_t when;		   /* the ack's number; 0: none */
		bool given_up;
		struct ids base; /* if it was a base: what that contains */
	} what[MAX_ID];
	/* the administrator gave up what is older: --accept-loss */
	uint64_t loss_since;
	unsigned recoveries, refusals, alone, rejoined, acks, takeovers, looks,
		given_up;
	unsigned long long trimmed;
	bool gives_up; /* --accept-loss is used now and then */
	bool quiet; /* nobody does anything while another acts */
	bool lost;
	char why[300];
};

void life_begin(struct life *l, uint64_t seed);
/* All is there again: no store is away, no host is cut off, nothing is late. */
void life_calm(struct life *l);
void life_free(struct life *l);
/* For whoever has to find out: what the two hold. */
void life_show(struct life *l);
void life_fail(struct life *l, const char *who, const char *why);
/* What somebody who has to find out is told, with $RJ_VERBOSE: H did WHAT. */
void life_tell(const struct host *h, const char *what, int rc,
	const struct rj_error *err);
/* One put that was late arrives at store SIDE. */
void life_deliver(struct life *l, int side);

/* A pair for H, by its ways. */
struct rj_store *life_open(struct host *h, bool accept_loss);
/* Sinks of rj_log_read(): what is in it, into h->seen. ARG is the host. */
int life_take(void *arg, const struct rj_segment *seg, struct rj_error *err);
/* H's W was acknowledged what it appended last. */
void life_acked(struct host *h);
/*
 * Has what H read all that was acknowledged when there were BEFORE
 * acknowledgements, and later by writers of epochs below BELOW?
 */
void life_judge(struct host *h, unsigned before, uint64_t below,
	const char *who);
/* What H read is what the administrator goes on with; whoever has served since an
 * epoch before SINCE is given up with the rest. */
void life_give_up(struct host *h, uint64_t since);
/* The worker has ended. */
void host_drop(struct host *h);

#endif
