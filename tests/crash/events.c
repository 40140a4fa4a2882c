// SPDX-License-Identifier: GPL-2.0-or-later
#include "events.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The part of a struct event that is in the file, before its data. */
#define HEAD_BYTES offsetof(struct event, data)

static struct {
	pthread_mutex_t lock;
	FILE *file;
} E = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void die(const char *what)
{
	perror(what);
	exit(98);
}

static bool has_data(uint32_t type)
{
	return type == EVENT_WRITE || type == EVENT_PUT;
}

void events_begin(const char *path)
{
	E.file = fopen(path, "we");
	if (!E.file)
		die(path);
}

void events_add(enum event_type type, uint64_t off, uint32_t len,
	const char *name, const void *data)
{
	struct event e = {.type = type, .len = len, .off = off};

	if (name)
		snprintf(e.name, sizeof(e.name), "%s", name);
	pthread_mutex_lock(&E.lock);
	if (fwrite(&e, HEAD_BYTES, 1, E.file) != 1 ||
		(has_data(type) && len && fwrite(data, len, 1, E.file) != 1))
		die("events");
	pthread_mutex_unlock(&E.lock);
}

void events_end(void)
{
	pthread_mutex_lock(&E.lock);
	if (fclose(E.file))
		die("events");
	E.file = NULL;
	pthread_mutex_unlock(&E.lock);
}

struct event *events_load(const char *path, size_t *count)
{
	FILE *f = fopen(path, "re");
	struct event *all = NULL, *more, e = {0};
	size_t n = 0, room = 0;

	while (f && fread(&e, HEAD_BYTES, 1, f) == 1) {
		if (n == room) {
			room = room ? room * 2 : 1024;
			more = realloc(all, room * sizeof(*all));
			if (!more)
				die("memory");
			all = more;
		}
		e.data = NULL;
		if (has_data(e.type)) {
			e.data = malloc(e.len + 1);
			if (!e.data || (e.len && fread(e.data, e.len, 1, f) != 1))
				die(path);
		}
		all[n++] = e;
	}
	if (f)
		fclose(f);
	*count = n;
	return all;
}
