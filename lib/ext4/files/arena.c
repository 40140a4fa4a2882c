// SPDX-License-Identifier: LGPL-2.1-or-later
/* Names and paths, which all end together. */
#include "ext4/files/files-priv.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK 65536u

struct chunk {
	struct chunk *before;
	size_t used, room;
	char text[];
};

char *rj_arena_text(struct arena *a, const char *text, size_t len)
{
	struct chunk *c = a->last;
	size_t room = len + 1 > CHUNK ? len + 1 : CHUNK;
	char *out;

	if (!c || c->room - c->used < len + 1) {
		c = malloc(sizeof(*c) + room);
		if (!c)
			return NULL;
		*c = (struct chunk){.before = a->last, .room = room};
		a->last = c;
	}
	out = c->text + c->used;
	memcpy(out, text, len);
	out[len] = 0;
	c->used += len + 1;
	return out;
}

void rj_arena_free(struct arena *a)
{
	struct chunk *c;

	while ((c = a->last)) {
		a->last = c->before;
		free(c);
	}
}
