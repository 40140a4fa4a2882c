// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * put-many KIND PORT CONNECTIONS BYTES SECONDS
 *
 * Puts of BYTES over CONNECTIONS, each of which sends its next one when the
 * last was answered, for SECONDS; prints puts a second and the latency of one
 * in microseconds. One thread: it takes as little of the machine as it can.
 * KIND: rj (rjserver; what was put is removed again), dav (HTTP PUT), redis
 * (SET), etcd (its JSON gateway), echo (a server of its own that only reads the
 * request and answers; PORT is not used): the loopback round trip; flood
 * (rjserver, each put is refused at once).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "bench/clock.h"

#define CONNS_MOST 1024
#define KEYS       4000 /* of the peers, that would fill memory else */
#define SAMPLES    4000000

enum kind { RJ, DAV, REDIS, ETCD, FLOOD, ECHO_BACK };

struct conn {
	int fd;
	unsigned id;
	uint64_t count;
	double since;
	char in[4096];
	size_t have, sent, head_len;
	char head[512];
};

static enum kind kind;
static size_t bytes, body_len;
static char *body, tail[8];
static float *samples;
static size_t sample_count;
static uint64_t failed;

static void die(const char *what)
{
	fprintf(stderr, "put-many: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int dial(int port)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)))
		die("connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

/* The echo server: one connection after the other is enough for a child each.
 */
static void echo_one(int fd)
{
	char buf[65536];
	size_t have = 0;
	ssize_t n;

	while ((n = recv(fd, buf, sizeof(buf), 0)) > 0) {
		have += (size_t)n;
		if (have < bytes)
			continue;
		have -= bytes;
		if (send(fd, "+OK\r\n", 5, MSG_NOSIGNAL) != 5)
			break;
	}
	_exit(0);
}

static int echo_start(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one, on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) ||
		listen(fd, 64) || getsockname(fd, (struct sockaddr *)&at, &len))
		die("echo");
	signal(SIGCHLD, SIG_IGN);
	if (fork() == 0) {
		alarm(120);
		while ((one = accept(fd, NULL, NULL)) >= 0) {
			if (fork() == 0) {
				alarm(120);
				echo_one(one);
			}
			close(one);
			if (getppid() == 1)
				break;
		}
		_exit(0);
	}
	close(fd);
	return ntohs(at.sin_port);
}

/* What does not change from put to put. */
static void make_body(void)
{
	static const char set[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef";
	size_t i;

	body_len = kind == ETCD ? (bytes + 2) / 3 * 4 : bytes;
	body = malloc(body_len + 1);
	if (!body)
		die("memory");
	for (i = 0; i < body_len; i++)
		body[i] = set[(i * 2654435761u >> 7) % 32];
	if (kind == ETCD)
		strcpy(tail, "\"}");
	else if (kind == REDIS)
		strcpy(tail, "\r\n");
}

static void make_head(struct conn *c)
{
	unsigned long key = c->id * 1000 + c->count % (KEYS / 256 + 1);
	char *p = c->head, key64[40];
	size_t n = sizeof(c->head);

	switch (kind) {
	case RJ:
		p += snprintf(p, n,
			"PUT /bench/%08x-0000-4000-8000-%012x/log/%020llu "
			"HTTP/1.1\r\nHost: x\r\nIf-None-Match: *\r\n"
			"Content-Length: %zu\r\n\r\n",
			c->id, (unsigned)getpid(),
			(unsigned long long)c->count + 1, bytes);
		break;
	case FLOOD: /* no such key */
		p += snprintf(p, n,
			"PUT /bench/none/log/1 HTTP/1.1\r\nHost: x\r\n"
			"If-None-Match: *\r\nContent-Length: %zu\r\n\r\n",
			bytes);
		break;
	case DAV:
		p += snprintf(p, n,
			"PUT /f%lu HTTP/1.1\r\nHost: x\r\n"
			"Content-Length: %zu\r\n\r\n",
			key, bytes);
		break;
	case REDIS:
		snprintf(key64, sizeof(key64), "k%lu", key);
		p += snprintf(p, n, "*3\r\n$3\r\nSET\r\n$%zu\r\n%s\r\n$%zu\r\n",
			strlen(key64), key64, bytes);
		break;
	case ETCD:
		/* any 16 characters are the base64 of 12 bytes */
		snprintf(key64, sizeof(key64), "%016lu", key);
		p += snprintf(p, n,
			"POST /v3/kv/put HTTP/1.1\r\nHost: x\r\n"
			"Content-Type: application/json\r\n"
			"Content-Length: %zu\r\n\r\n{\"key\":\"%s\",\"value\":\"",
			strlen(key64) + 19 + body_len + 2, key64);
		break;
	case ECHO_BACK:
		break;
	}
	c->head_len = (size_t)(p - c->head);
}

/* Send the rest of the request, as far as it goes. */
static void push(struct conn *c)
{
	size_t lens[3] = {c->head_len, body_len, strlen(tail)}, skip = c->sent;
	const char *at[3] = {c->head, body, tail};
	struct iovec v[3];
	struct msghdr m = {.msg_iov = v};
	size_t i;
	ssize_t n;

	for (i = 0; i < 3; i++) {
		size_t s = skip < lens[i] ? skip : lens[i];

		skip -= s;
		if (lens[i] > s)
			v[m.msg_iovlen++] = (struct iovec){
				(void *)(at[i] + s), lens[i] - s};
	}
	if (!m.msg_iovlen)
		return;
	n = sendmsg(c->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n < 0 && errno != EAGAIN)
		die("send");
	if (n > 0)
		c->sent += (size_t)n;
}

static void next(struct conn *c)
{
	make_head(c);
	c->sent = c->have = 0;
	c->since = now();
	push(c);
}

/* Is the answer whole? */
static bool whole(struct conn *c, bool *good)
{
	char *end, *p;
	size_t len;

	c->in[c->have] = 0;
	if (kind == REDIS || kind == ECHO_BACK) {
		*good = c->in[0] == '+';
		return strstr(c->in, "\r\n") != NULL;
	}
	end = strstr(c->in, "\r\n\r\n");
	if (!end)
		return false;
	*good = !strncmp(
		c->in, kind == FLOOD ? "HTTP/1.1 4" : "HTTP/1.1 2", 10);
	p = strcasestr(c->in, "\r\nContent-Length:");
	len = p && p < end ? strtoul(p + 17, NULL, 10) : 0;
	return c->have >= (size_t)(end + 4 - c->in) + len;
}

static void receive(struct conn *c, bool more)
{
	bool good = false;
	ssize_t n;

	n = recv(c->fd, c->in + c->have, sizeof(c->in) - 1 - c->have,
		MSG_DONTWAIT);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0)
		die("the server closed the connection");
	c->have += (size_t)n;
	if (!whole(c, &good))
		return;
	failed += !good;
	c->count++;
	if (sample_count < SAMPLES)
		samples[sample_count++] = (float)((now() - c->since) * 1e6);
	if (more)
		next(c);
}

static double run(struct conn *conns, int count, double seconds)
{
	struct epoll_event ev, evs[256];
	int ep = epoll_create1(EPOLL_CLOEXEC), i, n;
	double start = now(), t;

	for (i = 0; i < count; i++) {
		ev.events = EPOLLIN | EPOLLOUT | EPOLLET;
		ev.data.ptr = &conns[i];
		if (epoll_ctl(ep, EPOLL_CTL_ADD, conns[i].fd, &ev))
			die("epoll");
		next(&conns[i]);
	}
	do {
		n = epoll_wait(ep, evs, 256, 100);
		for (i = 0; i < n; i++) {
			struct conn *c = evs[i].data.ptr;

			if (evs[i].events & EPOLLOUT)
				push(c);
			if (evs[i].events & EPOLLIN)
				receive(c, true);
		}
		t = now() - start;
	} while (t < seconds);
	close(ep);
	return t;
}

/* rjserver keeps what it is given: give it back. */
static void clean_up(const struct conn *c, int port)
{
	char head[256], in[512];
	int fd = dial(port), n;

	n = snprintf(head, sizeof(head),
		"DELETE /bench/%08x-0000-4000-8000-%012x/log/"
		"?below=18446744073709551615 HTTP/1.1\r\nHost: x\r\n\r\n",
		c->id, (unsigned)getpid());
	if (send(fd, head, (size_t)n, MSG_NOSIGNAL) != n ||
		recv(fd, in, sizeof(in), 0) <= 0)
		die("clean up");
	close(fd);
}

static int by_size(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static const char *const kinds[] = {
		"rj", "dav", "redis", "etcd", "flood", "echo"};
	static struct conn conns[CONNS_MOST];
	int i, count, port;
	double t;

	if (argc != 6) {
		fprintf(stderr, "usage: see the head of put-many.c\n");
		return 2;
	}
	for (kind = RJ; kind < ECHO_BACK && strcmp(argv[1], kinds[kind]);)
		kind++;
	port = atoi(argv[2]);
	count = atoi(argv[3]);
	bytes = strtoul(argv[4], NULL, 10);
	samples = malloc(SAMPLES * sizeof(*samples));
	if (count < 1 || count > CONNS_MOST || !bytes || !samples)
		return 2;
	make_body();
	if (kind == ECHO_BACK)
		port = echo_start();
	for (i = 0; i < count; i++) {
		conns[i].fd = dial(port);
		conns[i].id = (unsigned)i + 1;
	}
	t = run(conns, count, strtod(argv[5], NULL));
	qsort(samples, sample_count, sizeof(*samples), by_size);
	if (!sample_count)
		die("no answer");
	printf("%s connections %d bytes %zu failed %llu p50_us %.0f p99_us "
	       "%.0f puts_per_s %.0f\n",
		argv[1], count, bytes, (unsigned long long)failed,
		(double)samples[sample_count / 2],
		(double)samples[sample_count * 99 / 100],
		(double)sample_count / t);
	for (i = 0; i < count; i++) {
		close(conns[i].fd);
		if (kind == RJ)
			clean_up(&conns[i], port);
	}
	return failed ? 1 : 0;
}
