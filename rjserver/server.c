// SPDX-License-Identifier: GPL-2.0-or-later
/* The event loop: listen, flush batches, handle signals, stop. */
#include "server.h"

#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "dispatch.h"
#include "log.h"
#include "notify.h"
#include "reload.h"
#include "rjserver/access/access.h"
#include "rjserver/http/http.h"
#include "rjserver/http/tls.h"
#include "rjserver/status/control.h"
#include "rjserver/store/commit.h"
#include "rjserver/store/store-checkpoint.h"
#include "rjserver/store/store-clean.h"
#include "rjserver/store/store-read.h"
#include "util/environ.h"

/* Connections have the middle priority (libevent's default); a batch is
 * flushed when none of them has anything left to read, or before the next one
 * is looked at once the batch is FLUSH_AFTER_NS old and as old as the last write took. */
enum {
	PRIORITY_FIRST,
	PRIORITY_CONNECTIONS,
	PRIORITY_FLUSH,
	PRIORITIES,
};

#define FLUSH_AFTER_NS 500000
#define FLUSH_MOST_NS  20000000 /* a slow write does not delay the next by more */
/* Callbacks until other connections are looked at: requests that come one after the
 * other make more callbacks before the last is done, without end. A look costs time for
 * each connection that is ready, so more callbacks where there are more connections. */
#define TURN_LEAST 64
#define TURN_SHARE 8 /* connections for each callback more */
/* Descriptors for other than connections and the store's files (each has two):
 * those that are always open, and the next file, the checkpoint, a directory. */
#define KEEP_DESCRIPTORS  32
#define LEAST_CONNECTIONS 4
#define MOST_DESCRIPTORS  (1u << 20)
#define STOP_SECONDS 2 /* for sending the last answers */

enum {
	EVENT_FLUSH,
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
	unsigned descriptors; /* that this process may have */
	size_t files_seen;    /* of the store */
	int64_t batch_ns; /* when the last was begun; 0: it is written */
	int64_t flush_ns; /* how long the last flush took */
	unsigned turn; /* callbacks since other connections were looked at */
};

/* How many connections there may be beside what the store has open, and will. */
static struct http_limits limits_now(struct server *srv)
{
	uint64_t kept = KEEP_DESCRIPTORS + 2 * srv->store->file_count;

	srv->files_seen = srv->store->file_count;
	return (struct http_limits){
		.connections = srv->descriptors > kept + LEAST_CONNECTIONS
				       ? (unsigned)(srv->descriptors - kept)
				       : LEAST_CONNECTIONS,
		.per_address = srv->live.set->per_address,
		.request_seconds = (int)srv->live.set->request_s,
	};
}

static void on_flush(evutil_socket_t fd, short what, void *arg)
{
	static const struct timeval soon = {0, 5000};
	struct server *srv = arg;
	struct http_limits limits;

	srv->batch_ns = 0;
	srv->flush_ns = rj_monotonic_ns();
	commit_flush(srv->store->commit);
	srv->flush_ns = rj_monotonic_ns() - srv->flush_ns;
	if (srv->files_seen != srv->store->file_count) {
		limits = limits_now(srv);
		http_set_limits(srv->http, &limits);
	}
	if (srv->store->tight) /* what was deleted may make space at once */
		event_add(srv->events[EVENT_IDLE], &soon);
}

/* A client that never pauses, whatever it sends, does not keep others waiting; and
 * what was refused for lack of space has the cleaner begin. */
static void on_work(void *arg)
{
	static const struct timeval soon = {0, 5000};
	struct server *srv = arg;
	int64_t age = srv->batch_ns ? rj_monotonic_ns() - srv->batch_ns : 0;

	if (srv->store->tight &&
		!event_pending(srv->events[EVENT_IDLE], EV_TIMEOUT, NULL))
		event_add(srv->events[EVENT_IDLE], &soon);
	if (age > FLUSH_MOST_NS ||
		(age > FLUSH_AFTER_NS && age > srv->flush_ns))
		on_flush(-1, 0, srv);
	if (++srv->turn > TURN_LEAST + http_count(srv->http) / TURN_SHARE) {
		srv->turn = 0;
		event_base_loopcontinue(srv->base);
	}
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
	if (srv->batches != srv->batches_seen && !srv->store->tight) {
		srv->batches_seen = srv->batches;
		event_add(srv->events[EVENT_IDLE], &second);
		return;
	}
	if (clean_step(srv->store) ||
		(srv->store->tight && srv->store->checkpoint)) {
		srv->batches_seen = srv->batches;
		event_add(srv->events[EVENT_IDLE], &soon);
		return;
	}
	if (!srv->store->failed && commit_mark(srv->store->commit, false, &err))
		log_error("%s", err.msg);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct server *srv = arg;

	usage_tick(&srv->live.access.usage);
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
	struct http_limits limits;

	live_reload(&srv->live);
	limits = limits_now(srv);
	http_set_limits(srv->http, &limits);
	if (srv->live.tls)
		http_recheck_tls(srv->http);
}

