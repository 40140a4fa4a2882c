/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The store contract: where segments and epoch claims are kept. One file per
 * backend implements struct rj_store_ops; layers (faults, tracing) wrap
 * another store. One conformance suite (tests/store) runs on all of them.
 *
 * A store keeps immutable objects under names of lib/format/object-key.h. A handle
 * serves one thread at a time; open one handle per thread.
 *
 * One call is one attempt, bounded by the handle's time limits; lib/log decides
 * what is retried, and how often.
 *
 * Several requests in flight are several handles (rj_store_dup()).
 */
#ifndef RJ_STORE_STORE_H
#define RJ_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "format/object-key.h"
#include "util/buf.h"
#include "util/error.h"
#include "util/uuid.h"

enum rj_durability {
	RJ_RECEIVED, /* acknowledged: another machine has it in memory */
	RJ_DURABLE,  /* acknowledged: it survives that machine's power cut */
};

/*
 * What a store can do; a missing ability is reported here, not imitated. A log
 * with only one writer needs put_new or exclusive_container
 * (doc/log-format.md: modes A and B).
 */
struct rj_store_caps {
	bool put_new; /* mode A: put-if-absent is atomic among racers */
	/* mode B: making a folder is atomic among racers, and nothing else is.
	 * Such a store is a tree (lib/store/tree/tree.h) below lib/store/tree/mkdir-epoch.c. */
	bool exclusive_container;
	bool list_consistent; /* a list shows every acknowledged object */
	bool list_ranged;     /* the cost of a list is that of the objects after AFTER */
	enum rj_durability durability;
	bool foreign; /* its server is not of this suite: what it does is tried, not known */
};

struct rj_conf;
struct rj_put_throttle;
struct rj_latency_hist;

struct rj_store_opts {
	int connect_timeout_ms; /* 0: as in rj.conf, else 5000 */
	int request_timeout_ms; /* 0: as in rj.conf, else 30000; no request
				 * hangs longer */
	/* While true, stores on a network begin no request, and end one that waits,
	 * at most a second later, with RJ_E_UNREACHABLE. The caller's, must outlive
	 * the handle and its dups; NULL: never. */
	const _Atomic bool *give_up;
	struct rj_conf *conf;	/* NULL: the settings of rj.conf for the URL. The
				 * caller's; the store takes a reference */
};

struct rj_store;

/* Called for each object of a listing, in ascending order of number. A
 * non-zero return ends the listing and is returned by rj_store_list(). */
typedef int (*rj_store_list_fn)(void *arg, uint64_t number, uint64_t bytes);
/* Called for each journal of a store, in ascending order of UUID. A non-zero return as
 * above. */
typedef int (*rj_store_journal_fn)(
	void *arg, const uint8_t uuid[RJ_UUID_BYTES]);
/* Called for each object of a stream, in ascending order of number. OBJECT's
 * bytes are valid during the call; FN may take over the buffer, and leave another in
 * its place, whose bytes are then overwritten. A non-zero return ends the stream and is
 * returned. */
typedef int (*rj_store_stream_fn)(
	void *arg, uint64_t number, struct rj_buf *object);

/* The most parts of an object that is put in parts. */
#define RJ_STORE_PARTS 16

/* Where a copied segment belongs; for an epoch claim all 0. */
struct rj_store_place {
	uint64_t epoch;	 /* the segment's own */
	bool fence;
	uint64_t before; /* of a fence: the epoch of the segment before; 0: none */
};

/* Called for each name at a server. A non-zero return as above. */
typedef int (*rj_store_name_fn)(void *arg, const char *name);

