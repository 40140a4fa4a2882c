// SPDX-License-Identifier: GPL-2.0-or-later
#include "log/pairlife.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/seeded.h"
#include "store/pair.h"
#include "support/memstore.h"
#include "support/memtree.h"

void life_fail(struct life *l, const char *who, const char *why)
{
	if (!l->lost)
		snprintf(l->why, sizeof(l->why), "%s: %.200s", who, why);
	l->lost = true;
}

void life_tell(const struct host *h, const char *what, int rc,
	const struct rj_error *err)
{
	if (!getenv("RJ_VERBOSE"))
		return;
	printf("# host %d (%s, %s): %s: ", (int)(h - h->life->host),
		h->life->net[0].away || h->cut[0] ? "no 1" : "1",
		h->life->net[1].away || h->cut[1] ? "no 2" : "2", what);
	if (rc)
		printf("%s\n", err->msg);
	else
		printf("epoch %llu, segment %llu, %d needed\n",
			(unsigned long long)h->epoch,
			(unsigned long long)rj_log_writer_tail(h->w)->sequence,
			h->store ? rj_pair_need(h->store) : -1);
}

/* ---- the stores ---- */

/* A tree's weather is that of each of its calls. */
static enum memtree_fate tree_fate(void *arg, enum memtree_op op)
{
	static const enum memtree_fate fates[] = {
		[WEATHER_DONE] = MEMTREE_DONE,
		[WEATHER_FAILS] = MEMTREE_FAILS,
		[WEATHER_LOST] = MEMTREE_LOST,
		[WEATHER_LATE] = MEMTREE_LATE,
	};
	struct path *p = arg;

	return fates[weather_judge(p->net, p->cut)];
}

/* Without weather. */
static struct rj_store *inner(struct life *l, int side, struct path *path)
{
	struct rj_store *s = l->grove[side]
				     ? memtree_store(l->grove[side],
					       path ? tree_fate : NULL, path)
				     : memstore_open(l->shelf[side]);

	if (!s)
		exit(99);
	snprintf(s->url, sizeof(s->url), "mem:%d", side);
	return s;
}

static struct rj_store *way(struct host *h, int side)
{
	struct life *l = h->life;
	struct rj_store *s = inner(l, side, &h->path[side]);

	return l->grove[side] ? weather_open(&l->calm, NULL, s)
			      : weather_open(&l->net[side], &h->cut[side], s);
}

struct rj_store *life_open(struct host *h, bool accept_loss)
{
	const char *out = getenv("RJ_LEAVE_OUT");
	struct rj_pair_opts o = {
		.leave_out = out ? (unsigned)atoi(out) : 0,
		.store = {.accept_loss = accept_loss,
			.marked_epoch = h->life->mark_epoch,
			.floor = h->life->mark_floor},
	};
	struct rj_store *s = NULL;

	if (rj_pair_open(way(h, 0), way(h, 1), &o, &s, NULL))
		exit(99);
	snprintf(s->url, sizeof(s->url), "pair");
	return s;
}

void life_deliver(struct life *l, int side)
{
	unsigned n = l->grove[side] ? memgrove_late(l->grove[side]) : 0;

	if (n)
		memgrove_deliver(l->grove[side], weather_rnd(n));
	else
		weather_deliver(&l->net[side], false);
}

void life_begin(struct life *l, uint64_t seed)
{
	int i, k;

	memset(l, 0, sizeof(*l));
	weather_seed(seed);
	seeded_now_ns = 1000000000;
	seeded_bytes(NULL, l->id.volume_uuid, sizeof(l->id.volume_uuid));
	seeded_bytes(NULL, l->id.journal_uuid, sizeof(l->id.journal_uuid));
	l->gives_up = weather_rnd(2);
	for (i = 0; i < HOSTS; i++) {
		l->host[i].life = l;
		for (k = 0; k < 2; k++)
			l->host[i].path[k] = (struct path){
				&l->net[k], &l->host[i].cut[k]};
	}
	for (i = 0; i < 2; i++) {
		/* every fourth store is one of mode B */
		if (!weather_rnd(4))
			l->grove[i] = memgrove_new();
		else
			l->shelf[i] = memshelf_new();
		if (l->shelf[i]) {
			memshelf_spare(l->shelf[i]);
			l->net[i].late = memstore_open(l->shelf[i]);
		}
	}
}

