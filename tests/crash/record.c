// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * record EVENTS SERVERPORT [SERVERPORT]: a relay before the rjserver, whose port is
 * printed, or before each of two; then it does what it is told on standard input, a line each, and answers
 * "ok" or "failed":
 *   volume DIR IMAGE [FALLBACK]  the recording layer below a volume, and below
 *                             a fallback file
 *   work DIR SEED THREADS N [AWAY BACK]  N operations of ops.h in each of THREADS
 *                             threads; the server is away from the AWAYth on,
 *                             until the BACKth. Of two it is the second; and the
 *                             first is as long behind that, once both are needed again
 * At its end it unmounts DIR. Everything is in EVENTS then.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "events.h"
#include "ops.h"
#include "record.h"

#define THREADS_MAX 16
#define TOGETHER_MS 30000

struct worker {
	pthread_t id;
	unsigned thread, count;
	unsigned long long seed;
	int root;
	bool failed;
};

static atomic_uint acked, away_at, back_at;
static bool two;

/* The first of two, as soon as the second is caught up. */
static void away_again(void)
{
	int i;

	for (i = 0; i < TOGETHER_MS && !relay_together(); i++)
		usleep(1000);
	if (i == TOGETHER_MS)
		fprintf(stderr, "record: the two are never together again\n");
	else
		relay_away(0, true);
}

static void acknowledged(unsigned thread)
{
	unsigned n;

	events_add(EVENT_ACK, thread, 0, NULL, NULL);
	n = ++acked;
	if (n == away_at)
		relay_away(two, true);
	if (n == back_at)
		relay_away(two, false);
	if (!two)
		return;
	if (n == 2 * back_at - away_at)
		away_again();
	if (n == 3 * back_at - 2 * away_at)
		relay_away(0, false);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct ops o;
	struct op op;

	ops_init(&o, w->seed, w->thread);
	while (o.done < w->count && !w->failed) {
		ops_next(&o, &op);
		if (ops_run(&o, &op, w->root) || ops_apply(&o, &op)) {
			fprintf(stderr, "record: thread %u, operation %llu: %s\n",
				w->thread, (unsigned long long)o.done,
				strerror(errno));
			w->failed = true;
			break;
		}
		acknowledged(w->thread);
	}
	ops_release(&o);
	return NULL;
}

static bool work_all(
	const char *dir, unsigned long long seed, unsigned threads, unsigned n)
{
	struct worker w[THREADS_MAX] = {{0}};
	int root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool good = root >= 0 && threads <= THREADS_MAX;
	unsigned i, started = 0;

	for (i = 0; good && i < threads; i++) {
		w[i] = (struct worker){.thread = i, .count = n, .seed = seed,
			.root = root};
		good = !pthread_create(&w[i].id, NULL, work, &w[i]);
		started += good;
	}
	for (i = 0; i < started; i++) {
		pthread_join(w[i].id, NULL);
		good = good && !w[i].failed;
	}
	if (root >= 0)
		close(root);
	return good;
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
		return work_all(a, seed, threads, n);
	}
	return false;
}

int main(int argc, char **argv)
{
	bool mounted = false;
	char line[1024];
	int port, i;

	if (argc != 3 && argc != 4) {
		fprintf(stderr, "usage: record EVENTS SERVERPORT [SERVERPORT]\n");
		return 2;
	}
	two = argc == 4;
	events_begin(argv[1]);
	for (i = 2; i < argc; i++) {
		port = relay_start(atoi(argv[i]), !two ? "" : i == 2 ? "1/" : "2/");
		if (port < 0) {
			perror("record: the relay");
			return 1;
		}
		printf("%d%s", port, i + 1 < argc ? " " : "\n");
	}
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
