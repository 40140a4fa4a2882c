// SPDX-License-Identifier: GPL-2.0-or-later
#include "store_index.h"

#include <stdlib.h>
#include <string.h>

#include "util/buf.h"
#include "util/crc32c.h"
#include "util/error.h"

/* A sorted array with free room at both ends: a log grows at the end and is
 * trimmed at the front, so that neither moves the entries between. */
struct dir {
	struct idx_entry *base;
	size_t head, count, cap;
};

struct journal {
	struct journal *next; /* in its bucket */
	char name[NAME_BYTES];
	uint8_t uuid[RJ_UUID_BYTES];
	struct dir dirs[2]; /* by enum rj_key_kind */
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

void idx_free(struct index *idx)
{
	struct journal *j, *next;
	size_t i;

	if (!idx)
		return;
	for (i = 0; i < idx->bucket_count; i++) {
		for (j = idx->buckets[i]; j; j = next) {
			next = j->next;
			free(j->dirs[0].base);
			free(j->dirs[1].base);
			free(j);
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

	if (j->dirs[0].count || j->dirs[1].count)
		return;
	p = &idx->buckets[hash(j->name, j->uuid) % idx->bucket_count];
	while (*p != j)
		p = &(*p)->next;
	*p = j->next;
	free(j->dirs[0].base);
	free(j->dirs[1].base);
	free(j);
	idx->journal_count--;
}

/* Entry AT of D, or its end; NULL, which nothing may be added to, where there
 * never was one. */
static struct idx_entry *entry(const struct dir *d, size_t at)
{
	return d->base ? d->base + d->head + at : NULL;
}

/* How many entries have a number of at most NUMBER. */
static size_t upper_bound(const struct dir *d, uint64_t number)
{
	const struct idx_entry *e = entry(d, 0);
	size_t lo = 0, hi = d->count, mid;

	if (!hi || e[hi - 1].number <= number)
		return hi;
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (e[mid].number <= number)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct idx_entry *idx_find(struct index *idx, const struct okey *okey)
{
	struct journal *j;
	struct dir *d;
	size_t at;

	j = find_journal(idx, okey->name, okey->key.journal_uuid);
	if (!j)
		return NULL;
	d = &j->dirs[okey->key.kind];
	at = upper_bound(d, okey->key.number);
	if (!at || d->base[d->head + at - 1].number != okey->key.number)
		return NULL;
	return &d->base[d->head + at - 1];
}

/* Room for one more entry at the end. */
static int dir_reserve(struct dir *d)
{
	struct idx_entry *base;
	size_t cap;

	if (d->head + d->count < d->cap)
		return 0;
	if (d->head > d->cap / 2) {
		memmove(d->base, d->base + d->head, d->count * sizeof(*base));
		d->head = 0;
		return 0;
	}
	cap = d->cap ? d->cap * 2 : 16;
	base = reallocarray(d->base, cap, sizeof(*base));
	if (!base)
		return -RJ_E_NOMEM;
	d->base = base;
	d->cap = cap;
	return 0;
}

struct idx_entry *idx_insert(struct index *idx, const struct okey *okey)
{
	const uint8_t *uuid = okey->key.journal_uuid;
	struct journal *j = find_journal(idx, okey->name, uuid);
	struct idx_entry *e;
	struct dir *d;
	size_t at;

	if (!j)
		j = make_journal(idx, okey->name, uuid);
	if (!j)
		return NULL;
	d = &j->dirs[okey->key.kind];
	if (dir_reserve(d)) {
		drop_if_empty(idx, j);
		return NULL;
	}
	at = upper_bound(d, okey->key.number);
	e = entry(d, at);
	if (at && e[-1].number == okey->key.number)
		return NULL;
	memmove(e + 1, e, (d->count - at) * sizeof(*e));
	d->count++;
	*e = (struct idx_entry){.number = okey->key.number};
	return e;
}

void idx_remove(struct index *idx, const struct okey *okey)
{
	struct idx_entry *e = idx_find(idx, okey);
	struct journal *j;
	struct dir *d;
	size_t at;

	if (!e)
		return;
	j = find_journal(idx, okey->name, okey->key.journal_uuid);
	d = &j->dirs[okey->key.kind];
	at = (size_t)(e - entry(d, 0));
	d->count--;
	if (at == 0)
		d->head++;
	else
		memmove(e, e + 1, (d->count - at) * sizeof(*e));
	drop_if_empty(idx, j);
}

struct idx_entry *idx_below(struct index *idx, const struct okey *okey,
	uint64_t below, size_t *count)
{
	struct journal *j;
	struct dir *d;

	*count = 0;
	j = find_journal(idx, okey->name, okey->key.journal_uuid);
	if (!j || !below)
		return NULL;
	d = &j->dirs[okey->key.kind];
	*count = upper_bound(d, below - 1);
	return entry(d, 0);
}

void idx_remove_below(
	struct index *idx, const struct okey *okey, uint64_t below)
{
	struct journal *j;
	struct idx_entry *e;
	size_t count, i, keep;
	struct dir *d;

	e = idx_below(idx, okey, below, &count);
	if (!count)
		return;
	j = find_journal(idx, okey->name, okey->key.journal_uuid);
	d = &j->dirs[okey->key.kind];
	/* those that stay move up to the ones behind them */
	for (i = keep = count; i > 0; i--)
		if (e[i - 1].state != IDX_DELETING)
			e[--keep] = e[i - 1];
	d->head += keep;
	d->count -= keep;
	drop_if_empty(idx, j);
}

const struct idx_entry *idx_list(struct index *idx, const struct okey *okey,
	uint64_t after, size_t *count)
{
	struct journal *j;
	struct dir *d;
	size_t at;

	*count = 0;
	j = find_journal(idx, okey->name, okey->key.journal_uuid);
	if (!j)
		return NULL;
	d = &j->dirs[okey->key.kind];
	at = upper_bound(d, after);
	*count = d->count - at;
	return entry(d, at);
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
			for (kind = 0; kind < 2; kind++) {
				struct dir *d = &j->dirs[kind];

				okey.key.kind = (enum rj_key_kind)kind;
				for (k = 0; k < d->count; k++) {
					struct idx_entry *e =
						&d->base[d->head + k];

					okey.key.number = e->number;
					fn(arg, &okey, e);
				}
			}
		}
	}
}
