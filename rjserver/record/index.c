// SPDX-License-Identifier: GPL-2.0-or-later
/* The index from keys to places in the log. */
#include "index.h"

#include <stdlib.h>
#include <string.h>

#include "util/buf.h"
#include "util/crc32c.h"
#include "util/error.h"

#define CHUNK_MOST  256 /* entries */
#define CHUNK_FIRST 8	/* most directories of epochs have no more */

/* Some entries of a directory, ascending. A log grows at the end of the last one
 * and is trimmed at the begin of the first. */
struct chunk {
	struct idx_entry *base;
	uint16_t head, count, cap; /* count entries from base + head on */
};

/* Chunks with ascending numbers, none of them empty: to insert or remove moves
 * the entries of one chunk, and at times the chunks, but not all entries. */
struct dir {
	struct chunk *chunks;
	size_t count, cap;
};

struct journal {
	struct journal *next; /* in its bucket */
	char name[NAME_BYTES];
	uint8_t uuid[RJ_UUID_BYTES];
	struct dir dirs[RJ_KEY_KINDS];
};

struct index {
	struct journal **buckets;
	size_t bucket_count, journal_count;
};

struct index *idx_new(void)
{
	struct index *idx = calloc(1, sizeof(*idx));

	if (!idx)
		return NULL;
	idx->bucket_count = 64;
	idx->buckets = calloc(idx->bucket_count, sizeof(*idx->buckets));
	if (!idx->buckets) {
		free(idx);
		return NULL;
	}
	return idx;
}

static void free_dir(struct dir *d)
{
	size_t i;

	for (i = 0; i < d->count; i++)
		free(d->chunks[i].base);
	free(d->chunks);
}

static void free_journal(struct journal *j)
{
	int kind;

	for (kind = 0; kind < RJ_KEY_KINDS; kind++)
		free_dir(&j->dirs[kind]);
	free(j);
}

void idx_free(struct index *idx)
{
	struct journal *j, *next;
	size_t i;

	if (!idx)
		return;
	for (i = 0; i < idx->bucket_count; i++) {
		for (j = idx->buckets[i]; j; j = next) {
			next = j->next;
			free_journal(j);
		}
	}
	free(idx->buckets);
	free(idx);
}

static size_t hash(const char *name, const uint8_t *uuid)
{
	uint32_t h = rj_crc32c(~0u, uuid, RJ_UUID_BYTES);

	return rj_crc32c(h, name, strlen(name));
}

static struct journal *find_journal(
	struct index *idx, const char *name, const uint8_t *uuid)
{
	struct journal *j;

	j = idx->buckets[hash(name, uuid) % idx->bucket_count];
	while (j && (!rj_uuid_equal(j->uuid, uuid) || strcmp(j->name, name)))
		j = j->next;
	return j;
}

/* Double the buckets; when memory is short, chains only get longer. */
static void grow_buckets(struct index *idx)
{
	size_t i, to, count = idx->bucket_count * 2;
	struct journal **buckets, *j, *next;

	buckets = calloc(count, sizeof(*buckets));
	if (!buckets)
		return;
	for (i = 0; i < idx->bucket_count; i++) {
		for (j = idx->buckets[i]; j; j = next) {
			next = j->next;
			to = hash(j->name, j->uuid) % count;
			j->next = buckets[to];
			buckets[to] = j;
		}
	}
	free(idx->buckets);
	idx->buckets = buckets;
	idx->bucket_count = count;
}

static struct journal *make_journal(
	struct index *idx, const char *name, const uint8_t *uuid)
{
	struct journal *j = calloc(1, sizeof(*j));
	size_t to;

	if (!j)
		return NULL;
	if (idx->journal_count >= idx->bucket_count)
		grow_buckets(idx);
	memcpy(j->name, name, strnlen(name, NAME_BYTES - 1));
	memcpy(j->uuid, uuid, RJ_UUID_BYTES);
	to = hash(j->name, uuid) % idx->bucket_count;
	j->next = idx->buckets[to];
	idx->buckets[to] = j;
	idx->journal_count++;
	return j;
}

static void drop_if_empty(struct index *idx, struct journal *j)
{
	struct journal **p;
	int kind;

	for (kind = 0; kind < RJ_KEY_KINDS; kind++)
		if (j->dirs[kind].count)
			return;
	p = &idx->buckets[hash(j->name, j->uuid) % idx->bucket_count];
	while (*p != j)
		p = &(*p)->next;
	*p = j->next;
	free_journal(j);
	idx->journal_count--;
}

static struct dir *dir_of(struct index *idx, const struct okey *okey)
{
	struct journal *j =
		find_journal(idx, okey->name, okey->key.journal_uuid);

	return j ? &j->dirs[okey->key.kind] : NULL;
}

static struct idx_entry *entry(const struct chunk *c, size_t at)
{
	return c->base + c->head + at;
}

