/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Holds and named marks in a tree: files of the folders <uuid>/hold/all and
 * <uuid>/mark/all, named <N20>. Private to mkdir-epoch.c. The calls are those of struct
 * rj_store_ops, but that nothing says which writer was first: a put of the same name
 * replaces what is there.
 */
#ifndef RJ_STORE_MKDIR_HOLD_H
#define RJ_STORE_MKDIR_HOLD_H

#include "store/tree/tree.h"

int rj_mkdir_hold_put(struct rj_tree *t, const struct rj_key *key,
	const void *data, size_t len, struct rj_error *err);
int rj_mkdir_hold_get(struct rj_tree *t, const struct rj_key *key, size_t max,
	struct rj_buf *out, struct rj_error *err);
int rj_mkdir_hold_list(struct rj_tree *t, const struct rj_key *dir,
	uint64_t after, rj_store_list_fn fn, void *arg, struct rj_error *err);
int rj_mkdir_hold_remove(
	struct rj_tree *t, const struct rj_key *key, struct rj_error *err);

#endif
