// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * notified PATH: what a service manager hears. Makes the datagram socket PATH,
 * says "ready" and then each datagram, its lines joined with a space. Ends
 * after ten minutes.
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	char text[1024], *newline;
	ssize_t got;
	int fd;

	alarm(600);
	if (argc != 2 || strlen(argv[1]) >= sizeof(sa.sun_path))
		return 1;
	strcpy(sa.sun_path, argv[1]);
	fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&sa, sizeof(sa))) {
		perror(argv[1]);
		return 1;
	}
	puts("ready");
	fflush(stdout);
	while ((got = recv(fd, text, sizeof(text) - 1, 0)) >= 0) {
		text[got] = 0;
		while ((newline = strchr(text, '\n')))
			*newline = ' ';
		puts(text);
		fflush(stdout);
	}
	return 1;
}
