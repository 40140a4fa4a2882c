// SPDX-License-Identifier: GPL-2.0-or-later
#include "http-body.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bodies_init(struct bodies *b)
{
	*b = (struct bodies){.total = BODY_TOTAL, .account = BODY_ACCOUNT};
}

void bodies_free(struct bodies *b)
{
	record_buffer_free_all(&b->pool);
}

struct purse *purse_get(struct bodies *b, const char *name)
{
	struct purse *p = b->purses;

	while (p && strcmp(p->name, name))
		p = p->next;
	if (!p) {
		p = calloc(1, sizeof(*p));
		if (!p)
			return NULL;
		snprintf(p->name, sizeof(p->name), "%s", name);
		p->next = b->purses;
		b->purses = p;
	}
	p->holders++;
	return p;
}

void purse_drop(struct bodies *b, struct purse *p)
{
	struct purse **at = &b->purses;

	if (!p || --p->holders)
		return;
	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	free(p);
}

struct record_buffer *body_take(struct bodies *b, struct purse *p, size_t len)
{
	size_t most = p->name[0] ? b->account : b->total; /* "": there are no accounts */
	size_t bytes = record_buffer_bytes(len);
	struct record_buffer *r;

	if (b->bytes + bytes > b->total || p->bytes + bytes > most)
		return NULL;
	r = record_buffer_take(&b->pool, len);
	if (!r)
		return NULL;
	b->bytes += r->bytes;
	p->bytes += r->bytes;
	return r;
}

bool purse_unread(const struct purse *p)
{
	return p->unread > (p->name[0] ? UNREAD_ACCOUNT : UNREAD_TOTAL);
}

void body_give(struct bodies *b, struct purse *p, struct record_buffer *r)
{
	if (!r)
		return;
	b->bytes -= r->bytes;
	p->bytes -= r->bytes;
	record_buffer_give(&b->pool, r);
}
