// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rjlog copy --follow: the copy goes on from its own verified end. Its last part, from what a
 * replay needs on, is checked once, and its last segment has to be the source's; from there on
 * each segment of the source is checked against the one before, and put. So a long archive is
 * not read again at each start.
 */
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "copy.h"
#include "log/own.h"
#include "log/retry.h"
#include "util/environ.h"
#include "util/error-class.h"

#define BACK_OFF_NS 1000000000LL
#define BACK_OFF_MAX_NS 60000000000LL
#define NS_PER_S 1000000000LL

static volatile sig_atomic_t stopped;

static void stop(int sig)
{
	stopped = sig;
}

/* The signals come only in wait_for(). */
static void catch_signals(void)
{
	const struct sigaction sa = {.sa_handler = stop};
	sigset_t inside;

	sigemptyset(&inside);
	sigaddset(&inside, SIGTERM);
	sigaddset(&inside, SIGINT);
	sigprocmask(SIG_BLOCK, &inside, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
}

/* False: a signal says that this is the end. With 0 it looks whether one came. */
static bool wait_for(int64_t ns)
{
	const struct timespec t = {.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
	sigset_t outside;

	sigprocmask(SIG_BLOCK, NULL, &outside);
	sigdelset(&outside, SIGTERM);
	sigdelset(&outside, SIGINT);
	if (!stopped)
		ppoll(NULL, 0, &t, &outside);
	return !stopped;
}

bool copy_stopped(const struct copy *c)
{
	return c->o->follow && !wait_for(0);
}

struct follow {
	struct copy *c;
	enum status (*all)(struct copy *c, struct rj_error *err);
	struct rj_verify verify; /* of the copy at first, then of the source */
	bool going; /* the copy's end is known, and the source has it */
	size_t claims; /* bytes of the list that the copy has */
	struct rj_error *err; /* of the walk */
};

/* A segment of the copy's last part. */
static int check_own(void *arg, const struct segment_seen *s)
{
	struct follow *f = arg;

	return check_seen(&f->verify, s, NULL, f->err);
}

/* Is segment NUMBER of the copy the source's? */
static int compare(struct follow *f, uint64_t number, struct rj_error *err)
{
	struct copy *c = f->c;
	struct rj_buf a = {0}, b = {0};
	int rc = rj_log_fetch(c->to.store, &c->to.id, number, 0, &a, err);

	if (!rc)
		rc = rj_log_fetch(c->from->store, &c->from->id, number, 0, &b, err);
	if (rc == -RJ_E_GAP)
		rc = rj_fail(err, RJ_E_GAP,
			"%s: ends with segment %" PRIu64 ", which is not at %s any more: what followed was deleted before it was copied",
			c->to.text, number, c->from->text);
	if (!rc && (a.len != b.len || memcmp(a.data, b.data, a.len)))
		rc = rj_fail(err, RJ_E_FOREIGN,
			"%s: segment %" PRIu64 " is not that of %s: this is no copy of it",
			c->to.text, number, c->from->text);
	rj_buf_free(&a);
	rj_buf_free(&b);
	return rc;
}

/* Where the check of the copy's last part begins: with what a replay needs, unless a copy that
 * was cut off never had that. */
static int list_last_part(struct follow *f, uint64_t last, struct rj_listing *l,
	struct rj_error *err)
{
	struct target *to = &f->c->to;
	struct rj_range end = {0};
	struct rj_seghdr h;
	int rc = rj_log_fetch_header(to->store, &to->id, last, &h, err);

	if (!rc)
		rc = rj_listing_log(to->store, &to->id, 0, 0, l, err);
	if (!rc && l->ranges.len)
		memcpy(&end, l->ranges.data + l->ranges.len - sizeof(end), sizeof(end));
	rj_listing_free(l);
	*l = (struct rj_listing){0};
	if (!rc && end.first < h.oldest)
		end.first = h.oldest;
	rj_verify_start(&f->verify, to->store->url, &to->id, end.first);
	return rc ? rc : rj_listing_log(to->store, &to->id, end.first - 1, 0, l, err);
}

/* The copy's verified end, from which the source is read on. */
static int find_end(struct follow *f, uint64_t last, struct rj_error *err)
{
	struct copy *c = f->c;
	struct rj_listing l = {0};
	int rc = list_last_part(f, last, &l, err);

	f->err = err;
	if (!rc)
		rc = walk_segments(&c->to, &l, check_own, f);
	rj_listing_free(&l);
	if (!rc && f->verify.tail.sequence < last)
		rc = rj_fail(err, RJ_E_GAP, "%s: segment %" PRIu64 " was listed, and is not there",
			c->to.text, last);
	if (!rc)
		rc = compare(f, f->verify.tail.sequence, err);
	f->verify.url = c->from->store->url;
	f->verify.id = &c->from->id;
	f->going = !rc;
	return rc;
}

static int put_next(void *arg, const struct segment_seen *s)
{
	struct follow *f = arg;
	struct copy *c = f->c;
	const struct rj_verify before = f->verify;
	struct copy_mark m = {
		.number = s->number, .bytes = s->bytes, .before = before.tail.epoch};
	int rc;

	if (copy_stopped(c))
		return rj_fail(f->err, RJ_E_CANCELLED, "stopped");
	rc = check_seen(&f->verify, s, NULL, f->err);
	if (rc)
		return rc;
	m.epoch = s->seg->header.epoch;
	m.fence = s->seg->header.kind == RJ_SEG_FENCE;
	rc = copy_put_segment(c, &m, s->raw, f->err);
	if (rc == -RJ_E_EXISTS) /* an answer was lost, or another copy runs */
		rc = compare(f, s->number, f->err);
	if (rc) {
		f->verify = before; /* it is still to be put */
		return rc;
	}
	c->copied++;
	c->bytes += s->bytes;
	return 0;
}

/* Claims go before the segments of their epochs. */
static int put_claims(struct follow *f, struct rj_error *err)
{
	struct copy *c = f->c;
	int rc;

	c->claims.len = 0;
	rc = rj_log_list_own(c->from->store, &c->from->id, RJ_KEY_EPOCH, 0, &c->claims, err);
	if (!rc && c->claims.len != f->claims)
		rc = copy_put_claims(c, err);
	f->claims = rc ? 0 : c->claims.len;
	return rc;
}

/* Nothing follows the copy's end. Is that the source's end still? */
static int check_end(struct follow *f, struct rj_error *err)
{
	const struct target *from = f->c->from;
	uint64_t end = f->verify.tail.sequence;
	struct rj_listing l = {0};
	int rc = rj_listing_log(from->store, &from->id, end - 1, 0, &l, err);

	if (!rc && !l.last)
		rc = rj_fail(err, RJ_E_GAP,
			"%s: ends before segment %" PRIu64 ", with which %s ends: the store has lost the end of the log, or was put back to an earlier state: keep this copy, and begin another one",
			from->text, end, f->c->to.text);
	rj_listing_free(&l);
	return rc;
}

/* What came to the source since. */
static int go_on(struct follow *f, struct rj_error *err)
{
	struct target *from = f->c->from;
	uint64_t after = f->verify.tail.sequence;
	struct rj_listing l = {0};
	struct rj_range hole;
	int rc = rj_listing_log(from->store, &from->id, after, 0, &l, err);

	if (!rc && l.last) { /* twice, as a writer is at work */
		rc = rj_listing_check(from->store, &from->id, after, 0, &l, after + 1, l.last,
			&hole, err);
		if (rc == -RJ_E_GAP)
			rj_fail_suffix(err, ": deleted before they were copied? The copy ends before");
		if (!rc)
			rc = put_claims(f, err);
		f->err = err;
		if (!rc)
			rc = walk_segments(from, &l, put_next, f);
	} else if (!rc) {
		rc = check_end(f, err);
	}
	rj_listing_free(&l);
	return rc ? rc : copy_put_points(f->c, err);
}

/* One turn. A copy that is not begun is made as without --follow. */
static int turn(struct follow *f, enum status *status, struct rj_error *err)
{
	struct copy *c = f->c;
	struct rj_listing l = {0};
	int rc = 0;

	if (!f->going) {
		rc = rj_listing_log(c->to.store, &c->to.id, 0, 0, &l, err);
		*status = !rc && !l.last ? f->all(c, err) : STATUS_GOOD;
		if (*status)
			rc = err->code ? -(int)err->code : -RJ_E_IO;
		if (!rc && !l.last) {
			rj_listing_free(&l);
			l = (struct rj_listing){0};
			rc = rj_listing_log(c->to.store, &c->to.id, 0, 0, &l, err);
		}
		if (!rc)
			rc = find_end(f, l.last, err);
		rj_listing_free(&l);
	}
	return rc ? rc : go_on(f, err);
}

/* Does nothing help but a person? */
static bool over(int rc)
{
	return rj_code_damage(rc) || rc == -RJ_E_KEY || rc == -RJ_E_UNSUPPORTED ||
	       rc == -RJ_E_INVAL || rc == -RJ_E_REFUSED;
}

static int check_source(const struct copy *c, struct rj_error *err)
{
	if (c->from->store->caps.put_new)
		return 0;
	return rj_fail(err, RJ_E_UNSUPPORTED,
		"%s: in a store of folders a reader may see a segment that never belonged to the log: --follow cannot read from it",
		c->from->text);
}

enum status copy_follow(struct copy *c,
	enum status (*all)(struct copy *c, struct rj_error *err), struct rj_error *err)
{
	struct follow f = {.c = c, .all = all};
	enum status status = STATUS_GOOD;
	char said[RJ_ERROR_BYTES] = "";
	unsigned failed = 0;
	int rc = check_source(c, err);

	catch_signals();
	while (!over(rc)) {
		rc = turn(&f, &status, err);
		if (stopped || over(rc))
			break;
		if (rc && strcmp(said, err->msg)) {
			snprintf(said, sizeof(said), "%s", err->msg);
			complain(said);
			complain("it is tried again until it works");
		} else if (!rc && failed) {
			said[0] = 0;
			complain("it goes on");
		}
		failed = rc ? failed + 1 : 0;
		if (!wait_for(rc ? rj_backoff_ns(failed - 1, BACK_OFF_NS, BACK_OFF_MAX_NS)
				 : (int64_t)c->o->interval_s * NS_PER_S))
			break;
	}
	c->last = f.verify.tail.sequence;
	if (over(rc)) {
		if (!status)
			complain(err->msg);
		return status ? status : status_of(rc);
	}
	return STATUS_GOOD;
}
