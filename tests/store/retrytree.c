// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/retrytree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRIES 200
#define MAX   (32u << 20)

struct retry {
	struct rj_tree base;
	struct rj_tree *inner;
};

static struct rj_tree *inner_of(struct rj_tree *t)
{
	return ((struct retry *)t)->inner;
}

static bool again(int rc, int *tries)
{
	if (rc != -RJ_E_UNREACHABLE || ++*tries == TRIES)
		return false;
	usleep(2000);
	return true;
}

static int retry_make(
	struct rj_tree *t, const char *folder, struct rj_error *err)
{
	struct rj_tree *i = inner_of(t);
	int tries = 0, rc;

	do
		rc = i->ops->make(i, folder, err);
	while (again(rc, &tries));
	return rc;
}

static int retry_put(struct rj_tree *t, const char *folder, const char *name,
	const void *data, size_t len, struct rj_error *err)
{
	struct rj_tree *i = inner_of(t);
	int tries = 0, rc;

	do
		rc = i->ops->put(i, folder, name, data, len, err);
	while (again(rc, &tries));
	return rc;
}

static int retry_get(struct rj_tree *t, const char *folder, const char *name,
	size_t max, struct rj_buf *out, struct rj_error *err)
{
	struct rj_tree *i = inner_of(t);
	size_t before = out->len;
	int tries = 0, rc;

	do {
		rc = i->ops->get(i, folder, name, max, out, err);
		if (rc && out->len != before) {
			printf("# a failed get left bytes behind\n");
			exit(99);
		}
	} while (again(rc, &tries));
	return rc;
}

struct entry {
	char name[RJ_TREE_NAME + 64];
	uint64_t bytes;
	bool folder;
};

static int keep(void *arg, const char *name, uint64_t bytes, bool folder)
{
	struct entry e = {.bytes = bytes, .folder = folder};

	snprintf(e.name, sizeof(e.name), "%s", name);
	return rj_buf_append(arg, &e, sizeof(e));
}

static int retry_list(struct rj_tree *t, const char *folder, rj_tree_list_fn fn,
	void *arg, struct rj_error *err)
{
	struct rj_tree *inner = inner_of(t);
	struct rj_buf all = {0};
	const struct entry *e;
	int tries = 0, rc;
	size_t i;

	do {
		all.len = 0;
		rc = inner->ops->list(inner, folder, keep, &all, err);
	} while (again(rc, &tries));
	e = (const void *)all.data;
	for (i = 0; !rc && i < all.len / sizeof(*e); i++)
		rc = fn(arg, e[i].name, e[i].bytes, e[i].folder);
	rj_buf_free(&all);
	return rc;
}

static int retry_remove(struct rj_tree *t, const char *folder, const char *name,
	struct rj_error *err)
{
	struct rj_buf got = {0};
	struct rj_tree *i = inner_of(t);
	bool was = !retry_get(t, folder, name, MAX, &got, NULL);
	int tries = 0, rc;

	rj_buf_free(&got);
	do
		rc = i->ops->remove(i, folder, name, err);
	while (again(rc, &tries));
	/* also after one try: libcurl may have sent it twice */
	return rc == -RJ_E_NOTFOUND && was ? 0 : rc;
}

static int retry_dup(
	struct rj_tree *t, struct rj_tree **out, struct rj_error *err)
{
	struct rj_tree *i = inner_of(t), *d;
	int rc = i->ops->dup(i, &d, err);

	if (!rc)
		*out = retrytree_open(d);
	return rc;
}

static void retry_close(struct rj_tree *t)
{
	rj_tree_close(inner_of(t));
	free(t);
}

static const struct rj_tree_ops retry_ops = {
	.make = retry_make,
	.put = retry_put,
	.get = retry_get,
	.list = retry_list,
	.remove = retry_remove,
	.dup = retry_dup,
	.close = retry_close,
};

struct rj_tree *retrytree_open(struct rj_tree *inner)
{
	struct retry *r = calloc(1, sizeof(*r));

	if (!r)
		exit(99);
	r->base.ops = &retry_ops;
	r->base.durability = inner->durability;
	snprintf(r->base.url, sizeof(r->base.url), "%s", inner->url);
	r->inner = inner;
	return &r->base;
}
