// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unread PORT TOKEN COUNT PATH...: ask for each PATH over COUNT connections, in turn, and read
 * nothing of the answers. Prints "asked" when all were sent, and ends with its standard input.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static int ask(int port, const char *token, const char *path)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), small = 4096, n;
	char text[1024];

	n = snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nAuthorization: Bearer %s\r\n\r\n",
		path, token);
	return fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)) ||
	       connect(fd, (struct sockaddr *)&to, sizeof(to)) || write(fd, text, (size_t)n) != n;
}

int main(int argc, char **argv)
{
	struct rlimit files = {8192, 8192};
	int i, count;
	char c;

	if (argc < 5 || (count = atoi(argv[3])) < 1)
		return 2;
	if (setrlimit(RLIMIT_NOFILE, &files))
		perror("unread");
	for (i = 0; i < count; i++)
		if (ask(atoi(argv[1]), argv[2], argv[4 + i % (argc - 4)])) {
			perror("unread: connect");
			return 1;
		}
	puts("asked");
	fflush(stdout);
	return read(0, &c, 1) < 0;
}
