// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hostile PORT DIRECTORY [hold|starve]: what no good client does to rjserver, while a
 * good one looks. Exit 0 if the good one never waited long and each bad one
 * got what it deserves. hold: begin to read a stream and wait for its end. starve: only the
 * body for which there is no memory.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "client.h"

static int port, bad;
static const char *dir;

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int dial(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct timeval patience = {120, 0};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)))
		abort();
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return fd;
}

static void say(int fd, const char *text)
{
	if (send(fd, text, strlen(text), MSG_NOSIGNAL) < 0)
		return; /* it has cut us off already */
}

static void expect(bool good, const char *what)
{
	if (good)
		return;
	printf("FAILED: %s\n", what);
	bad++;
}

/*
 * Somebody else's request, meanwhile: a server that waits for the hostile one answers
 * after its --request-time, which are more than these.
 */
static void others(const char *while_what)
{
	struct client c;
	double t = now();
	char path[200];

	snprintf(path, sizeof(path), "%s/?after=5", dir);
	if (client_open(&c, port))
		abort();
	expect(client_ask(&c, "GET", path, NULL, 0) == 200 && now() - t < 4.5,
		while_what);
	client_close(&c);
}

/* Feed a request byte by byte; the server has to end it in its time. */
static void drip(const char *begin, const char *drop, const char *what)
{
	double t = now();
	int fd = dial(), n = 0;
	char c;

	say(fd, begin);
	for (;;) {
		struct pollfd p = {fd, POLLIN, 0};

		if (poll(&p, 1, 50) > 0 && recv(fd, &c, 1, 0) <= 0)
			break;
		say(fd, drop);
		if (++n % 10 == 0)
			others(what);
		if (now() - t > 60)
			break;
	}
	expect(now() - t <= 60, what);
	close(fd);
}

/* Takes an answer, but hardly: the server has to end it. */
static void sip(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), small = 4096;
	struct sockaddr_in to = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	double t = now();
	char text[300], buf[200];

	snprintf(text, sizeof(text), "GET %s/?from=1 HTTP/1.1\r\n\r\n", dir);
	if (fd < 0 ||
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)) ||
		connect(fd, (struct sockaddr *)&to, sizeof(to)))
		abort();
	say(fd, text);
	while (now() - t < 100 && recv(fd, buf, sizeof(buf), 0) > 0)
		usleep(20000);
	expect(now() - t < 100, "who takes 10 kB a second is cut off");
	close(fd);
}

/* One whose body waits for memory, which others hold, until its time is over. */
static void starve(void)
{
	char text[300], answer[13] = "";
	int fds[20], fd = dial(), i;
	struct timeval patience = {120, 0};

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	/* its time begins first, so that it is over first */
	say(fd, "GET / HTTP/1.1\r\n\r\n");
	while (recv(fd, text, 1, 0) == 1 && text[0] != '\n')
		;
	usleep(500000);
	while (recv(fd, text, sizeof(text), MSG_DONTWAIT) > 0)
		;
	say(fd, "PUT ");
	sleep(4);
	for (i = 0; i < 20; i++) {
		fds[i] = dial();
		snprintf(text, sizeof(text),
			"PUT /hog%d%s/%020d HTTP/1.1\r\n"
			"Content-Length: 16777216\r\n\r\nx",
			i, strchr(dir + 1, '/'), 1);
		say(fds[i], text);
	}
	usleep(500000);
	snprintf(text, sizeof(text),
		"/thirsty%s/%020d HTTP/1.1\r\nContent-Length: 16777216\r\n\r\n",
		strchr(dir + 1, '/'), 1);
	say(fd, text);
	for (i = 0; i < 12 && recv(fd, answer + i, 1, 0) == 1; i++)
		;
	expect(!strcmp(answer, "HTTP/1.1 503"),
		"no memory for a body: 503, not just the end");
	printf("without memory: %s\n", answer);
	for (i = 0; i < 20; i++)
		close(fds[i]);
	close(fd);
}

/* Many connections that say nothing, or half a request, and go or stay. */
static void crowd(void)
{
	int fds[200], i;
	char text[300];

	for (i = 0; i < 200; i++) {
		fds[i] = dial();
		snprintf(text, sizeof(text),
			"PUT %s/%020d HTTP/1.1\r\nContent-Length: 100000\r\n%s",
			dir, 1000 + i, i % 2 ? "\r\nhalf of it" : "");
		if (i % 4)
			say(fds[i], text);
	}
	others("200 connections in the middle of a request");
	for (i = 0; i < 200; i++) {
		struct linger now_ = {1, 0};

		if (i % 3 == 0) /* a reset, not an end */
			setsockopt(fds[i], SOL_SOCKET, SO_LINGER, &now_,
				sizeof(now_));
		if (i % 3 == 1)
			shutdown(fds[i], SHUT_WR);
		close(fds[i]);
	}
	others("200 that went away");
}

