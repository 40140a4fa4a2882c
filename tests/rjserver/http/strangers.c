// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * strangers PORT PID TOKEN BODIES IDLE PUTS: a writer with a TOKEN puts PUTS
 * objects, alone and then beside BODIES clients without one, each of which sends
 * 16 MiB again and again, and IDLE that say nothing. Prints both times, and how
 * much memory the server (PID) took at most, before and after. Exit status 0:
 * each put was stored.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "client.h"

#define BODY	16777216
#define KEY	"/own/0fedcba9-8765-4321-0123-456789abcdef/log/%020d"
#define PIECE	65536
#define WAIT_MS 100 /* before a stranger that was cut off comes again */

static int port, bodies, idle, put_count;
static atomic_bool stop, there;
static atomic_int refused, cut; /* strangers answered with 401, or without */

static int64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000ll + ts.tv_nsec / 1000;
}

static int dial(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to))) {
		perror("strangers: connect");
		exit(2);
	}
	return fd;
}

struct stranger {
	int fd;
	size_t sent; /* of the body */
	int64_t again_us; /* when it comes again; 0: it is there */
};

static void come(struct stranger *s, int i)
{
	char head[300];
	int n = snprintf(head, sizeof(head),
		"PUT " KEY " HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n",
		i + 1, BODY);

	s->fd = dial();
	s->sent = 0;
	s->again_us = 0;
	if (send(s->fd, head, (size_t)n, MSG_NOSIGNAL) < 0)
		perror("strangers: send");
}

static void go(struct stranger *s)
{
	close(s->fd);
	s->fd = -1;
	s->again_us = now_us() + WAIT_MS * 1000;
}

/* Send a piece, or take the answer and go. */
static void step(struct stranger *s, short what)
{
	static const char piece[PIECE];
	char text[64] = "";
	ssize_t n;

	if (what & (POLLIN | POLLHUP | POLLERR)) {
		n = recv(s->fd, text, sizeof(text) - 1, MSG_DONTWAIT);
		if (n > 0 && !strncmp(text, "HTTP/1.1 401", 12))
			refused++;
		else if (n <= 0)
			cut++;
		go(s);
		return;
	}
	n = send(s->fd, piece, PIECE, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n > 0)
		s->sent += (size_t)n;
}

static void *attack(void *arg)
{
	struct stranger *all = calloc((size_t)bodies, sizeof(*all));
	struct pollfd *p = calloc((size_t)bodies, sizeof(*p));
	int *quiet = calloc((size_t)idle + 1, sizeof(*quiet)), i;

	if (!all || !p || !quiet)
		abort();
	for (i = 0; i < idle; i++)
		quiet[i] = dial();
	for (i = 0; i < bodies; i++)
		come(&all[i], i);
	there = true;
	while (!stop) {
		for (i = 0; i < bodies; i++) {
			if (all[i].again_us && all[i].again_us < now_us())
				come(&all[i], i);
			p[i] = (struct pollfd){all[i].fd, POLLIN | POLLOUT, 0};
			if (all[i].sent >= BODY)
				p[i].events = POLLIN;
		}
		if (poll(p, (nfds_t)bodies, 10) < 0)
			abort();
		for (i = 0; i < bodies; i++)
			if (p[i].fd >= 0 && p[i].revents)
				step(&all[i], p[i].revents);
	}
	for (i = 0; i < idle; i++)
		close(quiet[i]);
	for (i = 0; i < bodies; i++)
		if (all[i].fd >= 0)
			close(all[i].fd);
	free(all);
	free(p);
	free(quiet);
	return NULL;
}

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The time that 99 of 100 puts take at most, from the object FROM on. */
static int64_t writer(struct client *c, int from)
{
	int64_t *took = calloc((size_t)put_count, sizeof(*took)), p99;
	static const char body[4096];
	char path[200];
	int i, status;

	if (!took)
		abort();
	for (i = 0; i < put_count; i++) {
		snprintf(path, sizeof(path), KEY, from + i);
		took[i] = now_us();
		status = client_ask(c, "PUT", path, body, sizeof(body));
		took[i] = now_us() - took[i];
		if (status != 201) {
			printf("put %d: %d\n", from + i, status);
			exit(1);
		}
	}
	qsort(took, (size_t)put_count, sizeof(*took), by_time);
	p99 = took[(size_t)put_count * 99 / 100];
	free(took);
	return p99;
}

static long most_memory(const char *pid)
{
	char path[64], line[200];
	long kib = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/status", pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %ld", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

int main(int argc, char **argv)
{
	struct rlimit all;
	struct client c;
	char more[300];
	pthread_t t;
	long before;
	int64_t quiet, beside, until;

	if (argc != 7)
		return 2;
	port = atoi(argv[1]);
	bodies = atoi(argv[4]);
	idle = atoi(argv[5]);
	put_count = atoi(argv[6]);
	if (!getrlimit(RLIMIT_NOFILE, &all)) {
		all.rlim_cur = all.rlim_max;
		setrlimit(RLIMIT_NOFILE, &all);
	}
	if (client_open(&c, port))
		return 2;
	snprintf(more, sizeof(more), "Authorization: Bearer %s\r\n", argv[3]);
	c.more = more;
	quiet = writer(&c, 1);
	before = most_memory(argv[2]);
	if (pthread_create(&t, NULL, attack, NULL))
		return 2;
	/* the writer begins when each stranger has been there once */
	until = now_us() + 60000000;
	while ((!there || refused + cut < bodies) && now_us() < until)
		usleep(1000);
	beside = writer(&c, put_count + 1);
	stop = true;
	pthread_join(t, NULL);
	client_close(&c);
	printf("p99 %lld us, beside strangers %lld us\n", (long long)quiet,
		(long long)beside);
	printf("refused %d, cut off %d\n", refused, cut);
	printf("memory %ld %ld KiB\n", before, most_memory(argv[2]));
	return 0;
}
