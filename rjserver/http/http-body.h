/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Give out the memory of request bodies, within a bound for all and one for each account.
 * Above a bound there is none for now, and the connection is not read until there is. And count
 * the memory of answers that wait for their clients.
 * One thread.
 */
#ifndef RJSERVER_HTTP_BODY_H
#define RJSERVER_HTTP_BODY_H

#include "rjserver/record/record-buffer.h"

#define BODY_TOTAL   (256u << 20) /* bytes */
#define BODY_ACCOUNT (128u << 20)
#define UNREAD_TOTAL	(48u << 20) /* of answers that wait for their clients, without accounts */
#define UNREAD_ACCOUNT	(24u << 20)

/* The memory that the connections of one account have. */
struct purse {
	char name[NAME_BYTES];
	size_t bytes;  /* of request bodies */
	size_t unread; /* of answers that the clients have not taken yet */
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

/* Get the purse of the account NAME, for one more connection. NULL: no memory. */
struct purse *purse_get(struct bodies *b, const char *name);
void purse_drop(struct bodies *b, struct purse *p); /* NULL-safe */

/* Get memory for a body of LEN bytes, at the cost of P. NULL: none for now. */
struct record_buffer *body_take(struct bodies *b, struct purse *p, size_t len);
/* Give it back; NULL-safe. */
void body_give(struct bodies *b, struct purse *p, struct record_buffer *r);
/* Have the clients of P left more answers unread than they may? */
bool purse_unread(const struct purse *p);

#endif
