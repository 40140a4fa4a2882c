// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cutproxy ADDRESS PERMILLE SEED PORT[-PORT]...: carries what comes to those ports
 * of ADDRESS (one of 127.0.0.0/8) to the same ports of 127.0.0.1, and does harm
 * to so many per mille of the chunks: delays, resets before the server hears and
 * after it has answered, half of what the client sends, half of an answer. For
 * protocols whose servers name ports of their own (FTP), and for what is encrypted.
 * Prints "ready", and serves until it is killed; for each kind, how often, on
 * SIGTERM.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CHUNK 65536
#define PORTS 256

enum harm { NONE, DELAY, RESET, CUT, LOST, PARTIAL, HARMS };
static const char *const names[] = {
	"none", "delay", "reset", "cut", "lost", "partial"};
static atomic_uint counts[HARMS];
static unsigned permille;
static atomic_uint draw; /* a number for each chunk */

static unsigned next_random(void)
{
	uint64_t x = (atomic_fetch_add(&draw, 1) + 1) * 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return (unsigned)(x >> 33);
}

/* Chance picks the chunk; the kinds that its direction has take turns. */
static enum harm choose(bool down)
{
	static const enum harm up_kinds[] = {RESET, LOST, CUT, DELAY};
	static const enum harm down_kinds[] = {PARTIAL, DELAY};
	static atomic_uint ups, downs;

	if (next_random() % 1000 >= permille)
		return NONE;
	return down ? down_kinds[atomic_fetch_add(&downs, 1) % 2]
		    : up_kinds[atomic_fetch_add(&ups, 1) % 4];
}

static bool send_all(int fd, const char *data, ssize_t len)
{
	ssize_t n;

	for (; len > 0; data += n, len -= n) {
		n = send(fd, data, (size_t)len, MSG_NOSIGNAL);
		if (n <= 0)
			return false;
	}
	return true;
}

static void reset(int fd)
{
	struct linger now = {1, 0};

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
}

static struct sockaddr_in at(in_addr_t address, int port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = address};
}

struct pair {
	int client, server;
	char chunk[CHUNK];
};

/*
 * The server has what it was sent. Its answer is not passed on; but nor does the
 * client hear of the loss before the server is done with it: else, on a busy
 * machine, it could do the first attempt after all that came after a second one.
 */
static void lose_answer(int server)
{
	struct pollfd answer = {.fd = server, .events = POLLIN};
	char rest[4096];

	poll(&answer, 1, 200);
	shutdown(server, SHUT_WR);
	while (poll(&answer, 1, 4000) > 0 &&
		recv(server, rest, sizeof(rest), 0) > 0)
		;
}

/*
 * What the one side sent, or its end. DOWN: the server did. False: the connection
 * is over. A half goes to the server with an orderly end after it, and so
 * does one to the client: the worse of the two ways to be cut off.
 */
static bool carry(struct pair *p, bool down)
{
	int from = down ? p->server : p->client;
	int to = down ? p->client : p->server;
	ssize_t n = recv(from, p->chunk, CHUNK, 0);
	enum harm harm;

	if (n == 0) {
		shutdown(to, SHUT_WR);
		return !down; /* the server's answer may still come */
	}
	if (n < 0)
		return false;
	harm = choose(down);
	counts[harm]++;
	if (harm == DELAY)
		usleep(1000 * (5 + next_random() % 40));
	if (harm == NONE || harm == DELAY)
		return send_all(to, p->chunk, n);
	if (harm == CUT || harm == PARTIAL)
		send_all(to, p->chunk, n / 2);
	if (harm == LOST && send_all(to, p->chunk, n))
		lose_answer(to);
	if (harm != PARTIAL)
		reset(p->client);
	return false;
}

static void *connection(void *arg)
{
	struct pair *p = arg;
	struct pollfd fds[2] = {{.fd = p->client, .events = POLLIN},
		{.fd = p->server, .events = POLLIN}};
	bool on = true;

	while (on && poll(fds, 2, -1) > 0) {
		bool up = fds[0].revents, down = fds[1].revents;

		/* what the server said last comes before what it is told */
		if (down)
			on = carry(p, true);
		if (on && up) {
			on = carry(p, false);
			/* half closed: it is heard no more */
			if (on && fds[0].revents & POLLHUP)
				on = false;
			if (on && recv(p->client, p->chunk, 1,
					  MSG_PEEK | MSG_DONTWAIT) == 0)
				fds[0].fd = -1;
		}
	}
	close(p->client);
	close(p->server);
	free(p);
	return NULL;
}

static void take(int listener)
{
	struct sockaddr_in a;
	socklen_t len = sizeof(a);
	struct pair *p = malloc(sizeof(*p));
	int one = 1, client = accept(listener, NULL, NULL), server;
	pthread_t thread;

	if (!p || client < 0)
		exit(1);
	getsockname(client, (struct sockaddr *)&a, &len);
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	server = socket(AF_INET, SOCK_STREAM, 0);
	*p = (struct pair){.client = client, .server = server};
	setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (!connect(server, (struct sockaddr *)&a, sizeof(a)) &&
		!pthread_create(&thread, NULL, connection, p)) {
		pthread_detach(thread);
		return;
	}
	reset(client);
	close(client);
	close(server);
	free(p);
}

static void *report(void *arg)
{
	int sig, i;

	sigwait(arg, &sig);
	for (i = 0; i < HARMS; i++)
		printf("%s %u\n", names[i], counts[i]);
	fflush(stdout);
	_exit(0);
}

static nfds_t listen_on(in_addr_t address, const char *ports,
	struct pollfd *fds, nfds_t count)
{
	int first = 0, last = 0, one = 1;

	if (sscanf(ports, "%d-%d", &first, &last) < 2)
		last = first;
	for (; first <= last && count < PORTS; first++) {
		struct sockaddr_in a = at(address, first);
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		if (bind(fd, (struct sockaddr *)&a, sizeof(a)) ||
			listen(fd, 64)) {
			perror("cutproxy");
			exit(1);
		}
		fds[count++] = (struct pollfd){.fd = fd, .events = POLLIN};
	}
	return count;
}

int main(int argc, char **argv)
{
	static struct pollfd fds[PORTS];
	nfds_t count = 0, f;
	pthread_t thread;
	sigset_t term;
	int i;

	if (argc < 5)
		return 2;
	permille = (unsigned)atoi(argv[2]);
	draw = (unsigned)strtoul(argv[3], NULL, 10);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &term, NULL);
	for (i = 4; i < argc; i++)
		count = listen_on(inet_addr(argv[1]), argv[i], fds, count);
	if (pthread_create(&thread, NULL, report, &term))
		return 1;
	puts("ready");
	fflush(stdout);
	while (poll(fds, count, -1) > 0)
		for (f = 0; f < count; f++)
			if (fds[f].revents)
				take(fds[f].fd);
	return 1;
}