struct rj_store_ops {
	/*
	 * Create the object KEY with LEN bytes of DATA, only if there is none.
	 * 0: it is there, whole, and as durable as caps.durability says.
	 * RJ_E_EXISTS: an object (perhaps ours, of an earlier attempt whose
	 * answer was lost) is there, and was not touched.
	 * RJ_E_UNREACHABLE: it may or may not have been created; the same with
	 * RJ_E_IO and RJ_E_PROTOCOL, where another attempt does not help.
	 * RJ_E_FENCED (mode B): it is not part of the log, a newer epoch was claimed.
	 * RJ_E_NOSPACE, RJ_E_DENIED, RJ_E_INVAL: it was not created.
	 * RJ_E_CORRUPT: it was not created, since the store knows that it lost
	 * objects, but not which.
	 * No reader ever sees a part of an object.
	 */
	int (*put_new)(struct rj_store *s, const struct rj_key *key,
		const void *data, size_t len, struct rj_error *err);
	/* As put_new, of an object in COUNT parts, 1 to RJ_STORE_PARTS; a segment's whole
	 * header is in the first. NULL: this store takes whole objects only. */
	int (*put_parts)(struct rj_store *s, const struct rj_key *key,
		const struct iovec *parts, int count, struct rj_error *err);
	/*
	 * Append the object's bytes to OUT. RJ_E_NOTFOUND: there is none.
	 * RJ_E_CORRUPT: the store itself says that the object is damaged, or it
	 * is longer than MAX bytes. An answer that was cut short is
	 * RJ_E_UNREACHABLE, never a success; on failure OUT is as it was.
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
	/* Get the highest number in DIR (number 0, of segments); 0: none. For stores
	 * whose list costs more the more objects it shows. May be NULL. */
	int (*last)(struct rj_store *s, const struct rj_key *dir,
		uint64_t *number, struct rj_error *err);
	/* Delete an object. RJ_E_NOTFOUND: there was none; RJ_E_REFUSED: the store keeps it
	 * yet. Not durable: after a power cut of the store the object may be there again. */
	int (*remove)(struct rj_store *s, const struct rj_key *key,
		struct rj_error *err);
	/*
	 * List the journals of which anything is stored: a segment or an epoch
	 * claim. One that was wholly removed may still be listed. May be NULL.
	 */
	int (*list_journals)(struct rj_store *s, rj_store_journal_fn fn,
		void *arg, struct rj_error *err);
	/* List the names at the store's server that may be read, whatever the store's own name
	 * is. NULL: this kind of store has no names. */
	int (*list_names)(struct rj_store *s, rj_store_name_fn fn, void *arg,
		struct rj_error *err);
	/*
	 * Delete the objects of DIR (number 0) whose number is below BELOW and
	 * that have at least LEAST bytes (a log's fences are its smallest
	 * objects, and stay), in as few requests as the store allows, lowest
	 * first: after a failure only the lowest are missing.
	 * *REMOVED (may be NULL) counts them, also on failure. Not durable, as
	 * remove. NULL: they are listed and removed one by one.
	 */
	int (*remove_below)(struct rj_store *s, const struct rj_key *dir,
		uint64_t below, uint64_t least, uint64_t *removed,
		struct rj_error *err);
	/*
	 * Pass the objects of DIR numbered FROM and above to FN, in one answer.
	 * The stream ends before the first number that is missing, and the store
	 * may end it anywhere: its end is no proof that nothing follows. An
	 * object longer than MAX bytes is RJ_E_CORRUPT. A broken connection is
	 * RJ_E_UNREACHABLE, and the objects passed before are good. NULL: this
	 * store has no streams; use get.
	 */
	int (*stream)(struct rj_store *s, const struct rj_key *dir,
		uint64_t from, size_t max, rj_store_stream_fn fn, void *arg,
		struct rj_error *err);
	/*
	 * Put an object of a log that is copied from another store, at PLACE.
	 * This claims no epoch, and makes the handle no writer. For stores of
	 * mode B, where the object's epoch is a part of its name. A repeated
	 * call has the same bytes. Returns as put_new; RJ_E_EXISTS also for an epoch
	 * whose claim is there. NULL: rj_store_put_copy() uses put_new, with COPYING
	 * set.
	 */
	int (*put_copy)(struct rj_store *s, const struct rj_key *key,
		const struct rj_store_place *place, const void *data,
		size_t len, struct rj_error *err);
	/* Another handle of the same store with the same options, for another
	 * thread. Does not contact a server. May be NULL. */
	int (*dup)(struct rj_store *s, struct rj_store **out,
		struct rj_error *err);
	/*
	 * Make the handle a writer of EPOCH of JOURNAL (mode B), whose fence has
	 * the number FENCE: for a process that puts segments which that epoch's
	 * writer sealed. The caller makes sure that no other process puts, and that
	 * the fence was acknowledged. NULL (mode A): every handle may put.
	 */
	int (*adopt)(struct rj_store *s, const uint8_t journal[RJ_UUID_BYTES],
		uint64_t epoch, uint64_t fence, struct rj_error *err);
	void (*close)(struct rj_store *s);
};

/* What a store says is nearly used up. */
enum rj_nearly_full {
	RJ_FULL_DISK = 1,
	RJ_FULL_VOLUME = 2,  /* the limit that this volume has there */
	RJ_FULL_ACCOUNT = 4, /* the limit of our account */
};

/* Return the words for the first of BITS (enum rj_nearly_full); "": none. */
const char *rj_nearly_full_text(unsigned bits);

/* The head of every backend's own struct. */
/*
 * Where the racers of a probe meet. Called by put_new(), perhaps more than once: by S3 when all of
 * the object but its last byte was sent, with SOCKET -1; in mode B before the request that makes
 * the folder, with the SOCKET of the connection that it goes over, or -1 if none is known.
 */
struct rj_put_gate {
	void (*wait)(void *arg, int socket);
	void *arg;
};

