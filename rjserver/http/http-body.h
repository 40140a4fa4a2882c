/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of request bodies under way: a bound for all of it and for that
 * of each account. Over a bound there is none for now, and the connection is
 * not read on. One thread.
 */
#ifndef RJSERVER_HTTP_BODY_H
#define RJSERVER_HTTP_BODY_H

#include "rjserver/record/record-buffer.h"

#define BODY_TOTAL   (256u << 20) /* bytes */
#define BODY_ACCOUNT (128u << 20)

/* What the connections of one account hold. */
struct purse {
	char name[NAME_BYTES];
	size_t bytes;
	unsigned holders;
	struct purse *next;
};

struct bodies {
	struct record_buffer_pool pool;
	struct purse *purses;
	size_t bytes; /* of all */
	size_t total, account; /* the bounds */
};

void bodies_init(struct bodies *b);
void bodies_free(struct bodies *b); /* nothing may be held */

/* The purse of the account NAME, for one more holder. NULL: no memory. */
struct purse *purse_get(struct bodies *b, const char *name);
void purse_drop(struct bodies *b, struct purse *p); /* NULL-safe */

/* Space for a body of LEN bytes, at the cost of P. NULL: none for now. */
struct record_buffer *body_take(struct bodies *b, struct purse *p, size_t len);
/* Give it back; NULL-safe. */
void body_give(struct bodies *b, struct purse *p, struct record_buffer *r);

#endif
