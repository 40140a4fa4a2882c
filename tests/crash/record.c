// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * record EVENTS SERVERPORT: a relay in front of the rjserver, whose port is printed;
 * then it does what it is told on standard input, a line each, and answers "ok"
 * or "failed":
 *   volume DIR IMAGE [FALLBACK]  the recording layer below a volume, and below
 *                             a fallback file
 *   work DIR SEED THREADS N [AWAY BACK]  N operations of ops.h in each of THREADS
 *                             threads; the server is away from the AWAYth on,
 *                             until the BACKth
 * At its end it unmounts DIR. Everything is in EVENTS then.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "events.h"
#include "record.h"
#include "workers.h"

static atomic_uint acked, away_at, back_at;

static void acknowledged(unsigned thread)
{
	unsigned n;

	events_add(EVENT_ACK, thread, 0, NULL, NULL);
	n = ++acked;
	if (n == away_at)
		relay_away(true);
	if (n == back_at)
		relay_away(false);
}

static bool obey(char *line, bool *mounted)
{
	char a[256], b[256], c[256] = "";
	unsigned long long seed;
	unsigned threads, n, away = 0, back = 0;

	if (sscanf(line, "volume %255s %255s %255s", a, b, c) >= 2) {
		events_add(EVENT_BASE, 0, 0, NULL, NULL);
		*mounted = !volume_start(a, b, c);
		return *mounted;
	}
	if (sscanf(line, "work %255s %llu %u %u %u %u", a, &seed, &threads, &n,
		    &away, &back) >= 4) {
		away_at = away;
		back_at = back;
		return workers_run(a, seed, threads, n, acknowledged);
	}
	return false;
}

int main(int argc, char **argv)
{
	bool mounted = false;
	char line[1024];
	int port;

	if (argc != 3) {
		fprintf(stderr, "usage: record EVENTS SERVERPORT\n");
		return 2;
	}
	if (workers_fork()) {
		perror("record: the workers");
		return 1;
	}
	events_begin(argv[1]);
	port = relay_start(atoi(argv[2]));
	if (port < 0) {
		perror("record: the relay");
		return 1;
	}
	printf("%d\n", port);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		puts(obey(line, &mounted) ? "ok" : "failed");
		fflush(stdout);
	}
	if (mounted)
		volume_stop();
	events_end();
	_exit(0); /* the relay's threads wait for whoever is still connected */
}
