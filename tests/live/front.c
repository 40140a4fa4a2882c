// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * front ADDRESS PORT TO-ADDRESS TO-PORT FILE: what stands before a server, as a load
 * balancer does. It passes connections on; but while FILE is there it answers each
 * request with FILE's bytes itself, and closes. With a file FILE.pass a connection
 * whose first request has the text of that in its head is passed on all the same.
 * A process for each connection.
 * Prints "ready"; ends when it is killed.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define LOOK_MS	 20
#define QUIET_MS 100 /* so long after a byte the request has come */
#define FIRST_MS 10000
#define DRAIN_MS 1000

static const char *file;

static struct sockaddr_in address(const char *ip, const char *port)
{
	struct sockaddr_in a = {.sin_family = AF_INET};

	a.sin_port = htons((unsigned short)atoi(port));
	inet_pton(AF_INET, ip, &a.sin_addr);
	return a;
}

static bool readable(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, ms) > 0;
}

/* Take what comes until it is quiet. */
static void take(int fd, int first_ms, int then_ms)
{
	static char data[65536];
	int ms = first_ms;

	while (readable(fd, ms) && recv(fd, data, sizeof(data), 0) > 0)
		ms = then_ms;
}

static void answer(int fd)
{
	char data[4096];
	FILE *f = fopen(file, "r");
	size_t n = f ? fread(data, 1, sizeof(data), f) : 0;

	take(fd, FIRST_MS, QUIET_MS);
	if (send(fd, data, n, MSG_NOSIGNAL) == (ssize_t)n)
		shutdown(fd, SHUT_WR);
	take(fd, DRAIN_MS, DRAIN_MS);
}

/* False: that is the end of it. */
static bool pass(int from, int to)
{
	static char data[65536];
	ssize_t n = recv(from, data, sizeof(data), 0), at = 0, sent;

	for (; at < n; at += sent) {
		sent = send(to, data + at, (size_t)(n - at), MSG_NOSIGNAL);
		if (sent <= 0)
			return false;
	}
	return n > 0;
}

/* Does the first request on FD have the text of FILE.pass? It is left there. */
static bool let_pass(int fd)
{
	char path[4096], want[256] = "", head[8192];
	FILE *f;
	ssize_t n;
	int i;

	snprintf(path, sizeof(path), "%s.pass", file);
	f = fopen(path, "r");
	if (!f)
		return false;
	n = (ssize_t)fread(want, 1, sizeof(want) - 1, f);
	fclose(f);
	for (i = 0; n > 0 && i < FIRST_MS / LOOK_MS; i++) {
		if (!readable(fd, LOOK_MS))
			continue;
		n = recv(fd, head, sizeof(head) - 1, MSG_PEEK);
		if (n <= 0)
			return false;
		head[n] = 0;
		if (strstr(head, want))
			return true;
		if (strstr(head, "\r\n\r\n"))
			return false;
		usleep(LOOK_MS * 1000);
	}
	return false;
}

/* ALWAYS: also while FILE is there. */
static void relay(int fd, const struct sockaddr_in *to, bool always)
{
	int on = 1, far = socket(AF_INET, SOCK_STREAM, 0);
	struct pollfd p[2] = {{.fd = fd, .events = POLLIN},
		{.fd = far, .events = POLLIN}};

	if (connect(far, (const struct sockaddr *)to, sizeof(*to)))
		return;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(far, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	while (always || access(file, F_OK)) {
		if (poll(p, 2, LOOK_MS) <= 0)
			continue;
		if ((p[0].revents && !pass(fd, far)) ||
			(p[1].revents && !pass(far, fd)))
			return;
	}
}

int main(int argc, char **argv)
{
	int on = 1, fd, listener = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in at, to;

	if (argc != 6)
		return 2;
	at = address(argv[1], argv[2]);
	to = address(argv[3], argv[4]);
	file = argv[5];
	signal(SIGCHLD, SIG_IGN);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(listener, (struct sockaddr *)&at, sizeof(at)) ||
		listen(listener, 64)) {
		perror("front");
		return 1;
	}
	puts("ready");
	fflush(stdout);
	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		if (!fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			close(listener);
			if (access(file, F_OK))
				relay(fd, &to, false);
			else if (let_pass(fd))
				relay(fd, &to, true);
			else
				answer(fd);
			_exit(0);
		}
		close(fd);
	}
	return 1;
}
