/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parse a WebDAV server's listing of a folder. Private to lib/store. */
#ifndef RJ_STORE_DAV_LIST_H
#define RJ_STORE_DAV_LIST_H

#include "store/tree/tree.h"
#include "util/buf.h"

/*
 * Parse BODY, the answer to a PROPFIND of depth 1 on PATH ("/a/b/", with a slash
 * at its end), and call FN for each thing in that folder. STORE is the store's URL, for
 * messages. RJ_E_PROTOCOL: not such an answer, or about another path.
 */
int rj_dav_read_list(const char *store, const char *path,
	const struct rj_buf *body, rj_tree_list_fn fn, void *arg,
	struct rj_error *err);

#endif
