// SPDX-License-Identifier: GPL-2.0-or-later
#include "support/memtree.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/tree/mkdir-view.h"

struct thing {
	struct thing *next;
	char folder[RJ_TREE_FOLDER];
	char name[RJ_TREE_NAME]; /* "" : the folder itself */
	bool make;               /* in the queue: a make */
	size_t len;
	uint8_t data[];
};

struct memgrove {
	pthread_mutex_t lock;
	struct thing *first; /* the newest one first */
	struct thing *late;
};

struct memtree {
	struct rj_tree base;
	struct memgrove *grove;
	memtree_judge judge;
	void *arg;
};

static struct memtree *memtree_of(struct rj_tree *t)
{
	return (struct memtree *)t;
}

static struct thing *new_thing(
	const char *folder, const char *name, const void *data, size_t len)
{
	struct thing *o = calloc(1, sizeof(*o) + len);

	if (!o)
		exit(99);
	snprintf(o->folder, sizeof(o->folder), "%s", folder);
	snprintf(o->name, sizeof(o->name), "%s", name);
	o->len = len;
	if (len)
		memcpy(o->data, data, len);
	return o;
}

static struct thing **find(
	struct memgrove *g, const char *folder, const char *name)
{
	struct thing **at = &g->first;

	while (*at && (strcmp((*at)->folder, folder) ||
			      strcmp((*at)->name, name)))
		at = &(*at)->next;
	return at;
}

static void drop(struct thing **at)
{
	struct thing *o = *at;

	*at = o->next;
	free(o);
}

/* Those above it too; false if FOLDER itself was there. */
static bool do_make(struct memgrove *g, const char *folder)
{
	char up[RJ_TREE_FOLDER], *slash;
	struct thing *o;

	if (*find(g, folder, ""))
		return false;
	snprintf(up, sizeof(up), "%s", folder);
	slash = strrchr(up, '/');
	if (slash) {
		*slash = '\0';
		do_make(g, up);
	}
	o = new_thing(folder, "", NULL, 0);
	o->next = g->first;
	g->first = o;
	return true;
}

static void do_put(struct memgrove *g, struct thing *o)
{
	struct thing **at = find(g, o->folder, o->name);

	if (*at)
		drop(at);
	o->next = g->first;
	g->first = o;
}

static enum memtree_fate fate_of(struct memtree *m, enum memtree_op op)
{
	return m->judge ? m->judge(m->arg, op) : MEMTREE_DONE;
}

static int away(struct memtree *m, struct rj_error *err)
{
	return rj_fail(err, RJ_E_UNREACHABLE, "%s: no answer", m->base.url);
}

static void later(struct memgrove *g, struct thing *o, bool make)
{
	o->make = make;
	o->next = g->late;
	g->late = o;
}

static int mem_make(struct rj_tree *t, const char *folder, struct rj_error *err)
{
	struct memtree *m = memtree_of(t);
	struct memgrove *g = m->grove;
	enum memtree_fate fate = fate_of(m, MEMTREE_MAKE);
	bool made = true;

	if (fate == MEMTREE_FAILS)
		return away(m, err);
	pthread_mutex_lock(&g->lock);
	if (fate == MEMTREE_LATE)
		later(g, new_thing(folder, "", NULL, 0), true);
	else
		made = do_make(g, folder);
	pthread_mutex_unlock(&g->lock);
	if (fate != MEMTREE_DONE)
		return away(m, err);
	if (!made)
		return rj_fail(err, RJ_E_EXISTS, "%s: %s is there already",
			t->url, folder);
	return 0;
}

static int mem_put(struct rj_tree *t, const char *folder, const char *name,
	const void *data, size_t len, struct rj_error *err)
{
	struct memtree *m = memtree_of(t);
	struct memgrove *g = m->grove;
	enum memtree_fate fate = fate_of(m, MEMTREE_PUT);
	struct thing *o;
	bool there;

	if (fate == MEMTREE_FAILS)
		return away(m, err);
	o = new_thing(folder, name, data, len);
	pthread_mutex_lock(&g->lock);
	there = *find(g, folder, "") != NULL;
	if (!there)
		free(o);
	else if (fate == MEMTREE_LATE)
		later(g, o, false);
	else
		do_put(g, o);
	pthread_mutex_unlock(&g->lock);
	if (!there)
		return rj_fail(err, RJ_E_NOTFOUND, "%s: %s: no such folder",
			t->url, folder);
	return fate == MEMTREE_DONE ? 0 : away(m, err);
}

static int mem_get(struct rj_tree *t, const char *folder, const char *name,
	size_t max, struct rj_buf *out, struct rj_error *err)
{
	struct memtree *m = memtree_of(t);
	struct memgrove *g = m->grove;
	struct thing *o;
	int rc = 0;

	if (fate_of(m, MEMTREE_GET) != MEMTREE_DONE)
		return away(m, err);
	pthread_mutex_lock(&g->lock);
	o = *find(g, folder, name);
	if (!o)
		rc = rj_fail(err, RJ_E_NOTFOUND, "%s: %s/%s: no such object",
			t->url, folder, name);
	else if (o->len > max)
		rc = rj_fail(err, RJ_E_CORRUPT, "%s: longer than the %zu bytes that make sense", t->url, max);
	else if (rj_buf_append(out, o->data, o->len))
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	pthread_mutex_unlock(&g->lock);
	return rc;
}

