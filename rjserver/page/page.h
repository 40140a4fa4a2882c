/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page at "/" for people, and its parts. It shows what /status says. */
#ifndef RJSERVER_PAGE_H
#define RJSERVER_PAGE_H

#include <stdbool.h>

#include "rjserver/http/http.h"

/* Is it a request for the page? For "/": only of a browser, which says that it
 * takes HTML; all others get the line of the protocol. */
bool page_has(const struct http_request *req);
void page_answer(const struct http_request *req);

#endif