void life_calm(struct life *l)
{
	int i, k;

	for (i = 0; i < 2; i++) {
		while (l->grove[i] && memgrove_late(l->grove[i]))
			life_deliver(l, i);
		weather_deliver(&l->net[i], true);
		l->net[i].away = false;
		l->net[i].bad = 0;
		for (k = 0; k < HOSTS; k++)
			l->host[k].cut[i] = false;
	}
}

void host_drop(struct host *h)
{
	rj_log_writer_free(h->w);
	rj_store_close(h->store);
	h->w = NULL;
	h->store = NULL;
}

void life_free(struct life *l)
{
	int i;

	for (i = 0; i < HOSTS; i++)
		host_drop(&l->host[i]);
	for (i = 0; i < 2; i++) {
		rj_store_close(l->net[i].late);
		memshelf_free(l->shelf[i]);
		memgrove_free(l->grove[i]);
	}
}

void life_show(struct life *l)
{
	struct rj_key key = {.kind = RJ_KEY_LOG};
	struct rj_buf line = {0}, seg = {0};
	struct rj_store *s;
	struct rj_seghdr h;
	uint64_t n;
	int i;

	memcpy(key.journal_uuid, l->id.journal_uuid, RJ_UUID_BYTES);
	for (i = 0; i < 2; i++) {
		s = inner(l, i, NULL);
		for (n = 1; n < 200; n++) {
			key.number = n;
			seg.len = 0;
			if (rj_store_get(s, &key, RJ_SEG_MAX_BYTES, &seg,
				    NULL) ||
				rj_seghdr_decode(seg.data, &h, NULL))
				continue;
			rj_buf_printf(&line, " %llu%s%s/e%llu/o%llu/%02x",
				(unsigned long long)n,
				h.kind == RJ_SEG_FENCE    ? "F"
				: h.kind == RJ_SEG_BRIDGE ? "B"
							 : "",
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
	printf("# the volume was marked in epoch %llu, floor %llu\n",
		(unsigned long long)l->mark_epoch,
		(unsigned long long)l->mark_floor);
	rj_buf_free(&line);
	rj_buf_free(&seg);
}

/* ---- what was acknowledged ---- */

int life_take(void *arg, const struct rj_segment *seg, struct rj_error *err)
{
	struct host *h = arg;
	uint64_t id;

	if (!seg->block_count)
		return 0;
	memcpy(&id, seg->blocks, sizeof(id));
	if (id >= MAX_ID)
		return rj_fail(err, RJ_E_CORRUPT, "no such segment was written");
	if (seg->header.flags & RJ_SEG_F_BASE)
		h->seen = h->life->what[id].base;
	ids_add(&h->seen, id);
	return 0;
}

void life_acked(struct host *h)
{
	struct life *l = h->life;

	l->what[h->id].when = ++l->acks;
	l->what[h->id].at = h->sequence;
	l->what[h->id].epoch = rj_log_writer_epoch(h->w);
	/* who goes on with what was given up, and does not know it yet */
	l->what[h->id].given_up = h->since < l->loss_since;
	h->acked = rj_log_writer_tail(h->w)->sequence;
	life_tell(h, "acknowledged", 0, NULL);
	if (rj_pair_need(h->store) != RJ_PAIR_BOTH)
		l->alone++;
}

void life_judge(struct host *h, unsigned before, uint64_t below,
	const char *who)
{
	struct life *l = h->life;
	char why[120];
	uint64_t i;

	for (i = 0; i < l->next_id; i++) {
		if (!l->what[i].when || l->what[i].given_up ||
			ids_has(&h->seen, i) ||
			(l->what[i].when > before &&
				l->what[i].epoch >= below))
			continue;
		snprintf(why, sizeof(why),
			"segment %llu of epoch %llu was acknowledged and is "
			"not in the log",
			(unsigned long long)l->what[i].at,
			(unsigned long long)l->what[i].epoch);
		life_fail(l, who, why);
	}
}

void life_give_up(struct host *h, uint64_t since)
{
	struct life *l = h->life;
	uint64_t i;
	int k;

	for (i = 0; i < l->next_id; i++)
		if (!ids_has(&h->seen, i))
			l->what[i].given_up = true;
	l->loss_since = since;
	l->given_up++;
	/* the volume is here now: no other host's worker follows another */
	for (k = 0; k < HOSTS; k++)
		if (&l->host[k] != h)
			l->host[k].mounted = false;
}
