// SPDX-License-Identifier: GPL-2.0-or-later
#include "support/memstore.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct object {
	struct object *next; /* by number, ascending */
	struct rj_key key;
	size_t len;
	uint8_t data[];
};

struct memshelf {
	pthread_mutex_t lock;
	struct object *first;
};

struct memstore {
	struct rj_store base;
	struct memshelf *shelf;
};

static struct memshelf *lock(struct rj_store *s)
{
	struct memshelf *shelf = ((struct memstore *)s)->shelf;

	pthread_mutex_lock(&shelf->lock);
	return shelf;
}

static bool same_dir(const struct rj_key *a, const struct rj_key *b)
{
	return a->kind == b->kind &&
	       rj_uuid_equal(a->journal_uuid, b->journal_uuid);
}

/* Where KEY is, or where it would be put in. */
static struct object **find(struct memshelf *shelf, const struct rj_key *key)
{
	struct object **at = &shelf->first;

	while (*at && ((*at)->key.number < key->number ||
			      ((*at)->key.number == key->number &&
				      !same_dir(&(*at)->key, key))))
		at = &(*at)->next;
	return at;
}

static bool is_at(struct object **at, const struct rj_key *key)
{
	return *at && (*at)->key.number == key->number &&
	       same_dir(&(*at)->key, key);
}

static int mem_put_new(struct rj_store *s, const struct rj_key *key,
	const void *data, size_t len, struct rj_error *err)
{
	struct memshelf *shelf = lock(s);
	struct object **at = find(shelf, key), *o;
	int rc = 0;

	if (is_at(at, key)) {
		rc = rj_fail(err, RJ_E_EXISTS, "%s: object exists", s->url);
		goto out;
	}
	o = malloc(sizeof(*o) + len);
	if (!o) {
		rc = rj_fail(err, RJ_E_NOMEM, "%s: out of memory", s->url);
		goto out;
	}
	o->key = *key;
	o->len = len;
	memcpy(o->data, data, len);
	o->next = *at;
	*at = o;
out:
	pthread_mutex_unlock(&shelf->lock);
	return rc;
}

static int mem_get(struct rj_store *s, const struct rj_key *key, size_t max,
	struct rj_buf *out, struct rj_error *err)
{
	struct memshelf *shelf = lock(s);
	struct object **at = find(shelf, key);
	int rc;

	if (!is_at(at, key))
		rc = rj_fail(err, RJ_E_NOTFOUND, "%s: no such object", s->url);
	else if ((*at)->len > max)
		rc = rj_fail(err, RJ_E_CORRUPT, "%s: too long", s->url);
	else if (rj_buf_append(out, (*at)->data, (*at)->len))
		rc = rj_fail(err, RJ_E_NOMEM, "%s: out of memory", s->url);
	else
		rc = 0;
	pthread_mutex_unlock(&shelf->lock);
	return rc;
}

static int mem_list(struct rj_store *s, const struct rj_key *dir,
	uint64_t after, rj_store_list_fn fn, void *arg, struct rj_error *err)
{
	struct memshelf *shelf = lock(s);
	struct object *o;
	int rc = 0;

	for (o = shelf->first; o && !rc; o = o->next)
		if (same_dir(&o->key, dir) && o->key.number > after)
			rc = fn(arg, o->key.number, o->len);
	pthread_mutex_unlock(&shelf->lock);
	return rc;
}

static int mem_remove(
	struct rj_store *s, const struct rj_key *key, struct rj_error *err)
{
	struct memshelf *shelf = lock(s);
	struct object **at = find(shelf, key), *o;
	int rc = 0;

	if (is_at(at, key)) {
		o = *at;
		*at = o->next;
		free(o);
	} else {
		rc = rj_fail(err, RJ_E_NOTFOUND, "%s: no such object", s->url);
	}
	pthread_mutex_unlock(&shelf->lock);
	return rc;
}

static void mem_close(struct rj_store *s)
{
	free(s);
}

static const struct rj_store_ops mem_ops = {
	.put_new = mem_put_new,
	.get = mem_get,
	.list = mem_list,
	.remove = mem_remove,
	.close = mem_close,
};

struct memshelf *memshelf_new(void)
{
	struct memshelf *shelf = calloc(1, sizeof(*shelf));

	if (shelf)
		pthread_mutex_init(&shelf->lock, NULL);
	return shelf;
}

void memshelf_free(struct memshelf *shelf)
{
	struct object *o;

	if (!shelf)
		return;
	while ((o = shelf->first)) {
		shelf->first = o->next;
		free(o);
	}
	pthread_mutex_destroy(&shelf->lock);
	free(shelf);
}

struct rj_store *memstore_open(struct memshelf *shelf)
{
	struct memstore *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->base.ops = &mem_ops;
	m->base.caps = (struct rj_store_caps){
		.put_new = true,
		.list_consistent = true,
		.durability = RJ_RECEIVED,
	};
	snprintf(m->base.url, sizeof(m->base.url), "mem://shelf");
	m->shelf = shelf;
	return &m->base;
}
