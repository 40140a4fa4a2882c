/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parse a WebDAV server's listing of a folder, as it comes. Private to lib/store. */
#ifndef RJ_STORE_DAV_LIST_H
#define RJ_STORE_DAV_LIST_H

#include "store/curl/xml.h"
#include "store/tree/tree.h"

struct rj_dav_list {
	/* Set by the caller: the store's URL, for messages; the folder's path ("/a/b/",
	 * with a slash at its end); and what is called for each thing in it. */
	const char *store, *path;
	rj_tree_list_fn fn;
	void *arg;
	struct rj_error *err;
	/* zero at first */
	struct rj_xml xml;
	struct rj_xml_parser *parser;
	unsigned responses;
	/* of the response being read */
	char href[RJ_XML_TEXT];
	uint64_t bytes;
	bool folder;
};

/* Parse the next LEN bytes of the answer to a PROPFIND of depth 1. RJ_E_PROTOCOL: not
 * such an answer, or about another path; RJ_E_NOMEM; or what FN returned. */
int rj_dav_list_feed(void *list, const void *data, size_t len);
/* End the answer, of which all was fed. RJ_E_PROTOCOL: it is not whole, or no listing. */
int rj_dav_list_end(struct rj_dav_list *l);
/* In any case at the end. */
void rj_dav_list_free(struct rj_dav_list *l);

#endif
