// SPDX-License-Identifier: GPL-2.0-or-later
/* rjserver: keep the remote journals. One event loop does it all. */
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "commit.h"
#include "format/seghdr.h"
#include "handlers.h"
#include "http.h"
#include "listen.h"
#include "options.h"
#include "say.h"
#include "store.h"

/* Connections have the middle priority (libevent's default); a batch is
 * flushed when none of them has anything left to read. */
enum {
	PRIORITY_FIRST,
	PRIORITY_CONNECTIONS,
	PRIORITY_FLUSH,
	PRIORITIES,
};

#define STOP_SECONDS 2 /* for sending the last answers */

struct server {
	struct store *store;
	struct event_base *base;
	struct http *http;
	struct event *flush, *idle, *term, *intr;
	uint64_t batches, batches_seen; /* for idle */
};

static void on_flush(evutil_socket_t fd, short what, void *arg)
{
	struct server *srv = arg;

	commit_flush(srv->store->commit);
}

static void on_wanted(void *arg)
{
	static const struct timeval second = {1, 0};
	struct server *srv = arg;

	srv->batches++;
	event_active(srv->flush, 0, 0);
	if (!event_pending(srv->idle, EV_TIMEOUT, NULL))
		event_add(srv->idle, &second);
}

/* A second without a write: say in the log itself that all before is durable,
 * so that a byte that rots in the last batch can not pass for a torn write. */
static void on_idle(evutil_socket_t fd, short what, void *arg)
{
	static const struct timeval second = {1, 0};
	struct server *srv = arg;
	struct rj_error err = {0};

	if (srv->batches != srv->batches_seen) {
		srv->batches_seen = srv->batches;
		event_add(srv->idle, &second);
		return;
	}
	if (!srv->store->failed && commit_mark(srv->store->commit, false, &err))
		say_error("%s", err.msg);
}

static void on_signal(evutil_socket_t fd, short what, void *arg)
{
	struct server *srv = arg;

	event_base_loopbreak(srv->base);
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

static int set_up(struct server *srv, int fd)
{
	srv->base = make_base();
	if (!srv->base)
		goto fail;
	srv->flush = event_new(srv->base, -1, 0, on_flush, srv);
	srv->idle = evtimer_new(srv->base, on_idle, srv);
	srv->term = evsignal_new(srv->base, SIGTERM, on_signal, srv);
	srv->intr = evsignal_new(srv->base, SIGINT, on_signal, srv);
	if (!srv->flush || !srv->idle || !srv->term || !srv->intr ||
		event_priority_set(srv->flush, PRIORITY_FLUSH) ||
		event_priority_set(srv->term, PRIORITY_FIRST) ||
		event_priority_set(srv->intr, PRIORITY_FIRST) ||
		event_add(srv->term, NULL) || event_add(srv->intr, NULL))
		goto fail;
	/* A little more than an object may have, so that one just too large
	 * gets our own answer; evhttp refuses the rest. */
	srv->http = http_new(srv->base, fd, RJ_SEG_MAX_BYTES + (1u << 20),
		handle_request, srv->store);
	if (!srv->http)
		goto fail;
	commit_on_wanted(srv->store->commit, on_wanted, srv);
	return 0;
fail:
	say_error("cannot set up the event loop: out of memory");
	return -1;
}

static void tear_down(struct server *srv)
{
	struct event *events[] = {srv->flush, srv->idle, srv->term, srv->intr};
	size_t i;

	http_free(srv->http);
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (events[i])
			event_free(events[i]);
	if (srv->base)
		event_base_free(srv->base);
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
}

/* Each data file stays open. */
static void raise_file_limit(void)
{
	struct rlimit rl;

	if (!getrlimit(RLIMIT_NOFILE, &rl) && rl.rlim_cur < rl.rlim_max) {
		rl.rlim_cur = rl.rlim_max;
		setrlimit(RLIMIT_NOFILE, &rl);
	}
}

static int serve(const struct options *o, int fd, const char *shown)
{
	struct server srv = {0};
	struct rj_error err = {0};
	struct store_opts opts = {.dir = o->dir, .received = o->received};
	int status = EXIT_FAILED, rc;

	rc = store_open(&opts, &srv.store, &err);
	if (rc) {
		say_error("%s", err.msg);
		close(fd); /* never used */
		return EXIT_FAILED;
	}
	if (set_up(&srv, fd))
		goto out;
	printf("rjserver: listening on %s\n", shown);
	if (fflush(stdout))
		say_warning("stdout: cannot write");
	if (event_base_dispatch(srv.base) == 0)
		status = 0;
	drain(&srv);
out:
	tear_down(&srv);
	if (store_close(srv.store, &err)) {
		say_error("%s", err.msg);
		status = EXIT_FAILED;
	} else if (!status) {
		say_notice("stopped");
	}
	return status;
}

int main(int argc, char **argv)
{
	char shown[ADDRESS_TEXT];
	struct rj_error err = {0};
	struct options o;
	bool loopback;
	int status, fd;

	status = options_parse(argc, argv, &o);
	if (status >= 0)
		return status;
	if (o.quiet)
		say_set_quiet();
	signal(SIGPIPE, SIG_IGN);
	raise_file_limit();
	fd = listen_on(o.listen, shown, &loopback, &err);
	if (fd < 0) {
		say_error("%s", err.msg);
		return fd == -RJ_E_INVAL ? EXIT_USAGE : EXIT_FAILED;
	}
	if (!loopback && !o.insecure)
		say_warning("%s: no TLS and no accounts: anyone who reaches "
			    "this address can read and write all journals",
			shown);
	return serve(&o, fd, shown);
}
