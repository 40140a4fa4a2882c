// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * herd PORT PID COUNT: COUNT connections put an object each while the server (PID) is
 * stopped, which then finds them ready at once: first some hundred at a time, then all of
 * them. Prints its processor time for a put of both, in microseconds. Exit status 1: in
 * the large herd it was more than twice that; 77: too few descriptors.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "client.h"

#define SPARE 100 /* descriptors */
#define BYTES 1000
#define SMALL 16 /* herds are made of the large one */

static struct client *clients;
static const char *server;
static int bad;

/* Of its main thread, which does all that is measured here */
static unsigned long long cpu_ns(void)
{
	unsigned long long ns = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/schedstat", server);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%llu", &ns) != 1)
		abort();
	fclose(f);
	return ns;
}

static void path_of(char path[96], int volume, int number)
{
	snprintf(path, 96, "/herd/%08x-0000-4000-8000-000000000000/log/%020d",
		volume, number);
}

/* The put NUMBER of the connections FROM to TO. Returns the server's nanoseconds. */
static unsigned long long herd(int from, int to, int number)
{
	static const char body[BYTES];
	unsigned long long before;
	char path[96];
	int i;

	kill(atoi(server), SIGSTOP);
	for (i = from; i < to && !bad; i++) {
		path_of(path, i, number);
		bad += client_send(&clients[i], "PUT", path, body, BYTES) != 0;
	}
	before = cpu_ns();
	kill(atoi(server), SIGCONT);
	for (i = from; i < to && !bad; i++)
		bad += client_answer(&clients[i]) != 201;
	return cpu_ns() - before;
}

int main(int argc, char **argv)
{
	int i, count = argc == 4 ? atoi(argv[3]) : 0;
	unsigned long long small = 0, large;
	struct rlimit files;

	clients = calloc((size_t)count + 1, sizeof(*clients));
	if (count < SMALL || !clients || getrlimit(RLIMIT_NOFILE, &files))
		return 2;
	server = argv[2];
	files.rlim_cur = files.rlim_max;
	if (files.rlim_max < (rlim_t)count + SPARE ||
		setrlimit(RLIMIT_NOFILE, &files))
		return 77;
	for (i = 0; i < count; i++)
		bad += client_open(&clients[i], atoi(argv[1])) ||
		       client_ask(&clients[i], "GET", "/", NULL, 0) != 200;
	for (i = 0; i < SMALL; i++)
		small += herd(count * i / SMALL, count * (i + 1) / SMALL, 1);
	large = herd(0, count, 2);
	printf("%d wrong, %.1f us in small herds, %.1f us in a large one\n",
		bad, (double)small / 1e3 / count, (double)large / 1e3 / count);
	return bad || large > 2 * small;
}
