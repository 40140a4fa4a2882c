// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two stores, random lives: stores that go away and come back, answers that are
 * lost, puts that arrive late, hosts that are cut off or sleep on, workers that
 * die within a put and are followed by others, recoveries with both stores or
 * with one, with and without --accept-loss, and readers. Whatever was
 * acknowledged is in the log that a recovery reads, or the recovery refuses.
 * $RJ_LEAVE_OUT leaves out a rule (enum rj_pair_rule), $RJ_LIVES says how many; a
 * life that fails prints its seed, and $RJ_SEED with RJ_LIVES=1 repeats it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/pairlife.h"
#include "log/seeded.h"
#include "log/trim.h"
#include "store/pair.h"
#include "util/environ.h"

#define STEPS 120

/* Who is doing something, while others act. */
static struct host *acting;

/* ---- a worker appends ---- */

static void abort_kernel(struct host *h)
{
	h->mounted = false;
	host_drop(h);
}

/* Its process ends within a call: nothing more comes of it. */
static void dies(void *arg)
{
	if (!weather_rnd(3))
		weather_silence(true);
}

static void nods(void *arg)
{
	weather_silence(true);
}

static int put_next(struct host *h)
{
	static uint8_t ring[T_BLOCK * T_BLOCKS];
	struct rj_log_append a = t_block_3(ring);
	struct life *l = h->life;

	if (rj_log_pending(h->w))
		return rj_log_retry(h->w, NULL);
	h->id = l->next_id++;
	h->sequence = rj_log_writer_tail(h->w)->sequence + 1;
	a.base = rj_log_writer_tail(h->w)->oldest <= 1 || !weather_rnd(20);
	if (a.base)
		l->what[h->id].base = h->has;
	ids_add(&h->has, h->id);
	memcpy(ring + 3 * T_BLOCK, &h->id, sizeof(h->id));
	return rj_log_append(h->w, &a, NULL);
}

static void append(struct host *h)
{
	struct life *l = h->life;
	int need = rj_pair_need(h->store), rc;

	if (l->next_id == MAX_ID && !rj_log_pending(h->w))
		return;
	rc = put_next(h);
	l->rejoined += need != RJ_PAIR_BOTH &&
		       rj_pair_need(h->store) == RJ_PAIR_BOTH;
	if (!rc)
		life_acked(h);
	else if (rc != -RJ_E_UNREACHABLE)
		abort_kernel(h);
}

/* The process dies in the middle; its kernel waits for another one. */
static void append_and_die(struct host *h)
{
	weather_meanwhile(dies, NULL);
	append(h);
	weather_meanwhile(NULL, NULL);
	weather_silence(false);
	host_drop(h);
}

/* The host loses first the store SIDE, and then both in the middle. */
static void append_and_nod(struct host *h, int side)
{
	bool was = h->cut[side];

	h->cut[side] = true;
	weather_meanwhile(nods, NULL);
	append(h);
	weather_meanwhile(NULL, NULL);
	weather_silence(false);
	h->cut[side] = was;
}

static void step_aside(struct host *h)
{
	weather_spare(true);
	rj_pair_step(h->store);
	weather_spare(false);
}

static void trim(struct host *h)
{
	struct rj_log_trim_opts o = {
		.below = rj_log_writer_tail(h->w)->oldest, .retry_ms = 1};
	struct rj_log_trim_report report;
	struct rj_store *dup = NULL;

	if (rj_log_pending(h->w))
		return;
	weather_spare(true);
	if (!rj_store_dup(h->store, &dup, NULL)) {
		rj_log_trim(dup, &h->life->id, &o, &report, NULL);
		h->life->trimmed += report.segments;
	}
	weather_spare(false);
	rj_store_close(dup);
}

/* ---- while one does something, others go on ---- */

static void others(void *arg)
{
	struct life *l = arg;
	struct host *h = &l->host[weather_rnd(HOSTS)];
	unsigned bad[2] = {l->net[0].bad, l->net[1].bad};
	int side, n;

	if (h == acting || l->quiet)
		return;
	if (!weather_rnd(4))
		l->net[weather_rnd(2)].bad = 50;
	/* it may have time for a whole change: two again, then alone */
	for (n = weather_rnd(4) ? 1 : 12; n && h->w; n--) {
		side = (int)weather_rnd(2);
		switch (weather_rnd(5)) {
		case 0:
			h->cut[side] = !h->cut[side];
			break;
		case 1:
			step_aside(h);
			break;
		case 2:
			append_and_nod(h, side);
			break;
		default:
			append(h);
		}
	}
	l->net[0].bad = bad[0];
	l->net[1].bad = bad[1];
}

/* No log is ever so. MAY_LACK: it is one that was given up, or was being caught
 * up over what had been trimmed. */
static bool grave(int rc, bool may_lack)
{
	return rc == -RJ_E_CORRUPT || rc == -RJ_E_FOREIGN ||
	       (rc == -RJ_E_GAP && !may_lack);
}