/* The part of FOLDER/.. that is a name in PARENT, or NULL. */
static const char *child_of(const char *parent, const char *folder)
{
	size_t len = strlen(parent);

	if (strncmp(folder, parent, len))
		return NULL;
	folder += len;
	if (len && *folder++ != '/')
		return NULL;
	return *folder && !strchr(folder, '/') ? folder : NULL;
}

static int mem_list(struct rj_tree *t, const char *folder, rj_tree_list_fn fn,
	void *arg, struct rj_error *err)
{
	struct memtree *m = memtree_of(t);
	struct memgrove *g = m->grove;
	const char *child;
	struct thing *o;
	int rc = 0;

	if (fate_of(m, MEMTREE_LIST) != MEMTREE_DONE)
		return away(m, err);
	pthread_mutex_lock(&g->lock);
	if (*folder && !*find(g, folder, ""))
		rc = rj_fail(err, RJ_E_NOTFOUND, "%s: %s: no such folder",
			t->url, folder);
	for (o = g->first; o && !rc; o = o->next) {
		child = o->name[0] ? NULL : child_of(folder, o->folder);
		if (child)
			rc = fn(arg, child, 0, true);
		else if (o->name[0] && !strcmp(o->folder, folder))
			rc = fn(arg, o->name, o->len, false);
	}
	pthread_mutex_unlock(&g->lock);
	return rc;
}

static int mem_remove(struct rj_tree *t, const char *folder, const char *name,
	struct rj_error *err)
{
	struct memtree *m = memtree_of(t);
	struct memgrove *g = m->grove;
	struct thing **at;
	int rc = 0;

	if (fate_of(m, MEMTREE_REMOVE) != MEMTREE_DONE)
		return away(m, err);
	pthread_mutex_lock(&g->lock);
	at = find(g, folder, name);
	if (*at)
		drop(at);
	else
		rc = rj_fail(err, RJ_E_NOTFOUND, "%s: no such object", t->url);
	pthread_mutex_unlock(&g->lock);
	return rc;
}

static int mem_dup(struct rj_tree *t, struct rj_tree **out, struct rj_error *err)
{
	struct memtree *m = memtree_of(t);

	*out = memtree_open(m->grove, m->judge, m->arg);
	return *out ? 0 : rj_fail(err, RJ_E_NOMEM, "out of memory");
}

static void mem_close(struct rj_tree *t)
{
	free(t);
}

static const struct rj_tree_ops mem_ops = {
	.make = mem_make,
	.put = mem_put,
	.get = mem_get,
	.list = mem_list,
	.remove = mem_remove,
	.dup = mem_dup,
	.close = mem_close,
};

struct memgrove *memgrove_new(void)
{
	struct memgrove *g = calloc(1, sizeof(*g));

	if (g)
		pthread_mutex_init(&g->lock, NULL);
	return g;
}

void memgrove_free(struct memgrove *g)
{
	if (!g)
		return;
	while (g->first)
		drop(&g->first);
	while (g->late)
		drop(&g->late);
	pthread_mutex_destroy(&g->lock);
	free(g);
}

unsigned memgrove_late(struct memgrove *g)
{
	struct thing *o;
	unsigned n = 0;

	for (o = g->late; o; o = o->next)
		n++;
	return n;
}

void memgrove_deliver(struct memgrove *g, unsigned i)
{
	struct thing **at = &g->late, *o;

	while (i--)
		at = &(*at)->next;
	o = *at;
	*at = o->next;
	if (!o->make) {
		do_put(g, o);
		return;
	}
	do_make(g, o->folder);
	free(o);
}

void memgrove_replace(struct memgrove *g, const uint8_t journal[RJ_UUID_BYTES],
	uint64_t number, const void *data, size_t len)
{
	char epochs[RJ_TREE_FOLDER], plain[RJ_TREE_NAME];
	struct rj_mkdir_object key = {.number = number};
	const char *top = NULL, *folder = NULL, *name = plain;
	struct thing *o, *fresh;

	rj_mkdir_folder(journal, 0, epochs);
	rj_mkdir_name(&key, plain);
	for (o = g->first; o; o = o->next) {
		if (!o->name[0] && child_of(epochs, o->folder) &&
			(!top || strcmp(o->folder, top) > 0))
			top = o->folder;
		if (!strncmp(o->folder, epochs, strlen(epochs)) &&
			!strncmp(o->name, plain, strlen(plain))) {
			folder = o->folder;
			name = o->name;
		}
	}
	if (!folder)
		folder = top;
	if (!folder) {
		rj_mkdir_folder(journal, 1, epochs);
		do_make(g, epochs);
		folder = epochs;
	}
	fresh = new_thing(folder, name, data, len);
	do_put(g, fresh);
}

struct rj_tree *memtree_open(struct memgrove *g, memtree_judge judge, void *arg)
{
	struct memtree *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->base.ops = &mem_ops;
	m->base.durability = RJ_RECEIVED;
	snprintf(m->base.url, sizeof(m->base.url), "mem://tree");
	m->grove = g;
	m->judge = judge;
	m->arg = arg;
	return &m->base;
}

struct rj_store *memtree_store(struct memgrove *g)
{
	struct rj_tree *t = memtree_open(g, NULL, NULL);
	struct rj_store *s = NULL;

	if (!t || rj_mkdir_epoch_open(t, &s, NULL))
		return NULL;
	return s;
}
