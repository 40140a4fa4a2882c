// SPDX-License-Identifier: GPL-2.0-or-later
#include "server.h"

#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commit.h"
#include "control.h"
#include "format/seghdr.h"
#include "gate.h"
#include "http.h"
#include "notify.h"
#include "reload.h"
#include "say.h"
#include "store_checkpoint.h"
#include "store_clean.h"
#include "tls.h"
#include "util/environ.h"

/* Connections have the middle priority (libevent's default); a batch is
 * flushed when none of them has anything left to read, or before the next one
 * is looked at once the batch is FLUSH_AFTER_NS old. */
enum {
	PRIORITY_FIRST,
	PRIORITY_CONNECTIONS,
	PRIORITY_FLUSH,
	PRIORITIES,
};

#define FLUSH_AFTER_NS 500000
/* Callbacks until it is seen who else wants something: requests that come one
 * behind the other make more callbacks before the last is done, without end. */
#define TURN_MOST 64
#define STOP_SECONDS 2 /* for sending the last answers */

enum {
	EVENT_FLUSH,
	EVENT_LATE,
	EVENT_IDLE,
	EVENT_TICK,
	EVENT_WATCHDOG,
	EVENT_TERM,
	EVENT_INT,
	EVENT_HUP,
	EVENTS,
};

struct server {
	struct live live; /* first: what a reload changes */
	struct store *store;
	struct event_base *base;
	struct http *http;
	struct control *control;
	struct event *events[EVENTS];
	uint64_t batches, batches_seen; /* for idle */
	int64_t batch_ns; /* when the last was begun; 0: it is written */
};

static void on_flush(evutil_socket_t fd, short what, void *arg)
{
	struct server *srv = arg;

	srv->batch_ns = 0;
	commit_flush(srv->store->commit);
}

/* Who never pauses, whatever they send, shall not keep others waiting. */
static void on_work(void *arg)
{
	struct server *srv = arg;

	if (srv->batch_ns &&
		rj_monotonic_ns() - srv->batch_ns > FLUSH_AFTER_NS)
		event_active(srv->events[EVENT_LATE], 0, 0);
}

static void on_wanted(void *arg)
{
	static const struct timeval second = {1, 0};
	struct server *srv = arg;

	srv->batches++;
	srv->batch_ns = rj_monotonic_ns();
	event_active(srv->events[EVENT_FLUSH], 0, 0);
	if (!event_pending(srv->events[EVENT_IDLE], EV_TIMEOUT, NULL))
		event_add(srv->events[EVENT_IDLE], &second);
}

/* A second without a write: say in the log itself that all before is durable,
 * so that a byte that rots in the last batch can not pass for a torn write. */
static void on_idle(evutil_socket_t fd, short what, void *arg)
{
	static const struct timeval second = {1, 0}, soon = {0, 5000};
	struct server *srv = arg;
	struct rj_error err = {0};

	store_checkpoint_tick(srv->store);
	if (srv->batches != srv->batches_seen) {
		srv->batches_seen = srv->batches;
		event_add(srv->events[EVENT_IDLE], &second);
		return;
	}
	if (clean_step(srv->store)) {
		srv->batches_seen = srv->batches;
		event_add(srv->events[EVENT_IDLE], &soon);
		return;
	}
	if (!srv->store->failed && commit_mark(srv->store->commit, false, &err))
		say_error("%s", err.msg);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct server *srv = arg;

	usage_tick(&srv->live.gate.usage);
}

/* From the loop that does all the work: if that hangs, nothing is sent. */
static void on_watchdog(evutil_socket_t fd, short what, void *arg)
{
	notify_send("WATCHDOG=1");
}

static void on_signal(evutil_socket_t fd, short what, void *arg)
{
	struct server *srv = arg;

	event_base_loopbreak(srv->base);
}

static void on_hangup(evutil_socket_t fd, short what, void *arg)
{
	struct server *srv = arg;

	live_reload(&srv->live);
}

static struct event_base *make_base(void)
{
	struct event_config *config = event_config_new();
	struct event_base *base = NULL;

	if (config && !event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK) &&
		!event_config_set_flag(
			config, EVENT_BASE_FLAG_EPOLL_USE_CHANGELIST) &&
		!event_config_set_max_dispatch_interval(
			config, NULL, TURN_MOST, PRIORITY_CONNECTIONS))
		base = event_base_new_with_config(config);
	if (config)
		event_config_free(config);
	if (base)
		event_base_priority_init(base, PRIORITIES);
	return base;
}

