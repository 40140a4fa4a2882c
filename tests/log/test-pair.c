// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two stores, random lives: stores that go away and come back, answers that are
 * lost, puts that arrive late, writers that crash or sleep on, recoveries with
 * both stores or with one. Whatever was acknowledged is in the log that a
 * recovery reads, or the recovery refuses. $RJ_LEAVE_OUT leaves out a rule
 * (enum rj_pair_rule), $RJ_LIVES says how many; a life that fails prints its
 * seed, and $RJ_SEED with RJ_LIVES=1 repeats it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/common.h"
#include "log/seeded.h"
#include "log/trim.h"
#include "log/weather.h"
#include "store/pair.h"
#include "support/memstore.h"
#include "support/memtree.h"
#include "util/environ.h"

#define STEPS   120
#define WRITERS 2
#define MAX_ID  1024

struct writer {
	bool *cut; /* from which store it is cut off */
	struct rj_store *store;
	struct rj_log_writer *w;
	uint64_t id; /* of the pending segment */
	uint64_t sequence;
	bool base;
};

struct life {
	struct memshelf *shelf[2];
	struct memgrove *grove[2];
	struct weather net[2];
	struct rj_log_id id;
	struct writer writer[WRITERS];
	bool cut[WRITERS][2];
	uint64_t next_id;
	uint64_t at[MAX_ID]; /* segment that holds it, if ACKED */
	bool acked[MAX_ID], seen[MAX_ID];
	unsigned recoveries, refusals, alone, rejoined, acks;
	unsigned long long trimmed;
	bool lost;
	char why[256];
};


static struct rj_store *inner(struct life *l, int side)
{
	struct rj_store *s = l->grove[side]
				     ? memtree_store(l->grove[side], NULL, NULL)
				     : memstore_open(l->shelf[side]);

	if (!s)
		exit(99);
	snprintf(s->url, sizeof(s->url), "mem:%d", side);
	return s;
}

static struct rj_store *open_pair(struct life *l, const bool *cut)
{
	const char *out = getenv("RJ_LEAVE_OUT");
	struct rj_pair_opts o = {
		.leave_out = out ? (unsigned)atoi(out) : 0};
	struct rj_store *s = NULL;

	if (rj_pair_open(weather_open(&l->net[0], &cut[0], inner(l, 0)),
		    weather_open(&l->net[1], &cut[1], inner(l, 1)), &o, &s, NULL))
		exit(99);
	snprintf(s->url, sizeof(s->url), "pair");
	return s;
}

static int take(void *arg, const struct rj_segment *seg, struct rj_error *err)
{
	struct life *l = arg;
	uint64_t id;

	if (!seg->block_count)
		return 0;
	memcpy(&id, seg->blocks, sizeof(id));
	if (id < MAX_ID)
		l->seen[id] = true;
	return 0;
}

/* All that was acknowledged, and that the log's last base did not replace. */
static void judge(struct life *l, uint64_t start, const char *who)
{
	uint64_t i;

	for (i = 0; i < l->next_id; i++) {
		if (!l->acked[i] || l->at[i] < start || l->seen[i])
			continue;
		l->lost = true;
		snprintf(l->why, sizeof(l->why),
			"%s: segment %llu was acknowledged and is not in the "
			"log",
			who, (unsigned long long)l->at[i]);
	}
}

static void drop(struct writer *w)
{
	rj_log_writer_free(w->w);
	rj_store_close(w->store);
	*w = (struct writer){.cut = w->cut};
}

/* As rjournald begins, or rjrecover: read, claim, read what came meanwhile. */
static bool recover(struct life *l, struct writer *w)
{
	struct rj_log_claim_opts claim = {.retry_ms = 1};
	struct rj_log_read_opts o = {.retry_ms = 1};
	struct rj_log_summary sum = {0}, more = {0};
	struct rj_error err = {0};
	uint64_t start;
	bool holds = true;
	int rc;

	drop(w);
	l->recoveries++;
	memset(l->seen, 0, sizeof(l->seen));
	w->store = open_pair(l, w->cut);
	rc = rj_log_read(w->store, &l->id, &o, take, l, &sum, &err);
	if (rc == -RJ_E_NOTFOUND)
		rc = 0;
	start = sum.start;
	if (!rc)
		rc = rj_log_claim(w->store, &l->id, &claim, &w->w, &err);
	if (!rc)
		rc = rj_log_holds(
			w->store, &l->id, &sum.tail, 1, &holds, &err);
	if (!rc) {
		if (holds && sum.tail.sequence)
			o.resume = &sum.tail;
		else
			memset(l->seen, 0, sizeof(l->seen));
		rc = rj_log_read(w->store, &l->id, &o, take, l, &more, &err);
		if (!o.resume)
			start = more.start;
	}
	if (!rc && more.tail.sequence != rj_log_writer_tail(w->w)->sequence)
		rc = rj_fail(&err, RJ_E_FENCED, "another took over");
	if (rc == -RJ_E_CORRUPT || rc == -RJ_E_GAP || rc == -RJ_E_FOREIGN) {
		l->lost = true;
		snprintf(l->why, sizeof(l->why), "recovery: %.200s", err.msg);
	}
	if (rc) {
		l->refusals++;
		drop(w);
		return false;
	}
	judge(l, start, "recovery");
	return true;
}

