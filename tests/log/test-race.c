// SPDX-License-Identifier: GPL-2.0-or-later
/* Several who want to write the same log at once. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "log/common.h"
#include "util/environ.h"

#define MOST 64

/* $RJ_RACERS and $RJ_ROUNDS: for a long run, or a short one */
static int racer_count(void)
{
	const char *s = getenv("RJ_RACERS");
	int n = s ? atoi(s) : 8;

	return n < 2 || n > MOST ? 8 : n;
}

static int round_count(int usual)
{
	const char *s = getenv("RJ_ROUNDS");

	return s && atoi(s) > 0 ? atoi(s) : usual;
}

#define THREADS racers_now
static int racers_now;

struct racer {
	pthread_t thread;
	pthread_barrier_t *start;
	const struct rj_log_id *id;
	struct rj_store *store;
	struct rj_log_writer *w;
	struct rj_error err;
	int rc;
};

/*
 * How long a racer bears a store that does not answer: $RJ_PATIENCE, in seconds.
 * Many at once are more than some servers take.
 */
static int patience_ms(void)
{
	const char *s = getenv("RJ_PATIENCE");

	return s && atoi(s) > 0 ? atoi(s) * 1000 : 5000;
}

static void *claim(void *arg)
{
	struct rj_log_claim_opts o = {.retry_ms = patience_ms()};
	struct racer *r = arg;

	pthread_barrier_wait(r->start);
	r->rc = rj_log_claim(r->store, r->id, &o, &r->w, &r->err);
	return NULL;
}