static int add_events(struct server *srv)
{
	const struct {
		int fd;
		short what;
		event_callback_fn fn;
		int priority;
		struct timeval every;
	} wanted[EVENTS] = {
		[EVENT_FLUSH] = {-1, 0, on_flush, PRIORITY_FLUSH, {0, 0}},
		[EVENT_LATE] = {-1, 0, on_flush, PRIORITY_FIRST, {0, 0}},
		[EVENT_IDLE] = {-1, 0, on_idle, PRIORITY_CONNECTIONS, {0, 0}},
		[EVENT_TICK] = {-1, EV_PERSIST, on_tick, PRIORITY_CONNECTIONS,
			{USAGE_SECONDS, 0}},
		[EVENT_WATCHDOG] = {-1, EV_PERSIST, on_watchdog,
			PRIORITY_CONNECTIONS,
			{(time_t)(notify_watchdog_us() / 2000000),
				(suseconds_t)(notify_watchdog_us() / 2 %
					      1000000)}},
		[EVENT_TERM] = {SIGTERM, EV_SIGNAL | EV_PERSIST, on_signal,
			PRIORITY_FIRST, {0, 0}},
		[EVENT_INT] = {SIGINT, EV_SIGNAL | EV_PERSIST, on_signal,
			PRIORITY_FIRST, {0, 0}},
		[EVENT_HUP] = {SIGHUP, EV_SIGNAL | EV_PERSIST, on_hangup,
			PRIORITY_FIRST, {0, 0}},
	};
	int i;

	for (i = 0; i < EVENTS; i++) {
		const struct timeval *every = &wanted[i].every;
		bool timed = every->tv_sec || every->tv_usec;

		srv->events[i] = event_new(srv->base, wanted[i].fd,
			wanted[i].what, wanted[i].fn, srv);
		if (!srv->events[i] ||
			event_priority_set(srv->events[i], wanted[i].priority))
			return -1;
		if ((timed || wanted[i].fd >= 0) &&
			event_add(srv->events[i], timed ? every : NULL))
			return -1;
	}
	return 0;
}

/* Takes over FD. */
static int set_up(struct server *srv, int fd)
{
	struct rj_error err = {0};

	srv->base = make_base();
	if (!srv->base || add_events(srv)) {
		close(fd); /* never used */
		goto fail;
	}
	/* A little more than an object may have, so that one just too large
	 * gets our own answer; evhttp refuses the rest. */
	srv->http = http_new(srv->base, fd, RJ_SEG_MAX_BYTES + (1u << 20),
		gate_request, &srv->live.gate);
	if (!srv->http)
		goto fail;
	http_on_done(srv->http, gate_done, &srv->live.gate);
	http_on_work(srv->http, on_work, srv);
	if (srv->live.tls)
		http_use_tls(srv->http, srv->live.tls);
	if (control_new(srv->base, &srv->live.gate, &srv->control, &err))
		say_warning("%s", err.msg); /* no "stats", all else works */
	commit_on_wanted(srv->store->commit, on_wanted, srv);
	return 0;
fail:
	say_error("cannot set up the event loop: out of memory");
	return -1;
}

static void tear_down(struct server *srv)
{
	size_t i;

	control_free(srv->control);
	http_free(srv->http);
	for (i = 0; i < EVENTS; i++)
		if (srv->events[i])
			event_free(srv->events[i]);
	/* frees what connections left, and tells the gate of them */
	if (srv->base)
		event_base_free(srv->base);
	live_end(&srv->live);
}

/* Answer what is in hand; whoever is still sending is cut off. */
static void drain(struct server *srv)
{
	static const struct timeval tick = {0, 10000};
	int i;

	http_stop(srv->http);
	commit_flush(srv->store->commit);
	for (i = 0; i < STOP_SECONDS * 100 && http_unsent(srv->http); i++) {
		event_base_loopexit(srv->base, &tick);
		event_base_dispatch(srv->base);
	}
	/* who never pauses has put more meanwhile: what is in the batch lies in
	 * memory of its connection, which ends now */
	commit_flush(srv->store->commit);
}

static int run(struct server *srv, const char *shown)
{
	int status = EXIT_FAILED;

	printf("rjserver: listening on %s\n", shown);
	if (fflush(stdout))
		say_warning("stdout: cannot write");
	notify_send("READY=1");
	if (event_base_dispatch(srv->base) == 0)
		status = 0;
	notify_send("STOPPING=1");
	drain(srv);
	return status;
}

int serve(const struct options *o, struct settings *set, int fd,
	const char *shown, bool loopback)
{
	struct server srv = {.live = {.options = o, .set = set,
				     .loopback = loopback}};
	struct store_opts opts = {.dir = set->dir, .received = set->received};
	int status = EXIT_FAILED;
	struct rj_error err = {0};

	if (store_open(&opts, &srv.store, &err)) {
		say_error("%s", err.msg);
		close(fd); /* never used */
		return EXIT_FAILED;
	}
	if (live_begin(&srv.live, srv.store, &err)) {
		say_error("%s", err.msg);
		close(fd); /* never used */
	} else if (!set_up(&srv, fd)) {
		status = run(&srv, shown);
	}
	tear_down(&srv);
	if (store_close(srv.store, &err)) {
		say_error("%s", err.msg);
		status = EXIT_FAILED;
	} else if (!status) {
		say_notice("stopped");
	}
	return status;
}
