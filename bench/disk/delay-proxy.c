// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * delay-proxy TARGET_PORT USEC: pass TCP connections on to 127.0.0.1:TARGET_PORT,
 * every byte USEC microseconds late in each direction: a longer wire, for
 * machines whose kernel has no netem. Prints the port that it listens on (on
 * 127.0.0.1), and runs until killed. One thread; what the proxy's own two hops
 * take comes on top, and bench/commit says how much that is.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PAIRS	    16
#define PIECES	    256
#define PIECE_BYTES 65536

struct piece {
	int64_t due;
	size_t len, sent;
	char *data;
};

/* From one socket to another. */
struct way {
	int from, to;
	struct piece pieces[PIECES]; /* a ring */
	unsigned first, count;
	bool ended; /* nothing more comes */
};

static struct way ways[2 * PAIRS]; /* from == -1: free */
static int64_t delay_ns;

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

static int prepare(int fd)
{
	int on = 1;

	return setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static void end_pair(unsigned i)
{
	struct way *w;
	unsigned k;

	i &= ~1u;
	close(ways[i].from);
	close(ways[i].to);
	for (k = i; k < i + 2; k++) {
		w = &ways[k];
		for (; w->count; w->count--, w->first++)
			free(w->pieces[w->first % PIECES].data);
		memset(w, 0, sizeof(*w));
		w->from = w->to = -1;
	}
}

static void take(unsigned i)
{
	struct way *w = &ways[i];
	struct piece *p = &w->pieces[(w->first + w->count) % PIECES];
	ssize_t n;

	p->data = malloc(PIECE_BYTES);
	n = p->data ? recv(w->from, p->data, PIECE_BYTES, MSG_DONTWAIT) : -1;
	if (n <= 0) {
		free(p->data);
		if (n == 0)
			w->ended = true;
		else if (errno != EAGAIN)
			end_pair(i);
		return;
	}
	p->due = now_ns() + delay_ns;
	p->len = (size_t)n;
	p->sent = 0;
	w->count++;
}

/* Pass on what is due; false: the pair is at its end. */
static bool give(struct way *w)
{
	struct piece *p;
	ssize_t n;

	while (w->count) {
		p = &w->pieces[w->first % PIECES];
		if (p->due > now_ns())
			return true;
		n = send(w->to, p->data + p->sent, p->len - p->sent,
			MSG_NOSIGNAL);
		if (n < 0)
			return false;
		p->sent += (size_t)n;
		if (p->sent < p->len)
			continue;
		free(p->data);
		w->first++;
		w->count--;
	}
	return !w->ended;
}

static void accept_one(int listener, uint16_t port)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_port = port};
	int in = accept(listener, NULL, NULL), out;
	unsigned i;

	if (in < 0)
		return;
	out = socket(AF_INET, SOCK_STREAM, 0);
	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (i = 0; i < 2 * PAIRS && ways[i].from != -1; i += 2)
		;
	if (out < 0 || i == 2 * PAIRS ||
		connect(out, (struct sockaddr *)&sa, sizeof(sa)) ||
		prepare(in) || prepare(out)) {
		close(in);
		if (out >= 0)
			close(out);
		return;
	}
	ways[i].from = ways[i + 1].to = in;
	ways[i].to = ways[i + 1].from = out;
}

/* How long until the next piece is due; NULL: nothing waits. */
static struct timespec *next_due(struct timespec *ts)
{
	int64_t least = INT64_MAX, wait;
	unsigned i;

	for (i = 0; i < 2 * PAIRS; i++)
		if (ways[i].from != -1 && ways[i].count &&
			ways[i].pieces[ways[i].first % PIECES].due < least)
			least = ways[i].pieces[ways[i].first % PIECES].due;
	if (least == INT64_MAX)
		return NULL;
	wait = least - now_ns();
	wait = wait < 0 ? 0 : wait;
	*ts = (struct timespec){wait / 1000000000, wait % 1000000000};
	return ts;
}

static void turn(int listener, uint16_t port)
{
	struct pollfd fds[2 * PAIRS + 1];
	struct timespec ts;
	unsigned i;

	for (i = 0; i < 2 * PAIRS; i++)
		fds[i] = (struct pollfd){ways[i].ended || ways[i].count == PIECES
						 ? -1
						 : ways[i].from,
			POLLIN, 0};
	fds[i] = (struct pollfd){listener, POLLIN, 0};
	if (ppoll(fds, 2 * PAIRS + 1, next_due(&ts), NULL) < 0)
		return;
	for (i = 0; i < 2 * PAIRS; i++)
		if (fds[i].revents && ways[i].from != -1)
			take(i);
	for (i = 0; i < 2 * PAIRS; i++)
		if (ways[i].from != -1 && !give(&ways[i]))
			end_pair(i);
	if (fds[2 * PAIRS].revents)
		accept_one(listener, port);
}

int main(int argc, char **argv)
{
	struct sockaddr_in sa = {.sin_family = AF_INET};
	socklen_t len = sizeof(sa);
	uint16_t port;
	unsigned i;
	int fd;

	if (argc != 3 || atoi(argv[1]) < 1 || atoi(argv[2]) < 0) {
		fprintf(stderr, "usage: delay-proxy TARGET_PORT USEC\n");
		return 2;
	}
	port = htons((uint16_t)atoi(argv[1]));
	delay_ns = atol(argv[2]) * 1000ll;
	for (i = 0; i < 2 * PAIRS; i++)
		ways[i].from = ways[i].to = -1;
	prctl(PR_SET_TIMERSLACK, 1000); /* ns */
	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&sa, sizeof(sa)) ||
		listen(fd, PAIRS) ||
		getsockname(fd, (struct sockaddr *)&sa, &len)) {
		perror("delay-proxy");
		return 1;
	}
	printf("%u\n", ntohs(sa.sin_port));
	fflush(stdout);
	for (;;)
		turn(fd, port);
}