static void acked(struct life *l, const struct writer *w)
{
	l->acks++;
	l->acked[w->id] = true;
	l->at[w->id] = w->sequence;
	if (rj_pair_need(w->store) != RJ_PAIR_BOTH)
		l->alone++;
}

static void append(struct life *l, struct writer *w)
{
	uint8_t ring[T_BLOCK * T_BLOCKS] = {0};
	struct rj_seg_run run = {.block = 3, .count = 1};
	struct rj_log_append a = {
		.body = {.block_size = T_BLOCK, .journal_blocks = T_BLOCKS},
		.runs = &run,
		.run_count = 1,
		.ring = ring,
		.base = rj_log_writer_tail(w->w)->oldest <= 1 ||
			!weather_rnd(20),
	};
	int need = rj_pair_need(w->store), rc;

	if (rj_log_pending(w->w)) {
		rc = rj_log_retry(w->w, NULL);
	} else if (l->next_id == MAX_ID) {
		return;
	} else {
		w->id = l->next_id++;
		w->sequence = rj_log_writer_tail(w->w)->sequence + 1;
		memcpy(ring + 3 * T_BLOCK, &w->id, sizeof(w->id));
		rc = rj_log_append(w->w, &a, NULL);
	}
	l->rejoined += need != RJ_PAIR_BOTH &&
		       rj_pair_need(w->store) == RJ_PAIR_BOTH;
	if (!rc)
		acked(l, w);
	else if (rc != -RJ_E_UNREACHABLE)
		drop(w); /* its kernel aborts */
}

static void trim(struct life *l, struct writer *w)
{
	struct rj_log_trim_opts o = {
		.below = rj_log_writer_tail(w->w)->oldest, .retry_ms = 1};
	struct rj_log_trim_report report;
	struct rj_store *dup = NULL;

	if (rj_log_pending(w->w))
		return;
	weather_spare(true);
	if (!rj_store_dup(w->store, &dup, NULL)) {
		rj_log_trim(dup, &l->id, &o, &report, NULL);
		l->trimmed += report.segments;
	}
	weather_spare(false);
	rj_store_close(dup);
}

/* Another host begins; the first one does not know yet. */
static void sleep_on(struct life *l)
{
	bool *cut = l->writer[1].cut;

	l->writer[1] = l->writer[0];
	l->writer[0] = (struct writer){.cut = cut};
}

/* While one recovers, the writer that it takes over from goes on. */
static void old_writer(void *arg)
{
	struct life *l = arg;
	struct writer *w = &l->writer[1];
	int side, n;

	/* it may have time for a whole change: two again, then alone */
	for (n = weather_rnd(4) ? 1 : 12; n && w->w; n--) {
		side = (int)weather_rnd(2);
		switch (weather_rnd(4)) {
		case 0:
			w->cut[side] = !w->cut[side];
			break;
		case 1:
			weather_spare(true);
			rj_pair_step(w->store);
			weather_spare(false);
			break;
		default:
			append(l, w);
		}
	}
}

static void step(struct life *l)
{
	struct writer *w = &l->writer[weather_rnd(8) ? 0 : 1];
	int side = (int)weather_rnd(2), n;

	switch (weather_rnd(16)) {
	case 0:
		if (weather_rnd(3))
			l->net[side].away = !l->net[side].away;
		else if (w->cut)
			w->cut[side] = !w->cut[side];
		break;
	case 1:
		l->net[side].bad = weather_rnd(3) ? 0 : weather_rnd(40);
		break;
	case 2:
		weather_deliver(&l->net[side], false);
		break;
	case 3: /* a new writer; the old one may sleep on */
		if (l->writer[0].w && !weather_rnd(4)) {
			drop(&l->writer[1]);
			sleep_on(l);
		}
		weather_meanwhile(old_writer, l);
		recover(l, &l->writer[0]);
		weather_meanwhile(NULL, NULL);
		break;
	case 4:
	case 5:
	case 6:
		weather_spare(true);
		if (w->w)
			rj_pair_step(w->store);
		weather_spare(false);
		break;
	case 7:
		if (w->w)
			trim(l, w);
		break;
	default:
		for (n = 1 + (int)weather_rnd(3); w->w && n; n--)
			append(l, w);
	}
}

