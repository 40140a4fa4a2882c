// SPDX-License-Identifier: GPL-2.0-or-later
/* Open a listening socket on an address given as text. */
#include "listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int split(const char *text, char host[64], const char **port,
	struct rj_error *err)
{
	const char *colon = strrchr(text, ':'), *from = text, *to = colon;

	if (colon && *text == '[' && colon > text && colon[-1] == ']') {
		from++;
		to--;
	} else if (colon && memchr(text, ':', (size_t)(colon - text))) {
		colon = NULL; /* IPv6 without its brackets */
	}
	if (!colon || to <= from || to - from > 63 || !colon[1] ||
		strlen(colon + 1) > 5 ||
		strspn(colon + 1, "0123456789") != strlen(colon + 1) ||
		strtoul(colon + 1, NULL, 10) > 65535)
		return rj_fail(err, RJ_E_INVAL,
			"-l %s: not ADDR:PORT (as 127.0.0.1:7490 or "
			"[::1]:7490)",
			text);
	memcpy(host, from, (size_t)(to - from));
	host[to - from] = 0;
	*port = colon + 1;
	return 0;
}

static bool is_loopback(const struct sockaddr_storage *sa)
{
	const struct sockaddr_in *in = (const void *)sa;
	const struct sockaddr_in6 *in6 = (const void *)sa;

	if (sa->ss_family == AF_INET)
		return ntohl(in->sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
}

static int show(int fd, char shown[ADDRESS_TEXT], bool *loopback)
{
	struct sockaddr_storage sa = {0};
	socklen_t len = sizeof(sa);
	char host[64], port[8];

	if (getsockname(fd, (struct sockaddr *)&sa, &len) ||
		getnameinfo((struct sockaddr *)&sa, len, host, sizeof(host),
			port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
		return -1;
	*loopback = is_loopback(&sa);
	snprintf(shown, ADDRESS_TEXT,
		sa.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
	return 0;
}

/* Accepted sockets inherit TCP_NODELAY: answers are small and must not wait. */
static int bind_to(const struct addrinfo *ai)
{
	int fd, on = 1;

	fd = socket(ai->ai_family,
		ai->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) ||
		bind(fd, ai->ai_addr, ai->ai_addrlen) || listen(fd, 1024)) {
		close(fd); /* a socket that was never used */
		return -1;
	}
	return fd;
}

int listen_on(const char *text, char shown[ADDRESS_TEXT], bool *loopback,
	struct rj_error *err)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *ai = NULL;
	const char *port = NULL;
	char host[64];
	int rc, fd;

	rc = split(text, host, &port, err);
	if (rc)
		return rc;
	rc = getaddrinfo(host, port, &hints, &ai);
	if (rc)
		return rj_fail(
			err, RJ_E_INVAL, "-l %s: %s", text, gai_strerror(rc));
	fd = bind_to(ai);
	if (fd < 0)
		rc = rj_fail_errno(
			err, errno, "-l %s: cannot listen there", text);
	freeaddrinfo(ai);
	if (rc)
		return rc;
	if (show(fd, shown, loopback)) {
		rc = rj_fail_errno(err, errno, "-l %s: which address?", text);
		close(fd); /* never used */
		return rc;
	}
	return fd;
}
