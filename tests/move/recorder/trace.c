// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int trace_add(struct trace *t, const struct trace_event *e, const void *data)
{
	size_t room = t->room ? t->room * 2 : 64;
	struct trace_event *copy;
	uint8_t *bytes = NULL;

	if (t->count == t->room) {
		copy = realloc(t->events, room * sizeof(*copy));
		if (!copy)
			return -1;
		t->events = copy;
		t->room = room;
	}
	if (data && e->len) {
		bytes = malloc(e->len);
		if (!bytes)
			return -1;
		memcpy(bytes, data, e->len);
	}
	t->events[t->count] = *e;
	t->events[t->count].data = bytes;
	t->count++;
	return 0;
}

void trace_clear(struct trace *t)
{
	size_t i;

	for (i = 0; i < t->count; i++)
		free(t->events[i].data);
	free(t->events);
	memset(t, 0, sizeof(*t));
}

/* By number: the calls of these names are what the recorder stands in for. */
static int put_bytes(int fd, const void *data, size_t len)
{
	const uint8_t *p = data;
	long n;

	for (; len; p += n, len -= (size_t)n) {
		n = syscall(SYS_write, fd, p, len);
		if (n <= 0)
			return -1;
	}
	return 0;
}

static int get_bytes(int fd, void *data, size_t len)
{
	uint8_t *p = data;
	ssize_t n;

	for (; len; p += n, len -= (size_t)n) {
		n = read(fd, p, len);
		if (n <= 0)
			return -1;
	}
	return 0;
}

int trace_save(const struct trace *t, int fd)
{
	size_t i;

	for (i = 0; i < t->count; i++) {
		const struct trace_event *e = &t->events[i];

		if (put_bytes(fd, e, sizeof(*e)) ||
			(e->data && put_bytes(fd, e->data, e->len)))
			return -1;
	}
	return 0;
}

int trace_load(struct trace *t, int fd)
{
	struct trace_event e;
	uint8_t *data;
	off_t end = lseek(fd, 0, SEEK_END);
	int rc;

	if (end < 0 || lseek(fd, 0, SEEK_SET))
		return -1;
	while (lseek(fd, 0, SEEK_CUR) < end) {
		if (get_bytes(fd, &e, sizeof(e)))
			return -1;
		data = NULL;
		if (e.data) {
			data = malloc(e.len);
			if (!data || get_bytes(fd, data, e.len)) {
				free(data);
				return -1;
			}
		}
		rc = trace_add(t, &e, data);
		free(data);
		if (rc)
			return rc;
	}
	return 0;
}