/* Begin to read the stream, a little; then go in the middle of it. */
static void streams(int times)
{
	char text[300], buf[5000];
	int fd, i;

	snprintf(text, sizeof(text),
		"GET %s/?from=1 HTTP/1.1\r\nHost: x\r\n\r\n", dir);
	for (i = 0; i < times; i++) {
		fd = dial();
		say(fd, text);
		expect(recv(fd, buf, sizeof(buf), 0) > 0, "a stream begins");
		if (i % 5 == 0)
			others("a stream that nobody reads");
		close(fd);
	}
	others("streams that were left");
}

static void hold(void)
{
	char text[300], buf[1000];
	int fd = dial();

	snprintf(text, sizeof(text),
		"GET %s/?from=1 HTTP/1.1\r\nHost: x\r\n\r\n", dir);
	say(fd, text);
	if (recv(fd, buf, sizeof(buf), 0) > 0)
		printf("begun\n");
	fflush(stdout);
	sleep(1);
	while (recv(fd, buf, sizeof(buf), 0) > 0)
		continue;
	close(fd);
}

/* Requests with bytes changed, left out, doubled: any answer, no crash. */
static void garble(unsigned rounds)
{
	static const char *const seeds[] = {
		"GET /hostile/0fedcba9-8765-4321-0123-456789abcdef/log/?from=1 "
		"HTTP/1.1\r\nHost: x\r\n\r\n",
		"PUT /hostile/0fedcba9-8765-4321-0123-456789abcde/log/"
		"00000000000000000077 HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc",
		"DELETE /hostile/0fedcba9-8765-4321-0123-456789abcdef/log/"
		"?below=9 HTTP/1.1\r\nConnection: keep-alive\r\n\r\n",
		"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello"
		"\r\n0\r\n\r\n",
		"HEAD /hostile/ HTTP/1.0\r\n\r\n",
	};
	struct timeval soon = {0, 30000};
	char text[400], buf[2000];
	unsigned i, k;
	size_t len, at;
	int fd;

	for (i = 0; i < rounds; i++) {
		strcpy(text, seeds[(unsigned)random() % 5]);
		len = strlen(text);
		for (k = (unsigned)random() % 6; k > 0 && len > 2; k--) {
			at = (size_t)random() % len;
			switch (random() % 4) {
			case 0:
				text[at] = (char)random();
				break;
			case 1:
				memmove(text + at, text + at + 1, len-- - at);
				break;
			case 2:
				if (len + 1 < sizeof(text))
					memmove(text + at + 1, text + at,
						len++ - at);
				break;
			default:
				text[at] = "\r\n%/.:0? "[random() % 9];
			}
		}
		fd = dial();
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon));
		if (send(fd, text, len, MSG_NOSIGNAL) > 0 && random() % 4)
			if (recv(fd, buf, sizeof(buf), 0) < 0 && errno == EPIPE)
				abort();
		close(fd);
	}
	others("garbled requests");
}

int main(int argc, char **argv)
{
	const char *seed = getenv("RJ_SEED"), *rounds = getenv("RJ_FUZZ_ROUNDS");
	unsigned long s = seed ? strtoul(seed, NULL, 0) : (unsigned long)time(NULL);
	char text[300];

	if (argc < 3)
		return 2;
	port = atoi(argv[1]);
	dir = argv[2];
	if (argc > 3 && !strcmp(argv[3], "starve")) {
		starve();
		return bad != 0;
	}
	if (argc > 3) {
		hold();
		return 0;
	}
	printf("RJ_SEED=%lu\n", s);
	srandom((unsigned)s);
	drip("GET / HTTP/1.1\r\nX-A: b", "c", "a head that never ends");
	snprintf(text, sizeof(text),
		"PUT %s/%020d HTTP/1.1\r\nContent-Length: 100000\r\n\r\n", dir,
		500);
	drip(text, "x", "a body that never ends");
	sip();
	crowd();
	streams(20);
	garble(rounds ? (unsigned)atoi(rounds) : 400);
	return bad != 0;
}