/* ---- recoveries ---- */

/* Did the last look at the two stand on --accept-loss alone? */
static bool loss_accepted(struct rj_store *s)
{
	const struct pair *p = (const struct pair *)s;
	int need = p->shared->need;
	uint32_t own = need ? RJ_SEG_F_ALONE_2 : RJ_SEG_F_ALONE_1;

	return p->looked && need != RJ_PAIR_BOTH && p->view[!need].away &&
	       (!(p->view[need].flags & own) || p->view[need].given_up);
}

/* *OLD: the volume has seen a later epoch than the log; unless *READ, nothing
 * was put. */
static int read_and_claim(struct host *h, bool accept_loss, bool *read,
	bool *old, struct rj_error *err)
{
	struct life *l = h->life;
	struct rj_log_claim_opts claim = {
		.retry_ms = 1,
		.min_epoch = l->mark_epoch,
		.after_loss = accept_loss};
	struct rj_log_read_opts o = {.retry_ms = 1};
	struct rj_log_summary sum = {0}, more = {0};
	bool holds = true;
	int rc;

	if (!accept_loss)
		o.floor = l->mark_floor;
	rc = rj_log_read(h->store, &l->id, &o, life_take, h, &sum, err);
	if (rc == -RJ_E_NOTFOUND)
		rc = 0;
	*read = !rc;
	*old = sum.tail.epoch < l->mark_epoch;
	if (!rc)
		rc = rj_log_claim(h->store, &l->id, &claim, &h->w, err);
	if (!rc)
		rc = rj_log_holds(h->store, &l->id, &sum.tail, h->w, 1,
			&holds, err);
	if (rc)
		return rc;
	if (holds && sum.tail.sequence)
		o.resume = &sum.tail;
	else
		memset(&h->seen, 0, sizeof(h->seen));
	rc = rj_log_read(h->store, &l->id, &o, life_take, h, &more, err);
	if (!rc && more.tail.sequence != rj_log_writer_tail(h->w)->sequence)
		rc = rj_fail(err, RJ_E_FENCED, "another took over");
	return rc;
}

/* As rjournald begins, or rjrecover: read, claim, read what came meanwhile. */
static bool recover(struct host *h, bool accept_loss)
{
	struct life *l = h->life;
	unsigned before = l->acks;
	struct rj_error err = {0};
	bool read, old;
	int rc;

	abort_kernel(h);
	l->recoveries++;
	memset(&h->seen, 0, sizeof(h->seen));
	h->store = life_open(h, accept_loss);
	acting = h;
	weather_meanwhile(others, l);
	rc = read_and_claim(h, accept_loss, &read, &old, &err);
	weather_meanwhile(NULL, NULL);
	if (rc)
		life_tell(h, accept_loss ? "recovery, accept loss" : "recovery", rc, &err);
	if (grave(rc, accept_loss || l->loss_since))
		life_fail(l, "recovery", err.msg);
	if (accept_loss && read && (old || loss_accepted(h->store))) {
		/* cut off, perhaps behind its fence: either may be the log */
		if (rc)
			memset(&h->seen, 0, sizeof(h->seen));
		life_give_up(h, rc ? l->mark_epoch + 1
				   : rj_log_writer_epoch(h->w));
	}
	if (rc) {
		l->refusals++;
		host_drop(h);
		return false;
	}
	h->mounted = true;
	h->epoch = h->since = rj_log_writer_epoch(h->w);
	h->acked = 0;
	life_tell(h, accept_loss ? "recovery, accept loss" : "recovery", 0, NULL);
	h->has = h->seen;
	life_judge(h, before, h->epoch, "recovery");
	l->mark_epoch = h->epoch;
	l->mark_floor = rj_log_writer_tail(h->w)->sequence;
	return true;
}

/* rjrecover -n */
static void look(struct host *h)
{
	struct life *l = h->life;
	struct rj_log_read_opts o = {.retry_ms = 1, .floor = l->mark_floor};
	struct rj_store *s = life_open(h, false);
	unsigned before = l->acks;
	struct rj_log_summary sum;
	struct rj_error err = {0};
	int rc;

	l->looks++;
	memset(&h->seen, 0, sizeof(h->seen));
	acting = NULL;
	weather_meanwhile(others, l);
	rc = rj_log_read(s, &l->id, &o, life_take, h, &sum, &err);
	weather_meanwhile(NULL, NULL);
	rj_store_close(s);
	if (grave(rc, l->loss_since))
		life_fail(l, "reader", err.msg);
	if (!rc)
		life_judge(h, before, 0, "reader");
}

