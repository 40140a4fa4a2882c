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

static bool has_limits(const struct account *x)
{
	return x->max_bytes || x->max_objects || x->max_volumes;
}

/* Memory for the owners that V may have among A, beside those it has. */
static int owner_space(struct volume *v, const struct accounts *a)
{
	size_t most = 0, i;
	unsigned *owners;

	for (i = 0; a && i < a->count; i++)
		most += has_limits(&a->list[i]);
	if (most <= v->owner_space)
		return 0;
	owners = reallocarray(v->owners, most, sizeof(*owners));
	if (!owners)
		return -1;
	v->owners = owners;
	v->owner_space = (unsigned)most;
	return 0;
}

/* Which accounts' limits V counts for. */
static void find_owners(const struct usage *u, struct volume *v)
{
	const struct accounts *a = u->accounts;
	size_t i;

	v->owner_count = 0;
	for (i = 0; a && i < a->count; i++)
		if (has_limits(&a->list[i]) &&
			account_covers(&a->list[i], v->name))
			v->owners[v->owner_count++] = (unsigned)i;
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
	if (owner_space(v, u->accounts)) {
		free(v);
		return NULL;
	}
	find_owners(u, v);
	memmove(list + at + 1, list + at, (u->count++ - at) * sizeof(*list));
	list[at] = v;
	return v;
}

bool usage_has_objects(const struct volume *v)
{
	return v->objects || v->reserved_objects;
}

static void forget(struct usage *u, struct volume *v)
{
	size_t at = place_of(u, v->name, v->uuid);

	memmove(u->list + at, u->list + at + 1,
		(--u->count - at) * sizeof(*u->list));
	free(v->owners);
	free(v);
}

/* What is added to V (modulo 2^64), or reserved there. */
struct amount {
	uint64_t bytes, stored, objects;
};

static void tell_owners(struct usage *u, const struct volume *v,
	const struct amount *d, uint64_t volumes)
{
	unsigned i;

	for (i = 0; i < v->owner_count; i++) {
		struct account *x = &u->accounts->list[v->owners[i]];

		x->used_bytes += d->stored;
		x->used_objects += d->objects;
		x->used_volumes += volumes;
	}
}

/* V is gone after it, if nothing is left in it. */
static void change(struct usage *u, struct volume *v, const struct amount *d,
	bool reserve)
{
	bool was = usage_has_objects(v);

	if (reserve) {
		v->reserved_stored += d->stored;
		v->reserved_objects += d->objects;
	} else {
		v->bytes += d->bytes;
		v->stored += d->stored;
		v->objects += d->objects;
		u->bytes += d->bytes;
		u->objects += d->objects;
	}
	tell_owners(u, v, d, (uint64_t)usage_has_objects(v) - (uint64_t)was);
	if (!usage_has_objects(v))
		forget(u, v);
}

void usage_reserve(struct usage *u, struct volume *v, uint64_t stored)
{
	change(u, v, &(struct amount){.stored = stored, .objects = 1}, true);
}

void usage_release(struct usage *u, struct volume *v, uint64_t stored)
{
	change(u, v,
		&(struct amount){.stored = -stored, .objects = (uint64_t)-1},
		true);
}

static struct amount of_object(uint32_t length)
{
	return (struct amount){length, rec_total(length), 1};
}

static void on_change(void *arg, const struct okey *okey,
	enum store_change what, uint32_t length)
{
	struct usage *u = arg;
	struct volume *v = usage_volume(u, okey);
	struct amount d = of_object(length);

	if (!v) /* no memory: better a wrong number than no server */
		return;
	if (what == STORE_ADDED) {
		v->puts++;
		v->put_bytes += length;
		v->rate[u->at] += length;
	} else {
		d = (struct amount){-d.bytes, -d.stored, -d.objects};
	}
	change(u, v, &d, false);
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
	struct amount d = of_object(e->length);

	if (v)
		change(c->u, v, &d, false);
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

int usage_prepare(struct usage *u, const struct accounts *a, struct rj_error *err)
{
	size_t i;

	for (i = 0; i < u->count; i++)
		if (owner_space(u->list[i], a))
			return rj_fail(err, RJ_E_NOMEM, "out of memory");
	return 0;
}

void usage_bind(struct usage *u, struct accounts *accounts)
{
	size_t i;

	for (i = 0; i < accounts->count; i++)
		accounts->list[i].used_bytes = accounts->list[i].used_objects =
			accounts->list[i].used_volumes = 0;
	u->accounts = accounts;
	for (i = 0; i < u->count; i++) {
		struct volume *v = u->list[i];

		find_owners(u, v);
		tell_owners(u, v,
			&(struct amount){
				.stored = v->stored + v->reserved_stored,
				.objects = v->objects + v->reserved_objects},
			1);
	}
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
