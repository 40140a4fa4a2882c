// SPDX-License-Identifier: GPL-2.0-or-later
#include "client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

int client_open(struct client *c, int port)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int on = 1;

	memset(c, 0, sizeof(*c));
	c->cap = 1 << 16;
	c->in = malloc(c->cap);
	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (!c->in || c->fd < 0 ||
		setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) ||
		connect(c->fd, (struct sockaddr *)&to, sizeof(to))) {
		client_close(c);
		return -1;
	}
	return 0;
}

void client_close(struct client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	free(c->in);
	c->in = NULL;
}

static int send_all(struct client *c, struct iovec *v, int n)
{
	struct msghdr m = {.msg_iov = v, .msg_iovlen = (size_t)n};
	ssize_t got;

	while (m.msg_iovlen) {
		got = sendmsg(c->fd, &m, MSG_NOSIGNAL);
		if (got <= 0)
			return -1;
		while (m.msg_iovlen && (size_t)got >= m.msg_iov->iov_len) {
			got -= (ssize_t)m.msg_iov->iov_len;
			m.msg_iov++;
			m.msg_iovlen--;
		}
		if (m.msg_iovlen) {
			m.msg_iov->iov_base = (char *)m.msg_iov->iov_base + got;
			m.msg_iov->iov_len -= (size_t)got;
		}
	}
	return 0;
}

/* Read until AT LEAST bytes are there. */
static int fill(struct client *c, size_t *have, size_t least)
{
	ssize_t got;

	while (*have < least) {
		if (c->cap < least + 1) {
			c->cap = least + 65536;
			c->in = realloc(c->in, c->cap);
			if (!c->in)
				abort();
		}
		got = recv(c->fd, c->in + *have, c->cap - 1 - *have, 0);
		if (got <= 0)
			return -1;
		*have += (size_t)got;
		c->in[*have] = 0;
	}
	return 0;
}

int client_answer(struct client *c)
{
	size_t have = 0;
	char *end, *p;
	int status;

	do {
		if (fill(c, &have, have + 1))
			return -1;
		end = strstr(c->in, "\r\n\r\n");
	} while (!end);
	if (sscanf(c->in, "HTTP/1.1 %d", &status) != 1)
		return -1;
	c->body_at = (size_t)(end + 4 - c->in);
	*end = 0;
	p = strcasestr(c->in, "\r\nContent-Length:");
	c->body_len = p ? strtoul(p + 17, NULL, 10) : 0;
	if (fill(c, &have, c->body_at + c->body_len))
		return -1;
	return status;
}

int client_send(struct client *c, const char *method, const char *path,
	const void *body, size_t len)
{
	char head[512];
	struct iovec v[2] = {{head, 0}, {(void *)body, len}};
	int n;

	n = snprintf(head, sizeof(head), "%s %s HTTP/1.1\r\nHost: x\r\n",
		method, path);
	if (c->more)
		n += snprintf(head + n, sizeof(head) - (size_t)n, "%s", c->more);
	if (body)
		n += snprintf(head + n, sizeof(head) - (size_t)n,
			"If-None-Match: *\r\nContent-Length: %zu\r\n", len);
	n += snprintf(head + n, sizeof(head) - (size_t)n, "\r\n");
	v[0].iov_len = (size_t)n;
	return send_all(c, v, body ? 2 : 1);
}

int client_ask(struct client *c, const char *method, const char *path,
	const void *body, size_t len)
{
	if (client_send(c, method, path, body, len))
		return -1;
	return client_answer(c);
}