static struct event_base *make_base(void)
{
	struct event_config *config = event_config_new();
	struct event_base *base = NULL;

	if (config && !event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK) &&
		!event_config_set_flag(
			config, EVENT_BASE_FLAG_EPOLL_USE_CHANGELIST))
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

/* As many as this process may have. */
static unsigned raise_descriptors(void)
{
	struct rlimit now, most;

	if (getrlimit(RLIMIT_NOFILE, &now))
		return MOST_DESCRIPTORS;
	most = now;
	most.rlim_cur = most.rlim_max;
	if (!setrlimit(RLIMIT_NOFILE, &most))
		now = most;
	return now.rlim_cur < MOST_DESCRIPTORS ? (unsigned)now.rlim_cur
					       : MOST_DESCRIPTORS;
}

/* Takes over FD. */
static int set_up(struct server *srv, int fd)
{
	struct http_handlers handlers = {
		.request = dispatch_request,
		.body = dispatch_body,
		.done = dispatch_done,
		.work = on_work,
		.arg = &srv->live.access,
		.work_arg = srv,
	};
	struct http_limits limits;
	struct rj_error err = {0};

	srv->base = make_base();
	if (!srv->base || add_events(srv)) {
		close(fd); /* never used */
		goto fail;
	}
	srv->descriptors = raise_descriptors();
	limits = limits_now(srv);
	srv->http = http_new(srv->base, fd, &handlers, &limits);
	if (!srv->http)
		goto fail;
	if (srv->live.tls)
		http_use_tls(srv->http, srv->live.tls);
	if (control_new(srv->base, &srv->live.access, &srv->control, &err))
		log_warning("%s", err.msg); /* no "stats", all else works */
	commit_on_wanted(srv->store->commit, on_wanted, srv);
	reader_start(srv->store, srv->base);
	return 0;
fail:
	log_error("cannot set up the event loop: out of memory");
	return -1;
}

static void tear_down(struct server *srv)
{
	size_t i;

	control_free(srv->control);
	reader_stop(srv->store);
	http_free(srv->http);
	for (i = 0; i < EVENTS; i++)
		if (srv->events[i])
			event_free(srv->events[i]);
	/* frees what connections left, and tells the access control of them */
	if (srv->base)
		event_base_free(srv->base);
	live_end(&srv->live);
}

/* Answer what is in hand; a client that is still sending is cut off. */
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
	/* a client that never pauses has put more since: what is in the batch
	 * lies in memory of its connection, which ends now */
	commit_flush(srv->store->commit);
}

static int run(struct server *srv, const char *shown)
{
	int status = EXIT_FAILED;

	printf("rjserver: listening on %s\n", shown);
	if (fflush(stdout))
		log_warning("stdout: cannot write");
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
	struct store_opts opts = {.dir = set->dir,
		.received = set->received,
		.file_bytes = set->file_bytes};
	int status = EXIT_FAILED;
	struct rj_error err = {0};

	if (store_open(&opts, &srv.store, &err)) {
		log_error("%s", err.msg);
		close(fd); /* never used */
		return EXIT_FAILED;
	}
	if (live_begin(&srv.live, srv.store, &err)) {
		log_error("%s", err.msg);
		close(fd); /* never used */
	} else if (!set_up(&srv, fd)) {
		status = run(&srv, shown);
	}
	tear_down(&srv);
	if (store_close(srv.store, &err)) {
		log_error("%s", err.msg);
		status = EXIT_FAILED;
	} else if (!status) {
		log_notice("stopped");
	}
	return status;
}