/* Another worker in the place of the one that died: rj_load_claim_again(). */
static void take_over(struct host *h)
{
	struct life *l = h->life;
	struct rj_log_claim_opts claim = {
		.nonce = h->nonce, .continues = h->since, .retry_ms = 1};
	bool dead = !weather_rnd(8);
	struct rj_error err = {0};
	int rc;

	if (!h->store)
		h->store = life_open(h, false);
	acting = h;
	weather_meanwhile(dead ? dies : others, l);
	rc = rj_log_heir(h->store, &l->id, h->epoch, h->nonce, 1,
		&claim.heir_of, &err);
	if (!rc) {
		h->epoch = claim.min_epoch = claim.heir_of;
		seeded_bytes(NULL, h->nonce, sizeof(h->nonce));
		rc = rj_log_claim(h->store, &l->id, &claim, &h->w, &err);
	}
	weather_meanwhile(NULL, NULL);
	weather_silence(false);
	if (dead) {
		host_drop(h);
		return;
	}
	if (rc == -RJ_E_UNREACHABLE || rc == -RJ_E_BUSY)
		return;
	if (grave(rc, l->loss_since))
		life_fail(l, "takeover", err.msg);
	if (rc) {
		abort_kernel(h);
		return;
	}
	l->takeovers++;
	h->epoch = rj_log_writer_epoch(h->w);
	life_tell(h, "takeover", 0, NULL);
	if (rj_log_writer_tail(h->w)->sequence <= h->acked)
		life_fail(l, "takeover",
			"a segment was acknowledged, and is not there any more");
}

/* ---- lives ---- */

static void step(struct life *l)
{
	struct host *h = &l->host[weather_rnd(8) ? 0 : 1 + weather_rnd(HOSTS - 1)];
	int side = (int)weather_rnd(2), n;

	if (h->mounted && !h->w && weather_rnd(2)) {
		take_over(h);
		return;
	}
	switch (weather_rnd(18)) {
	case 0:
		if (weather_rnd(3))
			l->net[side].away = !l->net[side].away;
		else
			h->cut[side] = !h->cut[side];
		break;
	case 1:
		l->net[side].bad = weather_rnd(3) ? 0 : weather_rnd(40);
		break;
	case 2:
		life_deliver(l, side);
		break;
	case 3:
		recover(h, l->gives_up && !weather_rnd(6));
		break;
	case 4:
	case 5:
	case 6:
		if (h->w)
			step_aside(h);
		break;
	case 7:
		/* not both: doc/two-stores.md, "Open" */
		if (h->w)
			trim(h);
		break;
	case 8:
		look(h);
		break;
	case 9:
		if (h->w)
			append_and_die(h);
		break;
	default:
		for (n = 1 + (int)weather_rnd(3); h->w && n; n--)
			append(h);
	}
}

static void end(struct life *l)
{
	int i;

	life_calm(l);
	l->quiet = true;
	/* with both there it must succeed; what was racing takes one more */
	for (i = 0; !l->lost && i < 4 && !recover(&l->host[0], false); i++)
		;
	if (!l->lost && i == 4)
		life_fail(l, "both stores are there", "no recovery succeeds");
	if (l->lost)
		life_show(l);
	life_free(l);
}

static void add(struct life *sum, const struct life *l)
{
	sum->recoveries += l->recoveries;
	sum->refusals += l->refusals;
	sum->alone += l->alone;
	sum->acks += l->acks;
	sum->rejoined += l->rejoined;
	sum->trimmed += l->trimmed;
	sum->takeovers += l->takeovers;
	sum->looks += l->looks;
	sum->given_up += l->given_up;
}

static void test_lives(void)
{
	static struct life l, sum;
	const char *text = getenv("RJ_LIVES");
	unsigned long seed = rjtest_seed();
	unsigned lives = text ? (unsigned)atoi(text) : 2000, i, n;

	seeded_environ(weather_rnd);
	for (i = 0; i < lives && !l.lost; i++) {
		life_begin(&l, seed + i);
		recover(&l.host[0], false);
		for (n = 0; n < STEPS && !l.lost; n++)
			step(&l);
		end(&l);
		add(&sum, &l);
	}
	if (l.lost)
		printf("# RJ_SEED=%lu RJ_LIVES=1: %s\n", seed + i - 1, l.why);
	rj_environ_set(NULL);
	printf("# %u lives, %u recoveries (%u refused, %u gave something up), %u "
	       "takeovers, %u looks, %u acknowledged, %u of them alone, %u "
	       "times two again, %llu trimmed\n",
		i, sum.recoveries, sum.refusals, sum.given_up, sum.takeovers,
		sum.looks, sum.acks, sum.alone, sum.rejoined, sum.trimmed);
	CU_ASSERT_FALSE(l.lost);
	/* it was about something */
	CU_ASSERT_TRUE(l.lost || lives < 100 ||
		       (sum.alone && sum.rejoined && sum.refusals &&
			       sum.trimmed && sum.takeovers && sum.looks &&
			       sum.given_up));
}

static const struct rjtest tests[] = {
	RJTEST(test_lives),
};

int main(void)
{
	return RJTEST_RUN("two stores", tests);
}
