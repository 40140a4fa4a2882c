// SPDX-License-Identifier: GPL-2.0-or-later
#include "reserve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 4096 /* a batch, be it one record, ends on this */

/* Bytes, from when the disk became full until it has space. Claims are small. */
static const struct {
	uint64_t volume, taker;
} most[] = {
	[URGENCY_NONE] = {0, 0},
	[URGENCY_PROGRESS] = {2u << 20, 8u << 20},
	[URGENCY_BASE] = {512u << 10, 2u << 20},
	[URGENCY_CLAIM] = {256u << 10, 1u << 20},
};

struct taker {
	char name[NAME_BYTES];
	uint64_t taken[URGENCY_CLAIM + 1];
};

uint64_t reserve_share(enum urgency urgency, uint64_t bytes)
{
	return urgency == URGENCY_CLAIM	     ? bytes
	       : urgency == URGENCY_BASE     ? bytes - bytes / 8
	       : urgency == URGENCY_PROGRESS ? bytes - bytes / 4
					     : 0;
}

void reserve_free(struct reserve *r)
{
	free(r->takers);
	r->takers = NULL;
	r->count = 0;
}

void reserve_look(struct reserve *r, bool full)
{
	if (full && !r->full)
		r->times++;
	if (!full)
		reserve_free(r);
	r->full = full;
}

static struct taker *find(const struct reserve *r, const char *who)
{
	size_t i;

	for (i = 0; i < r->count; i++)
		if (!strcmp(r->takers[i].name, who))
			return &r->takers[i];
	return NULL;
}

/* A quarter of SHARE at most, but never less than one volume may have. */
static uint64_t taker_most(enum urgency urgency, uint64_t share)
{
	uint64_t n = share / 4;

	return n < most[urgency].volume	 ? most[urgency].volume
	       : n > most[urgency].taker ? most[urgency].taker
					 : n;
}

bool reserve_allows(const struct reserve *r, const char *who,
	const struct volume *v, enum urgency urgency, uint64_t bytes,
	uint64_t share)
{
	const struct taker *t = find(r, who);
	uint64_t by_volume = v->times == r->times ? v->beyond[urgency] : 0;

	bytes = align_up(bytes, BLOCK);
	return by_volume + bytes <= most[urgency].volume &&
	       (t ? t->taken[urgency] : 0) + bytes <=
		       taker_most(urgency, share);
}

/* No memory for it: the volume's bound holds nevertheless. */
static struct taker *find_or_add(struct reserve *r, const char *who)
{
	struct taker *t = find(r, who), *all;

	if (t)
		return t;
	all = reallocarray(r->takers, r->count + 1, sizeof(*all));
	if (!all)
		return NULL;
	r->takers = all;
	t = &all[r->count++];
	*t = (struct taker){0};
	snprintf(t->name, sizeof(t->name), "%s", who);
	return t;
}

void reserve_take(struct reserve *r, const char *who, struct volume *v,
	enum urgency urgency, uint64_t bytes)
{
	struct taker *t = find_or_add(r, who);

	bytes = align_up(bytes, BLOCK);
	if (v->times != r->times)
		memset(v->beyond, 0, sizeof(v->beyond));
	v->times = r->times;
	v->beyond[urgency] += bytes;
	if (t)
		t->taken[urgency] += bytes;
}

static void less(uint64_t *n, uint64_t by)
{
	*n -= by < *n ? by : *n;
}

void reserve_give(struct reserve *r, const char *who, struct volume *v,
	enum urgency urgency, uint64_t bytes)
{
	struct taker *t = find(r, who);

	bytes = align_up(bytes, BLOCK);
	if (v->times == r->times)
		less(&v->beyond[urgency], bytes);
	if (t)
		less(&t->taken[urgency], bytes);
}
