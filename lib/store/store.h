/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The store contract: where segments and epoch claims are kept. One file per
 * backend implements struct rj_store_ops; layers (faults, tracing) wrap
 * another store. One conformance suite (tests/store) runs on all of them.
 *
 * A store keeps immutable objects under names of lib/format/key.h. A handle
 * serves one thread at a time; open one handle per thread.
 *
 * One call is one attempt, bounded by the handle's time limits; who retries,
 * and with what, is decided by lib/log.
 *
 * Several requests in flight are several handles (rj_store_dup()).
 */
#ifndef RJ_STORE_STORE_H
#define RJ_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/key.h"
#include "util/buf.h"
#include "util/error.h"
#include "util/uuid.h"

enum rj_durability {
	RJ_RECEIVED, /* acknowledged: another machine has it in memory */
	RJ_DURABLE,  /* acknowledged: it survives that machine's power cut */
};

/*
 * What a store can do; what it cannot is said here, not imitated. Of put_new
 * and exclusive_container one must be there for a log to have but one writer
 * (doc/log-format.md: modes A and B).
 */
struct rj_store_caps {
	bool put_new; /* mode A: put-if-absent is atomic among racers */
	/* mode B: making a folder is atomic among racers, and nothing else is.
	 * Such a store is a tree (lib/store/tree.h) under lib/store/lease.c. */
	bool exclusive_container;
	bool list_consistent; /* a list shows every acknowledged object */
	bool list_ranged;     /* a list costs what it shows, from AFTER on */
	enum rj_durability durability;
};

struct rj_conf;
struct rj_gate;
struct rj_meter;

struct rj_store_opts {
	int connect_timeout_ms; /* 0: as in rj.conf, else 5000 */
	int request_timeout_ms; /* 0: as in rj.conf, else 30000; no request
				 * hangs longer */
	/* Of two stores, one of which has not answered once: go on with the other
	 * even if it may lack acknowledged segments. */
	bool accept_loss;
	/* Of two stores: the volume was marked (superblock extension) when this
	 * epoch's segment FLOOR was in its log. A log that ends before either is
	 * one that was given up, even if it says that it went on alone. 0:
	 * nothing is known. */
	uint64_t marked_epoch, floor;
	/* While it is true no request is begun, and one that waits is given up
	 * (at most a second later) with RJ_E_UNREACHABLE; by stores behind a
	 * network. The caller's; NULL: never. */
	const _Atomic bool *give_up;
	struct rj_conf *conf;	/* NULL: what rj.conf says for the URL. The
				 * caller's; the store takes a reference */
};

struct rj_store;

/* Called for each object of a listing, in ascending order of number. A
 * non-zero return stops the listing and is returned by rj_store_list(). */
typedef int (*rj_store_list_fn)(void *arg, uint64_t number, uint64_t bytes);
/* The same for each journal of a store, in ascending order of UUID. */
typedef int (*rj_store_journal_fn)(
	void *arg, const uint8_t uuid[RJ_UUID_BYTES]);
/* Called for each object of a stream, in ascending order of number. OBJECT's
 * bytes are valid during the call; to keep them take the buffer, and leave
 * another in its place, empty or of no further use. A non-zero return ends the
 * stream with that. */
typedef int (*rj_store_stream_fn)(
	void *arg, uint64_t number, struct rj_buf *object);

/* How two stores that hold the same log do. */
struct rj_twin {
	const char *url[2]; /* the store's, valid as long as it is */
	int alone; /* 0 or 1: only that one is needed; negative: both are */
	bool caught_up; /* the other one has all the same: the next segment makes
			 * them two again */
	bool left; /* the other one holds another log, and is left alone */
	/* What the other one lacks; only if KNOWN, which it is not before the
	 * other one was seen. */
	bool known;
	uint64_t segments, bytes;
};

