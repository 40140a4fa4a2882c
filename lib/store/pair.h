/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two stores as one: a layer that keeps the same log in both, byte for byte.
 * What it must guarantee, and why it does: doc/two-stores.md. Private to
 * lib/store, and for tests.
 *
 * pair.c: the store's calls; pairlook.c: what the two hold, and which counts;
 * pairput.c: putting into both; paircopy.c: copying from one into the other;
 * pairhand.c: two hands, threads that put into one store each, so that no
 * caller waits longer than it wants to; pairfollow.c: the hand of the one that
 * was away catches it up.
 */
#ifndef RJ_STORE_PAIR_H
#define RJ_STORE_PAIR_H

#include <pthread.h>
#include <stdatomic.h>

#include "format/seghdr.h"
#include "store/store.h"

#define RJ_PAIR_LOSS_MS  5000 /* so long one is waited for, unless rj.conf says
			       * (loss_timeout) */
#define RJ_PAIR_RETRY_MS 1000 /* between looks at the one that is away */
#define RJ_PAIR_BOTH     (-1)

/* One object of a listing. */
struct pair_object {
	uint64_t number, bytes;
};

/* What one of the two holds. */
struct pair_view {
	bool away; /* WHY: it cannot be used now */
	struct rj_error why;
	struct rj_buf objects; /* of struct pair_object, ascending */
	uint64_t last;         /* 0: none */
	uint32_t flags;        /* of the last one, and its epoch */
	uint64_t epoch;
	bool given_up; /* it lacks what the volume saw in its log */
	bool bridge;   /* the last one is a bridge: what follows it is missing */
};

/* How far a store is filled that is being caught up. */
struct pair_end {
	uint64_t number; /* of its last object; 0: none */
	bool bridge;     /* that is one */
};

/* What a pair and its dups share. */
struct pair_shared {
	atomic_int refs;
	atomic_int need;      /* who must have it: 0, 1, or RJ_PAIR_BOTH */
	atomic_bool diverged; /* the other one is left alone */
	/* How far behind the one that is not needed is, if that is KNOWN. */
	atomic_bool known;
	_Atomic uint64_t behind_segments, behind_bytes;
};

/* Who puts into one side: a job at a time, given by the caller. */
struct pair_hand {
	struct pair *pair;
	int side;
	bool started;
	pthread_t thread;
	pthread_cond_t wake;
	bool given, done; /* the job */
	struct rj_key key;
	struct rj_buf bytes;
	int rc;
	struct rj_error err;
	bool following; /* it catches up at this moment */
};

struct pair {
	struct rj_store base;
	struct pair_shared *shared;
	struct rj_store *side[2]; /* NULL: cannot be opened, OPEN_ERR says why */
	struct rj_error open_err[2];
	char url[2][512];
	struct rj_store_opts opts;
	int loss_ms[2];
	unsigned leave_out;
	bool reader; /* a dup */

	/* what is known of JOURNAL; nothing unless LOOKED */
	uint8_t journal[RJ_UUID_BYTES];
	bool looked;
	struct pair_view view[2];
	int source;  /* whose log is the log */
	bool fenced; /* the rival was fenced by our caller */
	bool answered[2]; /* it was looked at once: accept_loss is not for it */

	/* writing */
	bool settled;    /* a segment of ours is where it must be */
	uint64_t next;   /* the number that comes next, if SETTLED */
	uint64_t end[2]; /* what each holds to its end */
	bool mark_due;
	/* the other is caught up: the next segment is put into the needed one,
	 * then into the other */
	atomic_bool rejoining;
	uint64_t lone_bytes; /* put into one alone, all in all */
	bool conflict;  /* CONFLICT_KEY is another's object in CONFLICT_SIDE */
	struct rj_key conflict_key;
	int conflict_side;

	/* the hands */
	bool threads, stop;
	pthread_mutex_t lock;
	pthread_cond_t done; /* a hand has done something */
	struct pair_hand hand[2];
	struct rj_store *from; /* a dup of the needed side, to copy from */
	int from_side;
};

/* For tests that show what each rule is good for: leave it out. */
enum rj_pair_rule {
	RJ_PAIR_MARK = 1,   /* nothing is acknowledged before the mark is put */
	RJ_PAIR_WHO = 2,    /* a flag counts only in the store that it names */
	RJ_PAIR_ORDER = 4,  /* two again: the one that is needed comes first */
	RJ_PAIR_PROOF = 8,  /* one store is read only if it proves to suffice */
	RJ_PAIR_RIVAL = 16, /* the log that is not taken is fenced as well */
	RJ_PAIR_FRESH = 32, /* a claim stands right behind what it looked at */
	RJ_PAIR_GIVEN_UP = 64, /* a log that lacks what the volume saw is not it */
	RJ_PAIR_BRIDGE = 128, /* nothing is copied over a gap but behind a bridge */
};

