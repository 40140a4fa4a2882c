/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Send an object that is larger than a piece (pieces.h). */
#ifndef RJSERVER_OBJECT_ANSWER_H
#define RJSERVER_OBJECT_ANSWER_H

#include "http.h"
#include "rjserver/store/store.h"

/* Answer X with the object OKEY; or, before anything was sent, call FAIL with X and the error, as
 * of store_get(). */
void object_answer(struct store *s, struct http_exchange *x, const struct okey *okey,
	void (*fail)(struct http_exchange *x, int rc, const struct rj_error *err));

#endif
