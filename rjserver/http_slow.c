// SPDX-License-Identifier: GPL-2.0-or-later
#include "http_slow.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/environ.h"

/*
 * By descriptor: when the request that is arriving began. Nobody says when a
 * connection is freed, so that nothing can be allocated for one; descriptors
 * are used again. One event loop, so one table.
 */
static struct arrival {
	const struct bufferevent *bev;
	int64_t since_ns; /* 0: between two requests */
} *arrivals;
static size_t arrival_count;

int slow_seconds(void)
{
	static int seconds;
	const char *given;

	if (!seconds) {
		given = getenv("RJ_TEST_REQUEST_SECONDS"); /* for tests */
		seconds = given ? atoi(given) : 0;
		if (seconds <= 0)
			seconds = SLOW_REQUEST_SECONDS;
	}
	return seconds;
}

static struct arrival *arrival_of(struct bufferevent *bev)
{
	int fd = bufferevent_getfd(bev);
	size_t count = ((size_t)fd + 64) / 64 * 64;
	struct arrival *more;

	if (fd < 0)
		return NULL;
	if ((size_t)fd >= arrival_count) {
		more = reallocarray(arrivals, count, sizeof(*more));
		if (!more)
			return NULL;
		memset(more + arrival_count, 0,
			(count - arrival_count) * sizeof(*more));
		arrivals = more;
		arrival_count = count;
	}
	if (arrivals[fd].bev != bev)
		arrivals[fd] = (struct arrival){.bev = bev};
	return &arrivals[fd];
}

/* Bytes have come. */
static void on_input(
	struct evbuffer *input, const struct evbuffer_cb_info *info, void *arg)
{
	struct bufferevent *bev = arg;
	struct timeval rest = {slow_seconds(), 0};
	struct timeval reader = {SLOW_READER_SECONDS, 0};
	struct arrival *a;

	if (!info->n_added)
		return;
	a = arrival_of(bev);
	if (!a)
		return;
	if (!a->since_ns) {
		a->since_ns = rj_monotonic_ns();
		bufferevent_set_timeouts(bev, &rest, &reader);
	} else if (rj_monotonic_ns() - a->since_ns >
		   (int64_t)rest.tv_sec * 1000000000) {
		a->since_ns = rj_monotonic_ns();
		bufferevent_trigger_event(bev,
			BEV_EVENT_TIMEOUT | BEV_EVENT_READING,
			BEV_TRIG_DEFER_CALLBACKS);
	}
}

bool slow_watch(struct bufferevent *bev)
{
	size_t i;

	/* the memory of one that is gone, perhaps with the same descriptor */
	for (i = 0; i < arrival_count; i++)
		if (arrivals[i].bev == bev)
			arrivals[i].bev = NULL;
	return evbuffer_add_cb(bufferevent_get_input(bev), on_input, bev) !=
	       NULL;
}

void slow_whole(struct bufferevent *bev)
{
	struct timeval idle = {SLOW_IDLE_SECONDS, 0};
	struct timeval reader = {SLOW_READER_SECONDS, 0};
	struct arrival *a = arrival_of(bev);

	if (a)
		a->since_ns = 0;
	bufferevent_set_timeouts(bev, &idle, &reader);
}
