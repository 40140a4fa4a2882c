// SPDX-License-Identifier: LGPL-2.1-or-later
/* Names and paths, which all end together. */
#include "ext4/files/files-priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK 65536u

struct chunk {
	struct chunk *before;
	size_t used, room;
	char text[];
};

/* LEN bytes. NULL: no memory. */
static char *take(struct arena *a, size_t len)
{
	struct chunk *c = a->last;
	size_t room = len > CHUNK ? len : CHUNK;

	if (!c || c->room - c->used < len) {
		c = malloc(sizeof(*c) + room);
		if (!c)
			return NULL;
		*c = (struct chunk){.before = a->last, .room = room};
		a->last = c;
	}
	c->used += len;
	return c->text + c->used - len;
}

char *rj_arena_text(struct arena *a, const char *text, size_t len)
{
	char *out = take(a, len + 1);

	if (!out)
		return NULL;
	memcpy(out, text, len);
	out[len] = 0;
	return out;
}

char *rj_arena_path(struct arena *a, const char *dir, const char *name)
{
	size_t len = strlen(dir) + strlen(name) + 2;
	char *out = take(a, len);

	if (out)
		snprintf(out, len, "%s/%s", dir, name);
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
