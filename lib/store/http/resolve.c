// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/http/resolve.h"

#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "os/thread.h"
#include "util/environ.h"

#define LOOK_NS 100000000ll /* between two looks whether to give up */

/* A name that is looked up. The last of both threads frees it. */
struct lookup {
	pthread_mutex_t lock;
	pthread_cond_t ended;
	bool done, left; /* the thread's end; the asker's */
	struct addrinfo *list;
	char host[256], port[8];
};

static const struct addrinfo hints = {
	.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};

static void take(const struct addrinfo *list, struct rj_addresses *out)
{
	for (; list && out->count < RJ_ADDRESSES; list = list->ai_next) {
		memcpy(&out->at[out->count].address, list->ai_addr, list->ai_addrlen);
		out->at[out->count++].bytes = list->ai_addrlen;
	}
}

/* HOST is an address: add it. */
static void take_number(const char *host, const char *port, struct rj_addresses *out)
{
	struct addrinfo numeric = hints, *list;

	numeric.ai_flags |= AI_NUMERICHOST;
	if (getaddrinfo(host, port, &numeric, &list))
		return;
	take(list, out);
	freeaddrinfo(list);
}

static void free_lookup(struct lookup *l)
{
	if (l->list)
		freeaddrinfo(l->list);
	pthread_cond_destroy(&l->ended);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

static void *look_up(void *arg)
{
	struct lookup *l = arg;
	struct addrinfo *list;
	bool left;

	if (getaddrinfo(l->host, l->port, &hints, &list))
		list = NULL;
	pthread_mutex_lock(&l->lock);
	l->list = list;
	l->done = true;
	left = l->left;
	pthread_cond_signal(&l->ended);
	pthread_mutex_unlock(&l->lock);
	if (left)
		free_lookup(l);
	return NULL;
}

static struct lookup *start(const char *host, const char *port)
{
	struct lookup *l = calloc(1, sizeof(*l));
	pthread_t thread;

	if (!l)
		return NULL;
	pthread_mutex_init(&l->lock, NULL);
	rj_cond_init(&l->ended);
	snprintf(l->host, sizeof(l->host), "%s", host);
	snprintf(l->port, sizeof(l->port), "%s", port);
	if (rj_thread_start(&thread, look_up, l)) {
		free_lookup(l);
		return NULL;
	}
	pthread_detach(thread);
	return l;
}

static enum rj_resolved wait_for(struct lookup *l, int64_t until_ns,
	const _Atomic bool *give_up, struct rj_addresses *out)
{
	enum rj_resolved how = RJ_RESOLVED;
	struct timespec until;
	int64_t left;
	bool done;

	pthread_mutex_lock(&l->lock);
	while (!l->done && how == RJ_RESOLVED) {
		left = until_ns - rj_monotonic_ns();
		until = rj_cond_until(left < LOOK_NS ? left : LOOK_NS);
		if (give_up && *give_up)
			how = RJ_RESOLVED_GIVEN_UP;
		else if (left <= 0)
			how = RJ_RESOLVED_LATE;
		else
			pthread_cond_timedwait(&l->ended, &l->lock, &until);
	}
	done = l->done;
	l->left = true;
	pthread_mutex_unlock(&l->lock);
	if (!done)
		return how; /* the thread frees it */
	take(l->list, out);
	free_lookup(l);
	return out->count ? RJ_RESOLVED : RJ_RESOLVED_NOTHING;
}

static bool is_localhost(const char *host)
{
	static const char end[] = ".localhost";
	size_t len = strlen(host) - (host[0] && host[strlen(host) - 1] == '.');
	size_t part = sizeof(end) - 1;

	return (len == part - 1 && !strncasecmp(host, end + 1, len)) ||
	       (len > part && !strncasecmp(host + len - part, end, part));
}

enum rj_resolved rj_resolve(const char *host, uint16_t port, int64_t until_ns,
	const _Atomic bool *give_up, struct rj_addresses *out)
{
	char bare[256], service[8];
	size_t len = strlen(host);
	struct lookup *l;

	out->count = 0;
	snprintf(service, sizeof(service), "%u", (unsigned)port);
	if (host[0] == '[' && host[len - 1] == ']')
		snprintf(bare, sizeof(bare), "%.*s", (int)len - 2, host + 1);
	else
		snprintf(bare, sizeof(bare), "%s", host);
	take_number(bare, service, out);
	if (is_localhost(bare)) {
		take_number("::1", service, out);
		take_number("127.0.0.1", service, out);
	}
	if (out->count)
		return RJ_RESOLVED;
	l = start(bare, service);
	return l ? wait_for(l, until_ns, give_up, out) : RJ_RESOLVED_NOTHING;
}
