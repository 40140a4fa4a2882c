// SPDX-License-Identifier: GPL-2.0-or-later
/* The listening socket of the page with metrics. */
#include "metrics.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "status.h"
#include "util/environ.h"
#include "util/log.h"

/* The daemon's own loop waits for a client no longer than this. */
#define CLIENT_NS 1000000000LL

union addr {
	struct sockaddr any;
	struct sockaddr_un local;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/* Its length; 0: it is none that we take. */
static socklen_t parse(const char *text, union addr *out)
{
	const char *colon = strrchr(text, ':');
	unsigned long port;
	char *end;
	size_t host;

	memset(out, 0, sizeof(*out));
	if (text[0] == '/') {
		if (strlen(text) >= sizeof(out->local.sun_path))
			return 0;
		out->local.sun_family = AF_UNIX;
		strcpy(out->local.sun_path, text);
		return sizeof(out->local);
	}
	if (!colon || colon[1] < '0' || colon[1] > '9')
		return 0;
	port = strtoul(colon + 1, &end, 10);
	if (*end || port > 65535)
		return 0;
	host = (size_t)(colon - text);
	if ((host == 9 && !memcmp(text, "127.0.0.1", 9)) ||
		(host == 9 && !memcmp(text, "localhost", 9))) {
		out->in.sin_family = AF_INET;
		out->in.sin_port = htons((uint16_t)port);
		out->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		return sizeof(out->in);
	}
	if (host == 5 && !memcmp(text, "[::1]", 5)) {
		out->in6.sin6_family = AF_INET6;
		out->in6.sin6_port = htons((uint16_t)port);
		out->in6.sin6_addr = in6addr_loopback;
		return sizeof(out->in6);
	}
	return 0;
}

bool rj_metrics_addr_valid(const char *addr)
{
	union addr a;

	return parse(addr, &a) != 0;
}

/* Remove a socket's file that a dead process left, and nothing else. */
static void clear_path(const union addr *a, socklen_t len)
{
	struct stat st;
	int fd;

	if (lstat(a->local.sun_path, &st) == -1 || !S_ISSOCK(st.st_mode))
		return;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd != -1 && connect(fd, &a->any, len) == -1 &&
		errno == ECONNREFUSED)
		unlink(a->local.sun_path);
	if (fd != -1)
		close(fd);
}

int rj_metrics_listen(const char *addr, int *fd, struct rj_error *err)
{
	int one = 1, e, rc;
	union addr a;
	socklen_t len = parse(addr, &a);
	mode_t mask;

	*fd = -1;
	if (!len)
		return rj_fail(err, RJ_E_INVAL,
			"metrics at %s: neither a path nor 127.0.0.1:PORT",
			addr);
	if (a.any.sa_family == AF_UNIX)
		clear_path(&a, len);
	*fd = socket(a.any.sa_family,
		SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*fd == -1)
		return rj_fail_errno(err, errno, "metrics at %s", addr);
	setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	mask = umask(0177); /* root's own: it tells the store's address */
	rc = bind(*fd, &a.any, len);
	e = errno;
	umask(mask);
	if (!rc && listen(*fd, 8) == 0)
		return 0;
	rc = rj_fail_errno(err, rc ? e : errno, "metrics at %s", addr);
	close(*fd);
	*fd = -1;
	return rc;
}

/* All of a request's head, or what came of it in time. */
static void read_request(int client, int64_t until)
{
	struct pollfd p = {.fd = client, .events = POLLIN};
	char text[4096];
	size_t len = 0;
	int64_t left;
	ssize_t n;

	while (len < sizeof(text) - 1) {
		left = until - rj_monotonic_ns();
		if (left <= 0 || poll(&p, 1, (int)(left / 1000000)) <= 0)
			return;
		n = recv(client, text + len, sizeof(text) - 1 - len, 0);
		if (n <= 0)
			return;
		len += (size_t)n;
		text[len] = 0;
		if (strstr(text, "\r\n\r\n") || strstr(text, "\n\n"))
			return;
	}
}

static void send_all(int client, const uint8_t *data, size_t len, int64_t until)
{
	struct pollfd p = {.fd = client, .events = POLLOUT};
	int64_t left;
	ssize_t n;

	while (len) {
		left = until - rj_monotonic_ns();
		if (left <= 0 || poll(&p, 1, (int)(left / 1000000)) <= 0)
			return;
		n = send(client, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n <= 0)
			return;
		data += n;
		len -= (size_t)n;
	}
}

void rj_metrics_serve(const struct rj_daemon *d, int listener)
{
	int64_t until = rj_monotonic_ns() + CLIENT_NS;
	int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	struct rj_buf body = {0}, answer = {0};
	struct rj_status s;

	if (client == -1)
		return;
	read_request(client, until);
	rj_status_collect(d, &s);
	if (!rj_status_metrics(&s, &body) &&
		!rj_buf_printf(&answer,
			"HTTP/1.1 200 OK\r\n"
			"Content-Type: text/plain; version=0.0.4\r\n"
			"Content-Length: %zu\r\nConnection: close\r\n\r\n",
			body.len) &&
		!rj_buf_append(&answer, body.data, body.len))
		send_all(client, answer.data, answer.len, until);
	else
		rj_log(RJ_LOG_WARNING, "metrics: out of memory");
	rj_buf_free(&body);
	rj_buf_free(&answer);
	close(client);
}