struct rj_pair_opts {
	unsigned leave_out; /* of enum rj_pair_rule; 0 but in tests */
	struct rj_store_opts store;
	int loss_ms[2]; /* so long each is waited for; 0: not at all */
	bool threads; /* false: all in turn, and rj_pair_step() catches up */
};

/*
 * Make one of the two handles A and B, which then belong to it (also on
 * failure: RJ_E_NOMEM).
 */
int rj_pair_open(struct rj_store *a, struct rj_store *b,
	const struct rj_pair_opts *opts, struct rj_store **out,
	struct rj_error *err);
/* rj_store_open() of "URL1,URL2", SECOND being the second. */
int rj_pair_open_urls(const char *url, const char *second,
	const struct rj_store_opts *opts, struct rj_store **out,
	struct rj_error *err);
/* One look at the store that is away, and one attempt to catch it up. */
void rj_pair_step(struct rj_store *s);
/* Whose acknowledgement is needed: 0, 1 or RJ_PAIR_BOTH. */
int rj_pair_need(const struct rj_store *s);

/* ---- inside ---- */

struct pair *pair_of(struct rj_store *s);
void pair_turn_to(struct pair *p, const uint8_t journal[RJ_UUID_BYTES]);
uint32_t pair_flag(int side);
/* Which side FLAGS call alone; RJ_PAIR_BOTH: none. */
int pair_alone(uint32_t flags);

/* What S holds of JOURNAL, into V, whose "away" is the answer. */
void pair_look_at(struct rj_store *s, const uint8_t journal[RJ_UUID_BYTES],
	struct pair_view *v);
void pair_view_free(struct pair_view *v);
/* Is SHORTER's log the beginning of LONGER's? 0: *PREFIX says. */
int pair_is_prefix(struct rj_store *shorter, const struct pair_view *sv,
	struct rj_store *longer, const struct pair_view *lv,
	const uint8_t journal[RJ_UUID_BYTES], bool *prefix,
	struct rj_error *err);
/* Look at both and decide. */
int pair_look(struct pair *p, struct rj_error *err);

/* A handle of side I, if there is none: it was not there when the pair was
 * opened, or was being caught up when a dup was made. */
int pair_open_side(struct pair *p, int i, struct rj_error *err);
/* Side SIDE has another's object under KEY: who asks for it next gets that. */
void pair_note_conflict(struct pair *p, int side, const struct rj_key *key);
/* Put into one. RJ_E_EXISTS is certain: it is not ours that is there. */
int pair_put_side(struct pair *p, int side, const struct rj_key *key,
	const void *data, size_t len, struct rj_error *err);
/* The header of what S has under KEY. */
int pair_read_header(struct rj_store *s, const struct rj_key *key,
	struct rj_seghdr *h, struct rj_error *err);
/* Is the object BYTES a bridge? And is there one under KEY of S? */
bool pair_is_bridge(const struct rj_buf *bytes);
bool pair_has_bridge(struct rj_store *s, const struct rj_key *key);
/* Copy object KEY of FROM into side TO. RJ_E_NOTFOUND: FROM has no such. */
int pair_copy(struct pair *p, struct rj_store *from, int to,
	const struct rj_key *key, struct rj_error *err);
/* Copy segment NUMBER, which follows what TO holds up to END, into it; over a gap,
 * behind a bridge. RJ_E_BUSY: TO has got something meanwhile; look again. */
int pair_copy_next(struct pair *p, struct rj_store *from, int to,
	uint64_t number, struct pair_end *end, struct rj_error *err);
int pair_put_log(struct pair *p, const struct rj_key *key, const void *data,
	size_t len, struct rj_error *err);

/* Is there anybody to catch up? With the lock held. */
bool pair_behind(const struct pair *p);
/* One attempt to. */
void pair_follow(struct pair *p);

/* Start the hand of SIDE, if it is not. Nothing without threads. */
int pair_hand_start(struct pair *p, int side, struct rj_error *err);
/* End both. */
void pair_hand_stop(struct pair *p);
/*
 * Have SIDE's hand put DATA, which is copied; the same job once more is the
 * same job. RJ_E_UNREACHABLE: it was still busy with another at UNTIL
 * (monotonic).
 */
int pair_hand_give(struct pair *p, int side, const struct rj_key *key,
	const void *data, size_t len, int64_t until, struct rj_error *err);
/* What came of it. RJ_E_UNREACHABLE: nothing until UNTIL; it goes on. */
int pair_hand_take(
	struct pair *p, int side, int64_t until, struct rj_error *err);
/* Both handles are the caller's, until something is put. */
void pair_hand_rest(struct pair *p);

#endif
