// SPDX-License-Identifier: GPL-2.0-or-later
#include "support/treerules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/tree/mkdir-view.h"
#include "util/environ.h"

struct entry {
	char name[RJ_TREE_NAME];
	uint64_t bytes;
	bool folder;
};

struct rules {
	struct rj_tree base;
	struct rj_tree *real;
	struct memgrove *grove;
	bool shared, nolook, blind, early;
	bool after_put; /* the next list is the look */
	char own[RJ_TREE_NAME];
	/* "early": what lists showed when the claim began */
	bool stale;
	char folder[64][RJ_TREE_FOLDER];
	struct rj_buf old[64]; /* of struct entry */
	unsigned olds;
};

static struct rules *rules_of(struct rj_tree *t)
{
	return (struct rules *)t;
}

static bool calm;

void treerules_calm(bool on)
{
	calm = on;
}

static unsigned draw(unsigned below)
{
	uint32_t v = 0;

	rj_random_bytes(&v, sizeof(v));
	return v % below;
}

/* What becomes of a call; and now and then a late one arrives. */
static enum memtree_fate fate(void *arg, enum memtree_op op)
{
	struct memgrove *g = arg;
	unsigned late = memgrove_late(g), what = draw(100);

	if (calm)
		return MEMTREE_DONE;

	if (late && !draw(6))
		memgrove_deliver(g, draw(late));
	if (what < 4)
		return MEMTREE_FAILS;
	if (what < 8 && (op == MEMTREE_MAKE || op == MEMTREE_PUT))
		return what < 6 ? MEMTREE_LOST : MEMTREE_LATE;
	return MEMTREE_DONE;
}

static int rules_make(
	struct rj_tree *t, const char *folder, struct rj_error *err)
{
	struct rules *r = rules_of(t);
	int rc = r->real->ops->make(r->real, folder, err);

	if (rc == -RJ_E_EXISTS && r->shared)
		rc = 0;
	if (!rc) {
		snprintf(r->own, sizeof(r->own), "%s",
			strrchr(folder, '/') + 1);
		r->stale = r->early;
	}
	return rc;
}

static int rules_put(struct rj_tree *t, const char *folder, const char *name,
	const void *data, size_t len, struct rj_error *err)
{
	struct rules *r = rules_of(t);
	int rc = r->real->ops->put(r->real, folder, name, data, len, err);

	r->after_put = !rc && strcmp(name, "claim") != 0;
	if (strcmp(name, "claim") != 0)
		r->stale = false;
	return rc;
}

static int rules_get(struct rj_tree *t, const char *folder, const char *name,
	size_t max, struct rj_buf *out, struct rj_error *err)
{
	struct rj_tree *real = rules_of(t)->real;

	return real->ops->get(real, folder, name, max, out, err);
}

static int note(void *arg, const char *name, uint64_t bytes, bool folder)
{
	struct entry e = {.bytes = bytes, .folder = folder};

	snprintf(e.name, sizeof(e.name), "%s", name);
	return rj_buf_append(arg, &e, sizeof(e));
}

/* The list that "early" had of FOLDER before, or this one from now on. */
static struct rj_buf *memory(struct rules *r, const char *folder, bool *known)
{
	unsigned i;

	for (i = 0; i < r->olds; i++)
		if (!strcmp(r->folder[i], folder))
			break;
	*known = i < r->olds;
	if (!*known && i == 64)
		i = r->olds = 0;
	if (!*known) {
		snprintf(r->folder[i], sizeof(r->folder[i]), "%s", folder);
		r->olds++;
	}
	return &r->old[i];
}

static int rules_list(struct rj_tree *t, const char *folder, rj_tree_list_fn fn,
	void *arg, struct rj_error *err)
{
	struct rules *r = rules_of(t);
	struct rj_buf *kept, fresh = {0};
	bool known, look = r->after_put, epochs = false;
	struct entry e;
	size_t i;
	int rc;

	r->after_put = false;
	rc = r->real->ops->list(r->real, folder, note, &fresh, err);
	epochs = strlen(folder) > 6 &&
		 !strcmp(folder + strlen(folder) - 6, "/epoch");
	/* a server that gives an empty list instead of a refusal */
	if (!rc && epochs && look && !calm && !r->shared && !draw(8))
		fresh.len = 0;
	kept = memory(r, folder, &known);
	if (r->early && r->stale && known && !epochs) {
		rj_buf_free(&fresh);
		rc = rj_buf_append(&fresh, kept->data, kept->len);
	} else {
		kept->len = 0;
		rj_buf_append(kept, fresh.data, fresh.len);
	}
	if (!rc && epochs && r->blind && !fresh.len && r->own[0])
		note(&fresh, r->own, 0, true);
	for (i = 0; !rc && i < fresh.len; i += sizeof(e)) {
		memcpy(&e, fresh.data + i, sizeof(e));
		if (r->nolook && look && epochs && strcmp(e.name, r->own) > 0)
			continue;
		rc = fn(arg, e.name, e.bytes, e.folder);
	}
	rj_buf_free(&fresh);
	return rc;
}

static int rules_remove(struct rj_tree *t, const char *folder,
	const char *name, struct rj_error *err)
{
	struct rj_tree *real = rules_of(t)->real;

	return real->ops->remove(real, folder, name, err);
}

static int rules_dup(
	struct rj_tree *t, struct rj_tree **out, struct rj_error *err)
{
	/* readers of the model are to see what there is */
	*out = memtree_open(rules_of(t)->grove, NULL, NULL);
	return *out ? 0 : rj_fail(err, RJ_E_NOMEM, "out of memory");
}

static void rules_close(struct rj_tree *t)
{
	struct rules *r = rules_of(t);
	unsigned i;

	rj_tree_close(r->real);
	for (i = 0; i < 64; i++)
		rj_buf_free(&r->old[i]);
	free(r);
}

static const struct rj_tree_ops rules_ops = {
	.make = rules_make,
	.put = rules_put,
	.get = rules_get,
	.list = rules_list,
	.remove = rules_remove,
	.dup = rules_dup,
	.close = rules_close,
};

struct rj_store *treerules_store(struct memgrove *g, const char *rule)
{
	struct rules *r = calloc(1, sizeof(*r));
	struct rj_store *s = NULL;

	if (!r)
		return NULL;
	r->shared = !strcmp(rule, "shared");
	r->nolook = !strcmp(rule, "nolook");
	r->blind = !strcmp(rule, "blind");
	r->early = !strcmp(rule, "early");
	r->grove = g;
	/* this one takes racers, and no faults */
	r->real = memtree_open(g, r->shared ? NULL : fate, g);
	if (!r->real || (strcmp(rule, "faults") && !r->shared && !r->nolook &&
				!r->blind && !r->early)) {
		rj_tree_close(r->real);
		free(r);
		return NULL;
	}
	r->base = *r->real;
	r->base.ops = &rules_ops;
	return rj_mkdir_epoch_open(&r->base, &s, NULL) ? NULL : s;
}
