// SPDX-License-Identifier: GPL-2.0-or-later
#include "usage.h"

#include <stdlib.h>
#include <string.h>

static int compare(const struct volume *v, const char *name, const uint8_t *uuid)
{
	int c = strcmp(v->name, name);

	return c ? c : memcmp(v->uuid, uuid, sizeof(v->uuid));
}

/* The first that is not below. */
static size_t place_of(
	const struct usage *u, const char *name, const uint8_t *uuid)
{
	size_t low = 0, high = u->count, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (compare(u->list[mid], name, uuid) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct volume *usage_find(const struct usage *u, const struct okey *okey)
{
	size_t at = place_of(u, okey->name, okey->key.journal_uuid);

	if (at < u->count &&
		!compare(u->list[at], okey->name, okey->key.journal_uuid))
		return u->list[at];
	return NULL;
}

/* Which accounts' limits V counts for. */
static int find_owners(struct usage *u, struct volume *v)
{
	const struct accounts *a = u->accounts;
	unsigned *owners;
	size_t i;

	v->owner_count = 0;
	for (i = 0; a && i < a->count; i++) {
		if ((!a->list[i].max_bytes && !a->list[i].max_volumes) ||
			!account_covers(&a->list[i], v->name))
			continue;
		owners = realloc(v->owners,
			(v->owner_count + 1) * sizeof(*owners));
		if (!owners)
			return -1;
		v->owners = owners;
		owners[v->owner_count++] = (unsigned)i;
	}
	return 0;
}

struct volume *usage_volume(struct usage *u, const struct okey *okey)
{
	size_t at = place_of(u, okey->name, okey->key.journal_uuid);
	struct volume **list, *v;

	if (at < u->count &&
		!compare(u->list[at], okey->name, okey->key.journal_uuid))
		return u->list[at];
	v = calloc(1, sizeof(*v));
	list = realloc(u->list, (u->count + 1) * sizeof(*list));
	if (list)
		u->list = list;
	if (!v || !list) {
		free(v);
		return NULL;
	}
	memcpy(v->name, okey->name, sizeof(v->name));
	memcpy(v->uuid, okey->key.journal_uuid, sizeof(v->uuid));
	if (find_owners(u, v)) {
		free(v->owners);
		free(v);
		return NULL;
	}
	memmove(list + at + 1, list + at, (u->count++ - at) * sizeof(*list));
	list[at] = v;
	return v;
}

static bool in_use(const struct volume *v)
{
	return v->objects || v->reserved_objects;
}

/* V changes by this much (modulo 2^64); WAS: it was in use. */
static void tell_owners(
	struct usage *u, struct volume *v, uint64_t bytes, bool was)
{
	unsigned i;

	for (i = 0; i < v->owner_count; i++) {
		struct account *x = &u->accounts->list[v->owners[i]];

		x->used_bytes += bytes;
		x->used_volumes += (uint64_t)in_use(v) - (uint64_t)was;
	}
}

static void change(struct usage *u, struct volume *v, bool add, uint32_t length)
{
	uint64_t sign = add ? 1 : (uint64_t)-1;
	bool was = in_use(v);

	v->objects += sign;
	v->bytes += sign * length;
	u->objects += sign;
	u->bytes += sign * length;
	tell_owners(u, v, sign * length, was);
}

void usage_reserve(struct usage *u, struct volume *v, uint64_t len)
{
	bool was = in_use(v);

	v->reserved_bytes += len;
	v->reserved_objects++;
	tell_owners(u, v, len, was);
}

void usage_release(struct usage *u, struct volume *v, uint64_t len)
{
	bool was = in_use(v);

	v->reserved_bytes -= len;
	v->reserved_objects--;
	tell_owners(u, v, -len, was);
}

int usage_admit(const struct account *x, const struct volume *v, uint64_t len,
	struct rj_error *err)
{
	if (x->max_bytes && (x->used_bytes > x->max_bytes ||
				    len > x->max_bytes - x->used_bytes))
		return rj_fail(err, RJ_E_NOSPACE,
			"the limit of %llu bytes of account %s is reached",
			(unsigned long long)x->max_bytes, x->name);
	if (x->max_volumes && !in_use(v) && x->used_volumes >= x->max_volumes)
		return rj_fail(err, RJ_E_NOSPACE,
			"the limit of %llu volumes of account %s is reached",
			(unsigned long long)x->max_volumes, x->name);
	return 0;
}

static void on_change(
	void *arg, const struct okey *okey, bool added, uint32_t length)
{
	struct usage *u = arg;
	struct volume *v = usage_volume(u, okey);

	if (!v) /* no memory: better a wrong number than no server */
		return;
	change(u, v, added, length);
	if (added) {
		v->puts++;
		v->put_bytes += length;
		v->rate[u->at] += length;
	}
}

struct counting {
	struct usage *u;
	bool failed;
};

static void count_one(
	void *arg, const struct okey *okey, const struct idx_entry *e)
{
	struct counting *c = arg;
	struct volume *v = usage_volume(c->u, okey);

	if (v)
		change(c->u, v, true, e->length);
	else
		c->failed = true;
}

int usage_start(struct usage *u, struct store *store, struct rj_error *err)
{
	struct counting c = {u, false};

	idx_each(store->index, count_one, &c);
	if (c.failed)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	store->watch = on_change;
	store->watch_arg = u;
	return 0;
}

int usage_bind(struct usage *u, struct accounts *accounts, struct rj_error *err)
{
	size_t i;

	for (i = 0; i < accounts->count; i++)
		accounts->list[i].used_bytes = accounts->list[i].used_volumes =
			0;
	u->accounts = accounts;
	for (i = 0; i < u->count; i++) {
		struct volume *v = u->list[i];

		if (find_owners(u, v))
			return rj_fail(err, RJ_E_NOMEM, "out of memory");
		tell_owners(u, v, v->bytes + v->reserved_bytes, false);
	}
	return 0;
}

void usage_tick(struct usage *u)
{
	size_t i;

	u->at = (u->at + 1) % USAGE_SAMPLES;
	for (i = 0; i < u->count; i++)
		u->list[i]->rate[u->at] = 0;
}

void usage_free(struct usage *u)
{
	size_t i;

	for (i = 0; i < u->count; i++) {
		free(u->list[i]->owners);
		free(u->list[i]);
	}
	free(u->list);
	*u = (struct usage){0};
}