struct rj_store {
	const struct rj_store_ops *ops;
	struct rj_store_caps caps;
	/* Counts the puts of segments, and their times (store/latency-hist.h). Set by
	 * the caller, whose it stays; dups get it. NULL: nothing is counted. */
	struct rj_latency_hist *latency;
	/* Puts of segments wait there, or are refused (store/put-throttle.h). Set by the
	 * caller, as above. NULL: they never wait. */
	struct rj_put_throttle *throttle;
	char url[512]; /* for messages: never holds a credential */
	/* The puts are copies of another store's segments: they may begin at any
	 * number and (mode B) be of an older epoch than the handle's own. */
	bool copying;
	const struct rj_put_gate *gate; /* the caller's; NULL: none */
	/* From the answer to the last put, of rjserver only. Read by any thread. */
	_Atomic unsigned nearly_full; /* of enum rj_nearly_full */
	_Atomic uint64_t max_bytes;   /* the volume's limit; 0: none is known */
	/* The server's clock, as the last answer to a request without a body said it: seconds
	 * since 1970. 0: not known. */
	_Atomic int64_t clock_s;
	/* When the server's certificate ends, seconds since 1970; of rjs:// only. 0: not known. */
	_Atomic int64_t cert_until_s;
};

/*
 * Open the store that URL names, for rj_store_close(). Does not contact a server: that
 * one cannot be reached shows at the first request. RJ_E_INVAL: URL cannot be parsed;
 * RJ_E_UNSUPPORTED: this build does not have the scheme (the message lists those it
 * has); RJ_E_NOTFOUND: the directory of a file:// URL does not exist (it is never made:
 * it may be a share that is not mounted). OPTS may be NULL.
 */
int rj_store_open(const char *url, const struct rj_store_opts *opts,
	struct rj_store **out, struct rj_error *err);
/* Check that URL could be opened, without opening it. Errors as of rj_store_open(). */
int rj_store_check_url(const char *url, struct rj_error *err);
/*
 * Get the time by which what is old may be deleted, in nanoseconds since 1970: that of this host's
 * clock, and not after that of the server's clock, where S has heard it, nor after UNTIL_NS
 * (0: no limit). A clock that is ahead deletes nothing by itself.
 */
int64_t rj_store_now(const struct rj_store *s, int64_t until_ns);
/* NULL-safe. */
void rj_store_close(struct rj_store *s);

/* Put a new object, as ops->put_new(). Counted if the handle has a latency
 * histogram; waits, or is refused, as its throttle says. */
int rj_store_put_new(struct rj_store *s, const struct rj_key *key,
	const void *data, size_t len, struct rj_error *err);
/* The same of an object in parts; of more than one only with ops->put_parts. */
int rj_store_put_parts(struct rj_store *s, const struct rj_key *key,
	const struct iovec *parts, int count, struct rj_error *err);

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

/* Fill ERR: RJ_E_PROTOCOL. The list of the store of URL does not show segment NUMBER, which is
 * there: some servers cut long lists, and do not say so. */
static inline int rj_store_fail_cut(const char *url, uint64_t number, struct rj_error *err)
{
	return rj_fail(err, RJ_E_PROTOCOL,
		"%s: the server's list does not show segment %llu, which is there: it cuts long lists; raise its limit on them (pure-ftpd: LimitRecursion, -L), then try again",
		url, (unsigned long long)number);
}

/* List journals, as ops->list_journals(). RJ_E_UNSUPPORTED: this kind of store cannot. */
static inline int rj_store_list_journals(struct rj_store *s,
	rj_store_journal_fn fn, void *arg, struct rj_error *err)
{
	if (!s->ops->list_journals)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"%s: this kind of store cannot list its journals",
			s->url);
	return s->ops->list_journals(s, fn, arg, err);
}

/* Remove objects, as ops->remove_below(); without that, by list and remove. An
 * object that another process removes at the same time is not an error. */
int rj_store_remove_below(struct rj_store *s, const struct rj_key *dir,
	uint64_t below, uint64_t least, uint64_t *removed,
	struct rj_error *err);

/* Stream objects, as ops->stream(). RJ_E_UNSUPPORTED: this kind of store does not. */
static inline int rj_store_stream(struct rj_store *s, const struct rj_key *dir,
	uint64_t from, size_t max, rj_store_stream_fn fn, void *arg,
	struct rj_error *err)
{
	if (!s->ops->stream)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"%s: this kind of store does not stream", s->url);
	return s->ops->stream(s, dir, from, max, fn, arg, err);
}

/* Adopt an epoch, as ops->adopt(); does nothing in mode A. */
static inline int rj_store_adopt(struct rj_store *s,
	const uint8_t journal[RJ_UUID_BYTES], uint64_t epoch, uint64_t fence,
	struct rj_error *err)
{
	return s->ops->adopt ? s->ops->adopt(s, journal, epoch, fence, err) : 0;
}

/* Make another handle, as ops->dup(). RJ_E_UNSUPPORTED: a second handle cannot be made. */
static inline int rj_store_dup(
	struct rj_store *s, struct rj_store **out, struct rj_error *err)
{
	int rc;

	if (!s->ops->dup)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"%s: this kind of store has but one handle", s->url);
	rc = s->ops->dup(s, out, err);
	if (!rc) {
		(*out)->latency = s->latency;
		(*out)->throttle = s->throttle;
	}
	return rc;
}

#endif
