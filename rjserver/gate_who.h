/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose request is this? */
#ifndef RJSERVER_GATE_WHO_H
#define RJSERVER_GATE_WHO_H

#include "accounts.h"
#include "http.h"

/*
 * The account of the token in "Authorization: Bearer TOKEN" or of the password
 * in "Basic" (a browser's; the user is the account), or else of the verified
 * client certificate. NULL: nobody's, and *SHOWN says whether there were
 * credentials at all.
 */
struct account *gate_who(const struct accounts *a,
	const struct http_request *req, bool *shown);

#endif
