// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each connection has a thread. Requests are read whole, noted and passed on;
 * answers are passed on as they come, but the status line of a put's is looked
 * at, and noted, first.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "events.h"
#include "record.h"

#define REQUEST_BYTES (20u << 20)
#define ANSWER_BYTES  65536
#define LOOK_MS	      20 /* whether the server is away */
#define AWAIT_MS      5000

/* One for each connection. */
struct relay {
	int client, server;
	char *buf; /* of a request */
	size_t have;
	char put[EVENT_NAME_BYTES]; /* its answer is waited for; "": none */
};

static struct sockaddr_in target;
static int listener;
static atomic_bool away;

static bool put_all(int fd, const char *data, size_t len)
{
	ssize_t n;

	for (; len; len -= (size_t)n, data += n) {
		n = send(fd, data, len, MSG_NOSIGNAL);
		if (n <= 0)
			return false;
	}
	return true;
}

static size_t body_length(const char *head)
{
	const char *p = strcasestr(head, "\r\nContent-Length:");

	return p ? strtoull(p + 17, NULL, 10) : 0;
}

/* "/NAME/UUID/log/SEQ": all from the UUID on */
static const char *key_of(const char *path)
{
	const char *p = strchr(path + 1, '/');

	return p ? p + 1 : "";
}

static void note_request(struct relay *r, const char *body, size_t len)
{
	char method[16], path[256], name[EVENT_NAME_BYTES], *query;
	unsigned long long below = 0, least = 0;

	r->put[0] = 0;
	if (sscanf(r->buf, "%15s %255s", method, path) != 2)
		return;
	snprintf(name, sizeof(name), "%s", key_of(path));
	if (!strcmp(method, "PUT")) {
		events_add(EVENT_PUT, 0, (uint32_t)len, name, body);
		memcpy(r->put, name, sizeof(name));
	} else if (!strcmp(method, "DELETE")) {
		query = strchr(name, '?');
		if (query && sscanf(query, "?below=%llu&least=%llu", &below,
				     &least) >= 1) {
			*query = 0;
			events_add(EVENT_DROP, below, (uint32_t)least, name,
				NULL);
		}
	}
}

/* More of the client's bytes; whole requests go on. */
static bool from_client(struct relay *r)
{
	ssize_t n = read(r->client, r->buf + r->have, REQUEST_BYTES - r->have);
	size_t head, body;
	char *end;

	if (n <= 0)
		return false;
	r->have += (size_t)n;
	for (;;) {
		r->buf[r->have] = 0;
		end = memmem(r->buf, r->have, "\r\n\r\n", 4);
		if (!end)
			return r->have < REQUEST_BYTES;
		head = (size_t)(end - r->buf) + 4;
		end[2] = 0; /* the head is a string */
		body = body_length(r->buf);
		end[2] = '\r';
		if (head + body > REQUEST_BYTES)
			return false;
		if (r->have < head + body)
			return true;
		note_request(r, r->buf + head, body);
		if (!put_all(r->server, r->buf, head + body))
			return false;
		r->have -= head + body;
		memmove(r->buf, r->buf + head + body, r->have);
	}
}

/* 0: the connection has ended. */
static size_t answer(struct relay *r, char buf[ANSWER_BYTES])
{
	ssize_t n = read(r->server, buf, ANSWER_BYTES);

	if (n <= 0)
		return 0;
	if (r->put[0]) {
		/* 412: the one before was, but its answer was lost */
		if (n > 12 && (!memcmp(buf + 8, " 201", 4) ||
				      !memcmp(buf + 8, " 412", 4)))
			events_add(EVENT_STORED, 0, 0, r->put, NULL);
		r->put[0] = 0;
	}
	return (size_t)n;
}

static bool from_server(struct relay *r)
{
	char buf[ANSWER_BYTES];
	size_t n = answer(r, buf);

	return n && put_all(r->client, buf, n);
}

/* Nobody hears of it, but what was put is there. */
static void await_answer(struct relay *r)
{
	struct pollfd p = {r->server, POLLIN, 0};
	char buf[ANSWER_BYTES];

	while (r->put[0] && poll(&p, 1, AWAIT_MS) == 1 && answer(r, buf))
		continue;
}

static void *serve(void *arg)
{
	struct relay r = {.client = (int)(intptr_t)arg};
	struct pollfd p[2];
	int one = 1;
	bool on;

	r.buf = malloc(REQUEST_BYTES + 1);
	r.server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	on = r.buf && !connect(r.server, (struct sockaddr *)&target,
				 sizeof(target));
	setsockopt(r.client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(r.server, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	p[0] = (struct pollfd){r.client, POLLIN, 0};
	p[1] = (struct pollfd){r.server, POLLIN, 0};
	while (on && !away && poll(p, 2, LOOK_MS) >= 0) {
		if (p[1].revents)
			on = from_server(&r);
		if (on && p[0].revents)
			on = from_client(&r);
	}
	close(r.client);
	await_answer(&r);
	close(r.server);
	free(r.buf);
	return NULL;
}

static void *accept_all(void *arg)
{
	pthread_t thread;
	int fd;

	while ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)fd))
			close(fd);
		else
			pthread_detach(thread);
	}
	return NULL;
}

void relay_away(bool is)
{
	away = is;
}

int relay_start(int port)
{
	struct sockaddr_in here = {.sin_family = AF_INET};
	socklen_t len = sizeof(here);
	pthread_t thread;

	here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	target = here;
	target.sin_port = htons((uint16_t)port);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 ||
		bind(listener, (struct sockaddr *)&here, sizeof(here)) ||
		listen(listener, 16) ||
		getsockname(listener, (struct sockaddr *)&here, &len) ||
		pthread_create(&thread, NULL, accept_all, NULL))
		return -1;
	pthread_detach(thread);
	return ntohs(here.sin_port);
}
