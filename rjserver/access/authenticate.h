/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Find the account of a request by its token or certificate. */
#ifndef RJSERVER_AUTHENTICATE_H
#define RJSERVER_AUTHENTICATE_H

#include "accounts.h"
#include "rjserver/http/http.h"

/*
 * Find the account of the token in "Authorization: Bearer TOKEN" or of the password
 * in "Basic" (a browser's; the user is the account), or else of the verified
 * client certificate. NULL: there is none; *SHOWN: the request has credentials.
 */
struct account *authenticate(const struct accounts *a,
	const struct http_request *req, bool *shown);

#endif
