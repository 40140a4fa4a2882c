// SPDX-License-Identifier: GPL-2.0-or-later
/* Which states a power cut can leave. */
#include <stdlib.h>

#include "world.h"

/* Sectors of a write at which it is torn: all of up to 8, some of more. */
static int torn_states(const struct trace *t, size_t cut,
	int (*fn)(void *arg, const struct state *s), void *arg)
{
	const struct trace_event *e = &t->events[cut - 1];
	long sectors = (long)((e->off + e->len + 511) / 512 - e->off / 512);
	struct state s = {.cut = cut, .missing = SIZE_MAX};
	long i;
	int rc = 0;

	for (i = 1; !rc && i < sectors; i++) {
		if (sectors > 8 && i > 2 && i != sectors / 2 &&
			i != sectors - 1)
			continue;
		s.torn = i;
		rc = fn(arg, &s);
		s.torn = -i;
		if (!rc)
			rc = fn(arg, &s);
	}
	return rc;
}

/* May event E be missing? FLUSHED: the disks that the events after it flush. */
static bool may_miss(const struct trace_event *e, bool *flushed)
{
	if (e->kind == TRACE_FLUSH)
		flushed[e->target] = true;
	return e->kind == TRACE_REMOVE ||
	       (e->kind == TRACE_WRITE && !flushed[e->target]);
}

/* The events before CUT-1 that no flush had reached: all of up to 64, four of more. A
 * put is durable when it is acknowledged; a flush of one disk says nothing of another. */
static int missing_states(const struct trace *t, size_t cut,
	int (*fn)(void *arg, const struct state *s), void *arg)
{
	bool flushed[TRACE_TARGETS] = {false}, again[TRACE_TARGETS] = {false};
	struct state s = {.cut = cut};
	size_t i, n = 0, step;
	int rc = 0;

	for (i = cut - 1; i-- > 0;)
		n += may_miss(&t->events[i], flushed);
	step = n > 64 ? n / 4 : 1;
	n = 0;
	for (i = cut - 1; !rc && i-- > 0;) {
		if (!may_miss(&t->events[i], again) || n++ % step)
			continue;
		s.missing = i;
		rc = fn(arg, &s);
	}
	return rc;
}

int states_all(const struct trace *t, size_t first,
	int (*fn)(void *arg, const struct state *s), void *arg)
{
	struct state s = {.cut = first, .missing = SIZE_MAX};
	int rc = fn(arg, &s);
	size_t cut;

	for (cut = first + 1; !rc && cut <= t->count; cut++) {
		/* a flush changes nothing that is on the disks */
		if (t->events[cut - 1].kind == TRACE_FLUSH)
			continue;
		s.cut = cut;
		rc = fn(arg, &s);
		if (!rc && t->events[cut - 1].kind == TRACE_WRITE)
			rc = torn_states(t, cut, fn, arg);
		if (!rc)
			rc = missing_states(t, cut, fn, arg);
	}
	return rc;
}