/* Where a copied segment belongs; for an epoch claim all 0. */
struct rj_store_place {
	uint64_t epoch;	 /* the segment's own */
	bool fence;
	uint64_t behind; /* of a fence: the epoch of the segment before; 0: none */
};

struct rj_store_ops {
	/*
	 * Create the object KEY with LEN bytes of DATA, only if there is none.
	 * 0: it is there, whole, and as durable as caps.durability says.
	 * RJ_E_EXISTS: an object (perhaps ours, of an earlier attempt whose
	 * answer was lost) is there, and was not touched.
	 * RJ_E_UNREACHABLE: it may or may not have been created; so with
	 * RJ_E_IO and RJ_E_PROTOCOL, which another attempt will not cure.
	 * RJ_E_FENCED (mode B): it does not count, a newer epoch was claimed.
	 * RJ_E_NOSPACE, RJ_E_DENIED, RJ_E_INVAL: it was not created. Nor with
	 * RJ_E_CORRUPT: the store knows that it lost objects, and not which.
	 * No reader ever sees a part of an object.
	 */
	int (*put_new)(struct rj_store *s, const struct rj_key *key,
		const void *data, size_t len, struct rj_error *err);
	/*
	 * Append the object's bytes to OUT. RJ_E_NOTFOUND: there is none.
	 * RJ_E_CORRUPT: the store itself says that it is damaged, or it is
	 * longer than MAX bytes. A short answer is RJ_E_UNREACHABLE, never a
	 * short success; on failure OUT is as it was.
	 */
	int (*get)(struct rj_store *s, const struct rj_key *key, size_t max,
		struct rj_buf *out, struct rj_error *err);
	/*
	 * List the objects of DIR (number 0) whose number is greater than
	 * AFTER. A directory that was never written to is empty, not an error.
	 */
	int (*list)(struct rj_store *s, const struct rj_key *dir,
		uint64_t after, rj_store_list_fn fn, void *arg,
		struct rj_error *err);
	/* The highest number in DIR (number 0, of segments), 0: none; for stores
	 * whose list costs more the further back it reaches. May be NULL. */
	int (*last)(struct rj_store *s, const struct rj_key *dir,
		uint64_t *number, struct rj_error *err);
	/* Delete an object. RJ_E_NOTFOUND: there was none. Not a durable
	 * step: a power cut of the store may bring the object back. */
	int (*remove)(struct rj_store *s, const struct rj_key *key,
		struct rj_error *err);
	/*
	 * List the journals of which anything is stored: a segment or an epoch
	 * claim. One that was wholly removed may still be listed. May be NULL.
	 */
	int (*list_journals)(struct rj_store *s, rj_store_journal_fn fn,
		void *arg, struct rj_error *err);
	/*
	 * Delete the objects of DIR (number 0) whose number is below BELOW and
	 * that have at least LEAST bytes (a log's fences are its smallest
	 * objects, and stay), in as few requests as the store allows, lowest
	 * first; what a failure leaves begins behind what was deleted.
	 * *REMOVED (may be NULL) counts them, also on failure. Not a durable
	 * step, as remove. NULL: they are listed and removed one by one.
	 */
	int (*remove_below)(struct rj_store *s, const struct rj_key *dir,
		uint64_t below, uint64_t least, uint64_t *removed,
		struct rj_error *err);
	/*
	 * Hand the objects of DIR numbered FROM and above to FN, in one answer.
	 * It ends before the first number that is missing, and may end anywhere
	 * for reasons of its own: that is no proof that nothing follows. An
	 * object longer than MAX bytes is RJ_E_CORRUPT. A broken connection is
	 * RJ_E_UNREACHABLE, and what was handed over before stays true. NULL:
	 * this store has no such thing; use get.
	 */
	int (*stream)(struct rj_store *s, const struct rj_key *dir,
		uint64_t from, size_t max, rj_store_stream_fn fn, void *arg,
		struct rj_error *err);
	/*
	 * Put an object of a log that is copied from elsewhere, where PLACE says
	 * that it belongs: no epoch is claimed by it, and nobody becomes a
	 * writer. For stores of mode B, where the object's epoch is a part of
	 * its name. Callers only ever repeat the same bytes. 0 and the errors as
	 * of put_new; RJ_E_EXISTS for an epoch that has its text. NULL: put_new
	 * does it, with COPYING set.
	 */
	int (*put_copy)(struct rj_store *s, const struct rj_key *key,
		const struct rj_store_place *place, const void *data,
		size_t len, struct rj_error *err);
	/* Another handle of the same store with the same options, for another
	 * thread. Does not contact a server. May be NULL. */
	int (*dup)(struct rj_store *s, struct rj_store **out,
		struct rj_error *err);
	/*
	 * Mode B: from here on write as the owner of EPOCH of JOURNAL, whose
	 * fence has the number FENCE: for the process that goes on putting what
	 * that epoch's writer sealed. No other process does, and the fence was
	 * acknowledged. NULL (mode A): every handle may put.
	 */
	int (*adopt)(struct rj_store *s, const uint8_t journal[RJ_UUID_BYTES],
		uint64_t epoch, uint64_t fence, struct rj_error *err);
	/*
	 * Two stores as one (pair.h); NULL for every other. FLAGS: what a segment
	 * that is sealed now has to say (RJ_SEG_F_ALONE_1, _2 or 0). *MARK_DUE:
	 * what was put last must not be acknowledged before one more segment,
	 * with these flags, is put: only it says durably that one store is
	 * alone.
	 */
	uint32_t (*flags)(struct rj_store *s, bool *mark_due);
	/* The first (0) or the second (1). NULL is returned for one that cannot
	 * be opened now. */
	struct rj_store *(*part)(struct rj_store *s, int which);
	/* How they do; from any thread, and contacts nobody. */
	void (*twin)(const struct rj_store *s, struct rj_twin *out);
	/*
	 * The logs of the two differ, and neither says that it went on alone: one
	 * is taken, the other is returned, whose writer has to be fenced before
	 * anything is written. NULL: there is no such thing.
	 */
	struct rj_store *(*rival)(struct rj_store *s);
	void (*close)(struct rj_store *s);
};

