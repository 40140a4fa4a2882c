/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a program did to the disks: one ordered log of the writes and flushes of
 * all files that are watched, and of the objects put into a store.
 */
#ifndef RJ_TEST_MOVE_TRACE_H
#define RJ_TEST_MOVE_TRACE_H

#include <stddef.h>
#include <stdint.h>

enum trace_kind {
	TRACE_WRITE = 1, /* len bytes of data at off of a target */
	TRACE_FLUSH,	 /* of one target: its earlier writes are durable */
	TRACE_PUT,	 /* an object appeared, whole and durable */
	TRACE_REMOVE,	 /* an object was deleted; not durable */
};

#define TRACE_NAME    160 /* of an object, below the stores' directory */
#define TRACE_TARGETS 4

struct trace_event {
	enum trace_kind kind;
	uint32_t target; /* of a write or flush */
	uint64_t off;
	uint64_t len;
	char name[TRACE_NAME]; /* of an object */
	uint8_t *data;
};

struct trace {
	struct trace_event *events;
	size_t count, room;
};

/* Append an event with a copy of DATA. -1 when memory is short. */
int trace_add(struct trace *t, const struct trace_event *e, const void *data);
void trace_clear(struct trace *t);
/* For a recorder in another process. 0, or -1 with errno. */
int trace_save(const struct trace *t, int fd);
int trace_load(struct trace *t, int fd);

#endif