/* The chunk where NUMBER is, or would be: the last one that begins with it or
 * below, else the first. D is not empty. */
static size_t chunk_of(const struct dir *d, uint64_t number)
{
	size_t lo = 0, hi = d->count, mid;

	if (entry(&d->chunks[hi - 1], 0)->number <= number)
		return hi - 1;
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (entry(&d->chunks[mid], 0)->number <= number)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? lo - 1 : 0;
}

/* How many entries of C have a number of at most NUMBER. */
static size_t upper_bound(const struct chunk *c, uint64_t number)
{
	size_t lo = 0, hi = c->count, mid;

	if (entry(c, hi - 1)->number <= number)
		return hi;
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (entry(c, mid)->number <= number)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct idx_entry *idx_find(struct index *idx, const struct okey *okey)
{
	const struct dir *d = dir_of(idx, okey);
	struct idx_entry *e;
	struct chunk *c;
	size_t at;

	if (!d || !d->count)
		return NULL;
	c = &d->chunks[chunk_of(d, okey->key.number)];
	at = upper_bound(c, okey->key.number);
	e = at ? entry(c, at - 1) : NULL;
	return e && e->number == okey->key.number ? e : NULL;
}

/* A new chunk at place AT of D, with space for CAP entries. */
static struct chunk *new_chunk(struct dir *d, size_t at, uint16_t cap)
{
	struct idx_entry *base = calloc(cap, sizeof(*base));
	size_t want = d->cap ? d->cap * 2 : 1;
	struct chunk *chunks;

	if (base && d->count == d->cap) {
		chunks = reallocarray(d->chunks, want, sizeof(*chunks));
		if (chunks) {
			d->chunks = chunks;
			d->cap = want;
		}
	}
	if (!base || d->count == d->cap) {
		free(base);
		return NULL;
	}
	memmove(d->chunks + at + 1, d->chunks + at,
		(d->count - at) * sizeof(*chunks));
	d->count++;
	d->chunks[at] = (struct chunk){.base = base, .cap = cap};
	return &d->chunks[at];
}

static void drop_chunk(struct dir *d, size_t at)
{
	free(d->chunks[at].base);
	d->count--;
	memmove(d->chunks + at, d->chunks + at + 1,
		(d->count - at) * sizeof(*d->chunks));
}

/* Space for one more entry after those of C, which has fewer than CHUNK_MOST. */
static int chunk_reserve(struct chunk *c)
{
	struct idx_entry *base;
	uint16_t cap = c->cap < CHUNK_MOST / 2 ? c->cap * 2 : CHUNK_MOST;

	if (c->head + c->count < c->cap)
		return 0;
	if (c->head) {
		memmove(c->base, entry(c, 0), c->count * sizeof(*base));
		c->head = 0;
		return 0;
	}
	base = reallocarray(c->base, cap, sizeof(*base));
	if (!base)
		return -RJ_E_NOMEM;
	c->base = base;
	c->cap = cap;
	return 0;
}

/* The chunk for NUMBER, with space for it. NULL: no memory. */
static struct chunk *make_space(struct dir *d, uint64_t number)
{
	size_t at = d->count ? chunk_of(d, number) : 0;
	struct chunk *c = d->count ? &d->chunks[at] : NULL, *half;
	uint16_t keep;

	if (!c)
		return new_chunk(d, 0, CHUNK_FIRST);
	if (c->count < CHUNK_MOST)
		return chunk_reserve(c) ? NULL : c;
	/* the end of a log: what is full stays full */
	if (at == d->count - 1 && upper_bound(c, number) == c->count)
		return new_chunk(d, at + 1, CHUNK_MOST);
	half = new_chunk(d, at + 1, CHUNK_MOST);
	if (!half)
		return NULL;
	c = half - 1;
	keep = c->count / 2;
	half->count = (uint16_t)(c->count - keep);
	memcpy(half->base, entry(c, keep), half->count * sizeof(*half->base));
	c->count = keep;
	c = number < half->base->number ? c : half;
	return chunk_reserve(c) ? NULL : c;
}

struct idx_entry *idx_insert(struct index *idx, const struct okey *okey)
{
	const uint8_t *uuid = okey->key.journal_uuid;
	struct journal *j = find_journal(idx, okey->name, uuid);
	struct idx_entry *e;
	struct chunk *c;
	size_t at;

	if (j && idx_find(idx, okey))
		return NULL;
	if (!j)
		j = make_journal(idx, okey->name, uuid);
	if (!j)
		return NULL;
	c = make_space(&j->dirs[okey->key.kind], okey->key.number);
	if (!c) {
		drop_if_empty(idx, j);
		return NULL;
	}
	at = c->count ? upper_bound(c, okey->key.number) : 0;
	e = entry(c, at);
	memmove(e + 1, e, (c->count - at) * sizeof(*e));
	c->count++;
	*e = (struct idx_entry){.number = okey->key.number};
	return e;
}

void idx_remove(struct index *idx, const struct okey *okey)
{
	struct idx_entry *e = idx_find(idx, okey);
	struct journal *j;
	struct chunk *c;
	struct dir *d;
	size_t at;

	if (!e)
		return;
	j = find_journal(idx, okey->name, okey->key.journal_uuid);
	d = &j->dirs[okey->key.kind];
	c = &d->chunks[chunk_of(d, okey->key.number)];
	at = (size_t)(e - entry(c, 0));
	c->count--;
	if (at == 0)
		c->head++;
	else
		memmove(e, e + 1, (c->count - at) * sizeof(*e));
	if (!c->count)
		drop_chunk(d, (size_t)(c - d->chunks));
	drop_if_empty(idx, j);
}

struct idx_entry *idx_next(
	struct index *idx, const struct okey *okey, uint64_t after)
{
	const struct dir *d = dir_of(idx, okey);
	struct chunk *c;
	size_t i, at;

	if (!d || !d->count)
		return NULL;
	i = chunk_of(d, after);
	c = &d->chunks[i];
	at = upper_bound(c, after);
	if (at < c->count)
		return entry(c, at);
	return i + 1 < d->count ? entry(c + 1, 0) : NULL;
}

struct idx_entry *idx_last(struct index *idx, const struct okey *okey)
{
	const struct dir *d = dir_of(idx, okey);
	const struct chunk *c = d && d->count ? &d->chunks[d->count - 1] : NULL;

	return c ? entry(c, c->count - 1u) : NULL;
}

void idx_remove_below(
	struct index *idx, const struct okey *okey, uint64_t below)
{
	struct journal *j =
		find_journal(idx, okey->name, okey->key.journal_uuid);
	struct dir *d = j ? &j->dirs[okey->key.kind] : NULL;
	size_t i, to = 0;

	for (i = 0; d && i < d->count; i++) {
		struct chunk *c = &d->chunks[i], old = *c;
		uint16_t k, keep = old.count;

		if (entry(c, 0)->number >= below) {
			d->chunks[to++] = old;
			continue;
		}
		/* those that stay move up to the ones after them */
		for (k = old.count; k > 0; k--) {
			struct idx_entry *e = entry(c, k - 1u);

			if (e->number >= below || e->state != IDX_DELETING)
				*entry(c, --keep) = *e;
		}
		old.head += keep;
		old.count -= keep;
		if (!old.count)
			free(old.base);
		else
			d->chunks[to++] = old;
	}
	if (!d)
		return;
	d->count = to;
	drop_if_empty(idx, j);
}

static int by_uuid(const void *a, const void *b)
{
	return memcmp(a, b, RJ_UUID_BYTES);
}

int idx_journals(struct index *idx, const char *name,
	int (*fn)(void *arg, const uint8_t *uuid), void *arg)
{
	struct rj_buf uuids = {0};
	struct journal *j;
	size_t i;
	int rc = 0;

	for (i = 0; i < idx->bucket_count && !rc; i++)
		for (j = idx->buckets[i]; j && !rc; j = j->next)
			if (!strcmp(j->name, name))
				rc = rj_buf_append(
					&uuids, j->uuid, RJ_UUID_BYTES);
	if (!rc && uuids.len)
		qsort(uuids.data, uuids.len / RJ_UUID_BYTES, RJ_UUID_BYTES,
			by_uuid);
	for (i = 0; i < uuids.len && !rc; i += RJ_UUID_BYTES)
		rc = fn(arg, uuids.data + i);
	rj_buf_free(&uuids);
	return rc;
}

static void each_of(const struct chunk *c, struct okey *okey,
	void (*fn)(
		void *arg, const struct okey *okey, const struct idx_entry *e),
	void *arg)
{
	size_t i;

	for (i = 0; i < c->count; i++) {
		okey->key.number = entry(c, i)->number;
		fn(arg, okey, entry(c, i));
	}
}

void idx_each(struct index *idx,
	void (*fn)(
		void *arg, const struct okey *okey, const struct idx_entry *e),
	void *arg)
{
	struct journal *j;
	struct okey okey;
	size_t i, k;
	int kind;

	for (i = 0; i < idx->bucket_count; i++) {
		for (j = idx->buckets[i]; j; j = j->next) {
			memcpy(okey.name, j->name, NAME_BYTES);
			memcpy(okey.key.journal_uuid, j->uuid, RJ_UUID_BYTES);
			for (kind = 0; kind < RJ_KEY_KINDS; kind++) {
				struct dir *d = &j->dirs[kind];

				okey.key.kind = (enum rj_key_kind)kind;
				for (k = 0; k < d->count; k++)
					each_of(&d->chunks[k], &okey, fn, arg);
			}
		}
	}
}