/* The head of every backend's own struct. */
struct rj_store {
	const struct rj_store_ops *ops;
	struct rj_store_caps caps;
	/* Counts what put_new() takes (store/meter.h); of the caller, who sets
	 * it, and passed on to dups. NULL: nothing is counted. */
	struct rj_meter *meter;
	/* Puts of segments wait there (store/gate.h); of the caller, as the
	 * meter. NULL: they never wait. */
	struct rj_gate *gate;
	char url[512]; /* for messages: never holds a credential */
	/* What is put is a copy of another store's segment: it may begin anywhere,
	 * and (mode B) be of an older epoch than the handle's own. */
	bool copying;
};

/*
 * Open the store that URL names, or with "URL1,URL2" the two that hold the same
 * log (pair.h). Does not contact a server: one that cannot
 * be reached shows at the first request. RJ_E_INVAL: not a URL we can read;
 * RJ_E_UNSUPPORTED: a scheme this build does not have (the message lists
 * those it has); RJ_E_NOTFOUND: the directory of a file:// URL is not there
 * (nor is it ever made: it may be a share that is not mounted). OPTS may be
 * NULL.
 */
int rj_store_open(const char *url, const struct rj_store_opts *opts,
	struct rj_store **out, struct rj_error *err);
/* Only check that URL could be opened. Same errors. */
int rj_store_check_url(const char *url, struct rj_error *err);
/* NULL-safe. */
void rj_store_close(struct rj_store *s);

/* As the operation; counted, if the handle has a meter, and held up, if its gate
 * is closed. */
int rj_store_put_new(struct rj_store *s, const struct rj_key *key,
	const void *data, size_t len, struct rj_error *err);

