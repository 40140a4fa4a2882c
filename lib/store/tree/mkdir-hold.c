// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/tree/mkdir-hold.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/tree/mkdir-view.h"

/* A folder of the depth of an epoch's: in IMAP none above that holds objects. */
static void folder_of(const struct rj_key *key, char out[RJ_TREE_FOLDER])
{
	struct rj_key dir = *key;
	char text[RJ_KEY_TEXT];

	dir.number = 0;
	snprintf(out, RJ_TREE_FOLDER, "%sall", rj_key_text(&dir, text));
}

static void name_of(const struct rj_key *key, char out[RJ_TREE_NAME])
{
	struct rj_mkdir_object o = {.number = key->number};

	rj_mkdir_name(&o, out);
}

int rj_mkdir_hold_put(struct rj_tree *t, const struct rj_key *key,
	const void *data, size_t len, struct rj_error *err)
{
	char folder[RJ_TREE_FOLDER], name[RJ_TREE_NAME];
	int rc;

	folder_of(key, folder);
	name_of(key, name);
	rc = t->ops->make(t, folder, err);
	if (rc && rc != -RJ_E_EXISTS)
		return rc;
	return t->ops->put(t, folder, name, data, len, err);
}

int rj_mkdir_hold_get(struct rj_tree *t, const struct rj_key *key, size_t max,
	struct rj_buf *out, struct rj_error *err)
{
	char folder[RJ_TREE_FOLDER], name[RJ_TREE_NAME];

	folder_of(key, folder);
	name_of(key, name);
	return t->ops->get(t, folder, name, max, out, err);
}

static int take(void *arg, const char *name, uint64_t bytes, bool folder)
{
	struct rj_mkdir_object o;

	if (folder || !rj_mkdir_parse_name(name, &o) || o.fence)
		return 0;
	o.bytes = bytes;
	return rj_buf_append(arg, &o, sizeof(o));
}

static int by_number(const void *a, const void *b)
{
	const struct rj_mkdir_object *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

int rj_mkdir_hold_list(struct rj_tree *t, const struct rj_key *dir,
	uint64_t after, rj_store_list_fn fn, void *arg, struct rj_error *err)
{
	const struct rj_mkdir_object *o;
	char folder[RJ_TREE_FOLDER];
	struct rj_buf found = {0};
	size_t i, count;
	int rc;

	folder_of(dir, folder);
	rc = t->ops->list(t, folder, take, &found, err);
	if (rc == -RJ_E_NOTFOUND)
		rc = 0;
	else if (rc == -RJ_E_NOMEM)
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory for a listing");
	count = found.len / sizeof(*o);
	o = (const void *)found.data;
	if (count)
		qsort(found.data, count, sizeof(*o), by_number);
	for (i = 0; !rc && i < count; i++) /* a mailbox may have one twice */
		if (o[i].number > after && (!i || o[i - 1].number < o[i].number))
			rc = fn(arg, o[i].number, o[i].bytes);
	rj_buf_free(&found);
	return rc;
}

int rj_mkdir_hold_remove(
	struct rj_tree *t, const struct rj_key *key, struct rj_error *err)
{
	char folder[RJ_TREE_FOLDER], name[RJ_TREE_NAME];

	folder_of(key, folder);
	name_of(key, name);
	return t->ops->remove(t, folder, name, err);
}
