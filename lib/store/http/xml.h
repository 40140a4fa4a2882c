/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * XML answers of S3 and WebDAV servers: elements by their local names, with
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
	/* TEXT is what stood between the element's start and its end or its
	 * first child. */
	int (*end)(void *arg, const char *name, const char *text);
	void *arg;
};

/*
 * RJ_E_PROTOCOL: not well-formed, an element's text is longer than makes sense,
 * or it declares a document type (no server has a reason to); NAME is for the
 * message. RJ_E_NOMEM.
 */
int rj_xml_parse(const char *name, const void *data, size_t len,
	const struct rj_xml *x, struct rj_error *err);

#endif
