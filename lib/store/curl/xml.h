/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parse XML answers of S3 and WebDAV servers: elements by their local names, with
 * their text. Private to lib/store; the only user of expat.
 */
#ifndef RJ_STORE_XML_H
#define RJ_STORE_XML_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

#define RJ_XML_TEXT 2048 /* longest text of an element, with the NUL */

struct rj_xml {
	/* May be NULL. NAME is without prefix and namespace. A non-zero return
	 * ends the parse with that. */
	int (*start)(void *arg, const char *name);
	/* TEXT is what was between the element's start and its end or its
	 * first child. */
	int (*end)(void *arg, const char *name, const char *text);
	void *arg;
};

struct rj_xml_parser;

/* Begin a document that comes in pieces. NAME is for messages; it and X must outlive the
 * parser. NULL: out of memory. */
struct rj_xml_parser *rj_xml_begin(const char *name, const struct rj_xml *x);
/*
 * Parse the next LEN bytes DATA, LAST if no more follow, and call X's functions.
 * RJ_E_PROTOCOL: not well-formed, an element's text does not fit RJ_XML_TEXT, or a
 * document type is declared (no server has a reason to). RJ_E_NOMEM; or what a function
 * of X returned. After a failure the document has ended.
 */
int rj_xml_feed(struct rj_xml_parser *p, const void *data, size_t len, bool last,
	struct rj_error *err);
/* NULL-safe. */
void rj_xml_free(struct rj_xml_parser *p);
/* Do all of that with a whole document, with the same errors. */
int rj_xml_parse(const char *name, const void *data, size_t len,
	const struct rj_xml *x, struct rj_error *err);

#endif