static void race(struct t_log *t, struct racer *racers)
{
	pthread_barrier_t start;
	int i;

	pthread_barrier_init(&start, NULL, (unsigned)THREADS);
	for (i = 0; i < THREADS; i++) {
		racers[i].start = &start;
		racers[i].id = &t->id;
		if (!racers[i].store)
			racers[i].store = t_store();
		if (pthread_create(&racers[i].thread, NULL, claim, &racers[i]))
			exit(99);
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(racers[i].thread, NULL);
	pthread_barrier_destroy(&start);
}

/* Ready for the next round. A connection is kept: a login costs some servers
 * more than the claim; one that did not do well is made anew. */
static void rest(struct racer *r)
{
	rj_log_writer_free(r->w);
	r->w = NULL;
	if (!r->rc || r->rc == -RJ_E_FENCED || r->rc == -RJ_E_BUSY)
		return;
	rj_store_close(r->store);
	r->store = NULL;
}

static int append(struct t_log *t, struct rj_log_writer *w, uint8_t fill,
	struct rj_error *err)
{
	struct rj_seg_run run = {fill % T_BLOCKS, 1};
	struct rj_log_append a = {
		.body = {.block_size = T_BLOCK, .journal_blocks = T_BLOCKS},
		.runs = &run,
		.run_count = 1,
		.ring = t->ring->data,
	};

	return rj_log_append(w, &a, err);
}

/* As append(), but one without an answer is tried again. */
static int append_patiently(struct t_log *t, struct rj_log_writer *w,
	uint8_t fill, struct rj_error *err)
{
	int64_t until = rj_monotonic_ns() + patience_ms() * 1000000LL;
	int rc = append(t, w, fill, err);

	while (rc == -RJ_E_UNREACHABLE && rj_monotonic_ns() < until)
		rc = rj_log_retry(w, err);
	return rc;
}

/* What came of the rounds. A round has none when the last to claim got no
 * answer: nobody before that one may append either. */
struct tally {
	int one, several, none;
	int busy;   /* claims that found no free epoch */
	int silent; /* claims and appends that got no answer */
};

/* No racer's claim failed otherwise than by its rules; no two have an epoch. */
static uint64_t look_at_claims(
	struct racer *r, int round, struct tally *all, struct tally *now)
{
	uint64_t top = 0, epoch;
	int i, k;

	for (i = 0; i < THREADS; i++) {
		if (r[i].rc) {
			/* fenced before its own fence was in; or, with more
			 * racers than a claim has tries, without an epoch */
			now->busy += r[i].rc == -RJ_E_BUSY;
			now->silent += r[i].rc == -RJ_E_UNREACHABLE;
			CU_ASSERT_TRUE(r[i].rc == -RJ_E_FENCED ||
				       r[i].rc == -RJ_E_UNREACHABLE ||
				       (r[i].rc == -RJ_E_BUSY && THREADS > 16));
			if (r[i].rc != -RJ_E_FENCED && r[i].rc != -RJ_E_BUSY)
				printf("# round %d, claim: %s\n", round,
					r[i].err.msg);
			continue;
		}
		epoch = rj_log_writer_epoch(r[i].w);
		for (k = 0; k < i; k++)
			CU_ASSERT_TRUE(
				r[k].rc || rj_log_writer_epoch(r[k].w) != epoch);
		if (epoch > top)
			top = epoch;
	}
	all->busy += now->busy;
	return top;
}

static void look_at_appends(struct t_log *t, struct racer *r, int round,
	uint64_t top, struct tally *all, struct tally *now)
{
	int i, winners = 0;

	for (i = 0; i < THREADS; i++) {
		if (r[i].rc)
			continue;
		r[i].rc = append_patiently(
			t, r[i].w, (uint8_t)i, &r[i].err);
		CU_ASSERT_TRUE(!r[i].rc || r[i].rc == -RJ_E_FENCED ||
			       r[i].rc == -RJ_E_UNREACHABLE);
		now->silent += r[i].rc == -RJ_E_UNREACHABLE;
		if (r[i].rc && r[i].rc != -RJ_E_FENCED)
			printf("# round %d, append: %s\n", round, r[i].err.msg);
		if (r[i].rc)
			continue;
		winners++;
		CU_ASSERT_EQUAL(rj_log_writer_epoch(r[i].w), top);
	}
	if (winners != 1)
		printf("# round %d: %d winners, %d got no answer\n", round,
			winners, now->silent);
	all->one += winners == 1;
	all->several += winners > 1;
	all->none += !winners;
	all->silent += now->silent;
}

/*
 * ROUNDS on one log. Afterwards all have an epoch of their own who were not told
 * that they have none; an answer that was lost costs one more.
 */
static void race_for_a_log(struct racer *r, int from, int rounds,
	struct tally *all)
{
	struct rj_log_read_opts o = {.retry_ms = patience_ms()};
	struct tally sum = {0}, now;
	struct t_log t;
	uint64_t top;
	int round, i;

	t_log_begin(&t);
	for (round = from; round < from + rounds; round++) {
		now = (struct tally){0};
		race(&t, r);
		top = look_at_claims(r, round, &sum, &now);
		look_at_appends(&t, r, round, top, &sum, &now);
		for (i = 0; i < THREADS; i++)
			rest(&r[i]);
	}
	T_WORKS(&t, t_read(&t, &o));
	CU_ASSERT_TRUE(t.sum.epochs_claimed + (uint64_t)sum.busy +
			       (uint64_t)sum.silent >=
		       (uint64_t)rounds * (uint64_t)THREADS);
	t_log_end(&t);
	all->one += sum.one;
	all->several += sum.several;
	all->none += sum.none;
	all->busy += sum.busy;
	all->silent += sum.silent;
}

/* A list of epochs gets longer with each claim, and each claim lists them. */
#define ROUNDS_OF_A_LOG 10

static void one_of_eight_claimers_can_append(void)
{
	static struct racer r[MOST];
	int rounds = round_count(10), from, n, i;
	struct tally all = {0};

	for (from = 0; from < rounds; from += n) {
		n = rounds - from;
		if (n > ROUNDS_OF_A_LOG)
			n = ROUNDS_OF_A_LOG;
		race_for_a_log(r, from, n, &all);
		/* so far; a run that is cut off has shown that */
		printf("# %d racers, %d rounds: one winner in %d, several in "
		       "%d, none in %d; %d claims without an epoch, %d "
		       "unanswered\n",
			THREADS, from + n, all.one, all.several, all.none,
			all.busy, all.silent);
		fflush(stdout);
	}
	for (i = 0; i < THREADS; i++)
		rj_store_close(r[i].store);
	CU_ASSERT_EQUAL(all.several, 0);
	CU_ASSERT_EQUAL(all.one, rounds);
}

struct runner {
	pthread_t thread;
	struct t_log *t;
	struct rj_log_writer *w;
	uint64_t last; /* acknowledged */
	bool stop;     /* nobody will fence it */
	struct rj_error err;
	int rc;
};

static void *run(void *arg)
{
	struct runner *r = arg;

	do {
		r->rc = append_patiently(r->t, r->w, 1, &r->err);
		if (!r->rc)
			r->last = rj_log_writer_tail(r->w)->sequence;
	} while (!r->rc && !__atomic_load_n(&r->stop, __ATOMIC_RELAXED));
	return NULL;
}

/* A writer at full speed is overtaken again and again: what it was told is
 * acknowledged lies before the new writer's fence. */
static void a_running_writer_is_overtaken(void)
{
	struct rj_log_claim_opts o = {.retry_ms = patience_ms()};
	struct rj_store *stores[2] = {t_store(), t_store()};
	struct rj_log_writer *next = NULL;
	struct runner r = {0};
	struct t_log t;
	struct rj_log_read_opts ro = {.retry_ms = patience_ms()};
	int rounds = round_count(20), round, rc;

	t_log_begin(&t);
	r.t = &t;
	CU_ASSERT_EQUAL_FATAL(
		rj_log_claim(stores[0], &t.id, &o, &r.w, &t.err), 0);
	for (round = 0; round < rounds; round++) {
		if (pthread_create(&r.thread, NULL, run, &r))
			exit(99);
		rc = rj_log_claim(
			stores[(round + 1) % 2], &t.id, &o, &next, &t.err);
		T_WORKS(&t, rc);
		if (rc)
			__atomic_store_n(&r.stop, true, __ATOMIC_RELAXED);
		pthread_join(r.thread, NULL);
		CU_ASSERT_EQUAL(r.rc, -RJ_E_FENCED);
		CU_ASSERT_PTR_NOT_NULL_FATAL(next);
		CU_ASSERT_TRUE(r.last < rj_log_writer_tail(next)->sequence);
		rj_log_writer_free(r.w);
		r.w = next;
	}
	rj_log_writer_free(r.w);
	T_WORKS(&t, t_read(&t, &ro));
	CU_ASSERT_EQUAL(t.sum.epochs_claimed, (uint64_t)rounds + 1);
	t_log_end(&t);
	rj_store_close(stores[0]);
	rj_store_close(stores[1]);
}

/* ---- the same races, step by step ---- */

/*
 * A claimer's store that lets another act at chosen moments. RIVAL_CLAIMS: at
 * the claimer's first put of a segment somebody else has just claimed.
 * Otherwise WRITER appends before each such put, as one does that is always a
 * put ahead; only right after a segment that showed while the claimer waited
 * it is the slower one.
 */
static struct {
	struct rj_store_ops ops;
	const struct rj_store_ops *real;
	struct t_log *t;
	struct rj_store *other;
	struct rj_log_writer *writer, *rival;
	bool rival_claims;
	unsigned puts, waits;
	bool slower;
} scene;

static int scene_put(struct rj_store *s, const struct rj_key *key,
	const void *data, size_t len, struct rj_error *err)
{
	struct rj_error ignored;

	if (key->kind == RJ_KEY_LOG) {
		scene.puts++;
		scene.waits = 0;
		if (scene.rival_claims && scene.puts == 1)
			rj_log_claim(scene.other, &scene.t->id, NULL,
				&scene.rival, &ignored);
		if (scene.writer && !scene.slower)
			append(scene.t, scene.writer, 1, &ignored);
	}
	return scene.real->put_new(s, key, data, len, err);
}

static int scene_get(struct rj_store *s, const struct rj_key *key, size_t max,
	struct rj_buf *out, struct rj_error *err)
{
	struct rj_error ignored;
	int rc = scene.real->get(s, key, max, out, err);

	/* the second look: it waits; and however long the append takes, it sees that */
	if (rc == -RJ_E_NOTFOUND && scene.writer && ++scene.waits == 2) {
		append(scene.t, scene.writer, 1, &ignored);
		scene.slower = true;
		rc = scene.real->get(s, key, max, out, err);
	}
	return rc;
}

static void set_scene(struct t_log *t)
{
	memset(&scene, 0, sizeof(scene));
	scene.t = t;
	scene.other = t_store();
	scene.real = t->raw->ops;
	scene.ops = *scene.real;
	scene.ops.put_new = scene_put;
	scene.ops.get = scene_get;
	t->raw->ops = &scene.ops;
}

static void end_scene(struct t_log *t)
{
	t->raw->ops = scene.real;
	rj_log_writer_free(scene.writer);
	rj_log_writer_free(scene.rival);
	rj_store_close(scene.other);
}

static void a_newer_claimer_was_first(void)
{
	struct rj_log_writer *w = NULL;
	struct t_log t;

	t_log_begin(&t);
	t_log_fill(&t, 3);
	set_scene(&t);
	scene.rival_claims = true;
	T_FAILS(&t, rj_log_claim(t.raw, &t.id, NULL, &w, &t.err), RJ_E_FENCED,
		"another writer took over with epoch 3 (ours is 2)");
	CU_ASSERT_PTR_NULL(w);
	CU_ASSERT_PTR_NOT_NULL_FATAL(scene.rival);
	T_WORKS(&t, append(&t, scene.rival, 5, &t.err));
	T_WORKS(&t, t_read(&t, NULL));
	end_scene(&t);
	t_log_end(&t);
}

static void a_writer_that_is_always_a_put_ahead(void)
{
	struct rj_log_writer *w = NULL;
	struct t_log t;

	t_log_begin(&t);
	set_scene(&t);
	CU_ASSERT_EQUAL_FATAL(
		rj_log_claim(scene.other, &t.id, NULL, &scene.writer, &t.err),
		0);
	T_WORKS(&t, rj_log_claim(t.raw, &t.id, NULL, &w, &t.err));
	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	CU_ASSERT_TRUE(scene.puts < 10);
	T_FAILS(&t, append(&t, scene.writer, 5, &t.err), RJ_E_FENCED,
		"epoch 2");
	T_WORKS(&t, append(&t, w, 5, &t.err));
	T_WORKS(&t, t_read(&t, NULL));
	rj_log_writer_free(w);
	end_scene(&t);
	t_log_end(&t);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(one_of_eight_claimers_can_append),
		RJTEST(a_running_writer_is_overtaken),
		RJTEST(a_newer_claimer_was_first),
		RJTEST(a_writer_that_is_always_a_put_ahead),
	};
	int status;

	racers_now = racer_count();
	status = RJTEST_RUN("race", tests);

	t_store_done();
	return status;
}
