/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What happened to a volume and to its log, in one order: written by record.c,
 * read by states.c.
 */
#ifndef RJ_TEST_CRASH_EVENTS_H
#define RJ_TEST_CRASH_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#define EVENT_NAME_BYTES 96

enum event_type {
	EVENT_WRITE = 1, /* of a device: off, len, data; name: see below */
	EVENT_FLUSH,	 /* of a device, finished: its writes before it stay */
	EVENT_PUT,	 /* an object is on its way to the store: name, data */
	EVENT_STORED,	 /* the store has answered 201: name */
	EVENT_DROP,	 /* a trim is on its way: name is the directory; objects
			  * below off that have at least len bytes */
	EVENT_ACK,	 /* thread number off has one more operation done */
	EVENT_BASE,	 /* the volume is formatted: its base copy is as of now */
};

/* The device of a write or a flush; "" is the volume. */
#define EVENT_FALLBACK "fallback"

struct event {
	uint32_t type, len;
	uint64_t off;
	char name[EVENT_NAME_BYTES];
	uint8_t *data;
};

/* Add one to the file; DATA of LEN bytes. Any thread. Exits when it cannot: half
 * a record would prove nothing. */
void events_begin(const char *path);
void events_add(enum event_type type, uint64_t off, uint32_t len,
	const char *name, const void *data);
void events_end(void);
/* All of PATH; NULL: it cannot be read. */
struct event *events_load(const char *path, size_t *count);

#endif