static inline int rj_store_put_copy(struct rj_store *s,
	const struct rj_key *key, const struct rj_store_place *place,
	const void *data, size_t len, struct rj_error *err)
{
	bool was = s->copying;
	int rc;

	if (s->ops->put_copy)
		return s->ops->put_copy(s, key, place, data, len, err);
	s->copying = true;
	rc = s->ops->put_new(s, key, data, len, err);
	s->copying = was;
	return rc;
}

static inline int rj_store_get(struct rj_store *s, const struct rj_key *key,
	size_t max, struct rj_buf *out, struct rj_error *err)
{
	return s->ops->get(s, key, max, out, err);
}

static inline int rj_store_list(struct rj_store *s, const struct rj_key *dir,
	uint64_t after, rj_store_list_fn fn, void *arg, struct rj_error *err)
{
	return s->ops->list(s, dir, after, fn, arg, err);
}

static inline int rj_store_remove(
	struct rj_store *s, const struct rj_key *key, struct rj_error *err)
{
	return s->ops->remove(s, key, err);
}

/* RJ_E_UNSUPPORTED: this kind of store cannot. */
static inline int rj_store_list_journals(struct rj_store *s,
	rj_store_journal_fn fn, void *arg, struct rj_error *err)
{
	if (!s->ops->list_journals)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"%s: this kind of store cannot list its journals",
			s->url);
	return s->ops->list_journals(s, fn, arg, err);
}

/* As the operation; if there is none, by list and remove. An object that is
 * gone by then is not an error. */
int rj_store_remove_below(struct rj_store *s, const struct rj_key *dir,
	uint64_t below, uint64_t least, uint64_t *removed,
	struct rj_error *err);

/* RJ_E_UNSUPPORTED: this kind of store does not stream. */
static inline int rj_store_stream(struct rj_store *s, const struct rj_key *dir,
	uint64_t from, size_t max, rj_store_stream_fn fn, void *arg,
	struct rj_error *err)
{
	if (!s->ops->stream)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"%s: this kind of store does not stream", s->url);
	return s->ops->stream(s, dir, from, max, fn, arg, err);
}

/* Nothing to be done in mode A. */
static inline int rj_store_adopt(struct rj_store *s,
	const uint8_t journal[RJ_UUID_BYTES], uint64_t epoch, uint64_t fence,
	struct rj_error *err)
{
	return s->ops->adopt ? s->ops->adopt(s, journal, epoch, fence, err) : 0;
}

/* With the flags of *MARK_DUE, which is set: false for a single store. */
static inline uint32_t rj_store_flags(struct rj_store *s, bool *mark_due)
{
	*mark_due = false;
	return s->ops->flags ? s->ops->flags(s, mark_due) : 0;
}

/* Two stores as one? */
static inline bool rj_store_is_pair(const struct rj_store *s)
{
	return s->ops->part != NULL;
}

/* False: not two stores as one. */
static inline bool rj_store_twin(const struct rj_store *s, struct rj_twin *out)
{
	if (!s->ops->twin)
		return false;
	s->ops->twin(s, out);
	return true;
}

static inline struct rj_store *rj_store_part(struct rj_store *s, int which)
{
	return s->ops->part(s, which);
}

static inline struct rj_store *rj_store_rival(struct rj_store *s)
{
	return s->ops->rival ? s->ops->rival(s) : NULL;
}

/* RJ_E_UNSUPPORTED: this kind of store has but one handle. */
static inline int rj_store_dup(
	struct rj_store *s, struct rj_store **out, struct rj_error *err)
{
	int rc;

	if (!s->ops->dup)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"%s: this kind of store has but one handle", s->url);
	rc = s->ops->dup(s, out, err);
	if (!rc) {
		(*out)->meter = s->meter;
		(*out)->gate = s->gate;
	}
	return rc;
}

#endif
