// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * flood PORT CONNS: over CONNS connections send requests that are refused at
 * once, one after the other without waiting, so that the server never comes to
 * the end of what has arrived. Prints a line when the answers come; ends when a
 * connection does, or after a minute.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client.h"

#define CONNS_MOST 64
#define REQUEST	   "GET /none HTTP/1.1\r\nHost: x\r\n\r\n"
#define REQUESTS   2000

static char out[REQUESTS * (sizeof(REQUEST) - 1)], in[1 << 16];

/* Negative: the connection has ended. */
static ssize_t turn(const struct pollfd *p, size_t *at)
{
	ssize_t n = 0;

	if (p->revents & POLLOUT) {
		n = send(p->fd, out + *at, sizeof(out) - *at,
			MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n > 0)
			*at = (*at + (size_t)n) % sizeof(out);
		else if (errno != EAGAIN)
			return -1;
		n = 0;
	}
	if (p->revents & (POLLIN | POLLHUP | POLLERR)) {
		n = recv(p->fd, in, sizeof(in), MSG_DONTWAIT);
		if (!n || (n < 0 && errno != EAGAIN))
			return -1;
	}
	return n > 0;
}

int main(int argc, char **argv)
{
	static struct client c[CONNS_MOST];
	static size_t at[CONNS_MOST];
	struct pollfd p[CONNS_MOST];
	int count = argc == 3 ? atoi(argv[2]) : 0, i;
	bool said = false;
	ssize_t n;

	if (count < 1 || count > CONNS_MOST)
		return 2;
	for (i = 0; i < REQUESTS; i++)
		memcpy(out + (size_t)i * (sizeof(REQUEST) - 1), REQUEST,
			sizeof(REQUEST) - 1);
	for (i = 0; i < count; i++) {
		if (client_open(&c[i], atoi(argv[1])))
			return 1;
		p[i] = (struct pollfd){c[i].fd, POLLIN | POLLOUT, 0};
	}
	alarm(300);
	while (poll(p, (nfds_t)count, -1) > 0)
		for (i = 0; i < count; i++) {
			n = turn(&p[i], &at[i]);
			if (n < 0)
				return 0;
			if (n && !said && puts("answered") >= 0)
				said = !fflush(stdout);
		}
	return 1;
}