static void begin(struct life *l, uint64_t seed)
{
	int i;

	memset(l, 0, sizeof(*l));
	weather_seed(seed);
	seeded_now_ns = 1000000000;
	seeded_bytes(NULL, l->id.volume_uuid, sizeof(l->id.volume_uuid));
	seeded_bytes(NULL, l->id.journal_uuid, sizeof(l->id.journal_uuid));
	for (i = 0; i < WRITERS; i++)
		l->writer[i].cut = l->cut[i];
	for (i = 0; i < 2; i++) {
		/* every fourth store is one of mode B */
		if (!weather_rnd(4))
			l->grove[i] = memgrove_new();
		else
			l->shelf[i] = memshelf_new();
		if (l->shelf[i])
			memshelf_spare(l->shelf[i]);
		l->net[i].late = l->shelf[i] ? memstore_open(l->shelf[i])
					     : inner(l, i);
	}
}

/* For whoever has to find out: what the two hold. */
static void show(struct life *l)
{
	struct rj_key key = {.kind = RJ_KEY_LOG};
	struct rj_buf line = {0}, seg = {0};
	struct rj_store *s;
	struct rj_seghdr h;
	uint64_t n;
	int i;

	memcpy(key.journal_uuid, l->id.journal_uuid, RJ_UUID_BYTES);
	for (i = 0; i < 2; i++) {
		s = inner(l, i);
		for (n = 1; n < 200; n++) {
			key.number = n;
			seg.len = 0;
			if (rj_store_get(s, &key, RJ_SEG_MAX_BYTES, &seg,
				    NULL) ||
				rj_seghdr_decode(seg.data, &h, NULL))
				continue;
			rj_buf_printf(&line, " %llu%s%s/e%llu/o%llu/%02x",
				(unsigned long long)n,
				h.kind == RJ_SEG_FENCE ? "F" : "",
				h.flags & RJ_SEG_F_ALONE_1   ? "a"
				: h.flags & RJ_SEG_F_ALONE_2 ? "b"
							     : "",
				(unsigned long long)h.epoch,
				(unsigned long long)h.oldest, h.seal[0]);
		}
		printf("# store %d (%s)%s:%.*s\n", i + 1,
			l->grove[i] ? "mode B" : "mode A",
			l->net[i].away ? " away" : "", (int)line.len,
			(char *)line.data);
		line.len = 0;
		rj_store_close(s);
	}
	rj_buf_free(&line);
	rj_buf_free(&seg);
}

static void end(struct life *l)
{
	int i;

	for (i = 0; i < 2; i++) {
		weather_deliver(&l->net[i], true);
		l->net[i].away = false;
		l->net[i].bad = 0;
		l->cut[0][i] = l->cut[1][i] = false;
	}
	/* with both there it must succeed; what was racing takes one more */
	for (i = 0; !l->lost && i < 4 && !recover(l, &l->writer[0]); i++)
		;
	if (!l->lost && i == 4) {
		l->lost = true;
		snprintf(l->why, sizeof(l->why),
			"both stores are there, and no recovery succeeds");
	}
	if (l->lost)
		show(l);
	for (i = 0; i < WRITERS; i++)
		drop(&l->writer[i]);
	for (i = 0; i < 2; i++) {
		rj_store_close(l->net[i].late);
		memshelf_free(l->shelf[i]);
		memgrove_free(l->grove[i]);
	}
}

static void test_lives(void)
{
	static struct life l;
	const char *text = getenv("RJ_LIVES");
	unsigned long seed = rjtest_seed();
	unsigned lives = text ? (unsigned)atoi(text) : 2000, i, n, bad = 0;
	unsigned long long recoveries = 0, refusals = 0, alone = 0, acks = 0,
			   rejoined = 0, trimmed = 0;

	seeded_environ(weather_rnd);
	for (i = 0; i < lives && !bad; i++) {
		begin(&l, seed + i);
		recover(&l, &l.writer[0]);
		for (n = 0; n < STEPS && !l.lost; n++)
			step(&l);
		end(&l);
		recoveries += l.recoveries;
		refusals += l.refusals;
		alone += l.alone;
		acks += l.acks;
		rejoined += l.rejoined;
		trimmed += l.trimmed;
		if (l.lost) {
			bad++;
			printf("# RJ_SEED=%lu RJ_LIVES=1: %s\n", seed + i,
				l.why);
		}
	}
	rj_environ_set(NULL);
	printf("# %u lives, %llu recoveries (%llu refused), %llu acknowledged, "
	       "%llu of them alone, %llu times two again, %llu trimmed\n",
		i, recoveries, refusals, acks, alone, rejoined, trimmed);
	CU_ASSERT_EQUAL(bad, 0);
	/* it was about something */
	CU_ASSERT_TRUE(lives < 100 || (alone && rejoined && refusals &&
						 trimmed));
}

static const struct rjtest tests[] = {
	RJTEST(test_lives),
};

int main(void)
{
	return RJTEST_RUN("two stores", tests);
}
