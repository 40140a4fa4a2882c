// SPDX-License-Identifier: GPL-2.0-or-later
/* relay PORT ADDRESS: in the virtual machine: connections to 127.0.0.1:PORT are
 * passed on to ADDRESS:PORT. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in target;

static bool pass(int from, int to)
{
	char buf[65536];
	ssize_t n = read(from, buf, sizeof(buf)), done = 0, w;

	for (; done < n; done += w) {
		w = send(to, buf + done, (size_t)(n - done), MSG_NOSIGNAL);
		if (w <= 0)
			return false;
	}
	return n > 0;
}

static void *relay(void *arg)
{
	int one = 1, a = (int)(intptr_t)arg;
	int b = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct pollfd p[2] = {{a, POLLIN, 0}, {b, POLLIN, 0}};
	bool on;

	on = !connect(b, (struct sockaddr *)&target, sizeof(target));
	setsockopt(a, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(b, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	while (on && poll(p, 2, -1) > 0) {
		if (p[0].revents)
			on = pass(a, b);
		if (on && p[1].revents)
			on = pass(b, a);
	}
	close(a);
	close(b);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sockaddr_in here = {.sin_family = AF_INET};
	pthread_t thread;
	int fd, client, one = 1;

	if (argc != 3)
		return 2;
	here.sin_port = htons((uint16_t)atoi(argv[1]));
	here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	target = here;
	if (inet_pton(AF_INET, argv[2], &target.sin_addr) != 1)
		return 2;
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, (struct sockaddr *)&here, sizeof(here)) ||
		listen(fd, 16)) {
		perror("relay");
		return 1;
	}
	while ((client = accept4(fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		if (pthread_create(&thread, NULL, relay,
			    (void *)(intptr_t)client))
			close(client);
		else
			pthread_detach(thread);
	}
	return 1;
}
