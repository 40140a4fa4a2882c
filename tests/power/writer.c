// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * writer [-f FILE] SEED THREADS DIRECTORY...: writes to each DIRECTORY (a volume's
 * root) with THREADS threads of ops.h, and one more whose files nobody fsyncs,
 * for ever. "VOLUME THREAD NUMBER" goes to QEMU's debug console for each operation that
 * was acknowledged (console.h), so that a thread never has more than one operation whose
 * line is not to be seen. With -f it goes to the end of FILE instead, what is in
 * FILE is done already, and SIGTERM ends the threads after their operations;
 * exits with 1 when one has failed.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "acks.h"
#include "console.h"
#include "ops.h"

struct worker {
	unsigned volume, thread;
	uint64_t seed, done;
	int root;
};

static atomic_uint running;
static atomic_bool stop, failed;
static int file = -1;

static void say(const char *line)
{
	if (file >= 0) {
		if (write(file, line, strlen(line)) != (ssize_t)strlen(line))
			abort();
		return;
	}
	console_say(line);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct ops o;
	char line[64];

	ops_init(&o, w->seed, w->thread);
	while (o.done < w->done)
		ops_acked(&o);
	while (!stop) {
		if (ops_run(&o, w->root)) {
			fprintf(stderr, "writer: volume %u thread %u: operation %llu, kind %d: %s\n",
				w->volume, w->thread,
				(unsigned long long)o.done, o.next.kind,
				strerror(errno));
			say("FAILED\n");
			failed = true;
			break;
		}
		snprintf(line, sizeof(line), "%u %u %llu\n", w->volume,
			w->thread, (unsigned long long)o.done);
		say(line);
		ops_acked(&o);
	}
	ops_release(&o);
	free(w);
	running--;
	return NULL;
}

/* Blocks that are dirty and not waited for by anybody. */
static void *make_noise(void *arg)
{
	struct worker *w = arg;
	char name[32], data[5000];
	unsigned i;
	int fd;

	memset(data, 'n', sizeof(data));
	for (i = 0; !stop; i++) {
		snprintf(name, sizeof(name), "noise%u", i % 50);
		if (i % 7 == 3)
			unlinkat(w->root, name, 0);
		fd = openat(w->root, name, O_WRONLY | O_CREAT, 0644);
		if (fd < 0 || pwrite(fd, data, i % sizeof(data), i % 3 * 4000) < 0)
			break;
		close(fd);
		usleep(5000);
	}
	free(w);
	running--;
	return NULL;
}

static void start(void *(*what)(void *), const struct worker *from)
{
	struct worker *w = malloc(sizeof(*w));
	pthread_t thread;

	if (w)
		*w = *from;
	running++;
	if (!w || pthread_create(&thread, NULL, what, w)) {
		fprintf(stderr, "writer: out of memory\n");
		exit(1);
	}
}

/* Until a signal, or an error of those that write to a file. */
static int await_end(void)
{
	struct timespec tick = {0, 20000000};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	while (file < 0 || !failed)
		if (sigtimedwait(&set, NULL, &tick) == SIGTERM)
			break;
	for (stop = true; running;)
		usleep(1000);
	return failed;
}

int main(int argc, char **argv)
{
	uint64_t acks[ACKS_THREADS_MAX];
	const char *path = NULL;
	struct worker w = {0};
	unsigned threads;
	sigset_t set;

	if (argc > 2 && !strcmp(argv[1], "-f")) {
		path = argv[2];
		argv += 2;
		argc -= 2;
	}
	threads = argc > 3 ? (unsigned)atoi(argv[2]) : 0;
	if (!threads || threads > ACKS_THREADS_MAX) {
		fprintf(stderr, "usage: writer [-f FILE] SEED THREADS DIRECTORY...\n");
		return 2;
	}
	if (path)
		file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (path ? file < 0 : console_open()) {
		perror(path ? path : "writer: the debug console's port");
		return 1;
	}
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	w.seed = strtoull(argv[1], NULL, 10);
	for (w.volume = 0; w.volume < (unsigned)argc - 3; w.volume++) {
		memset(acks, 0, sizeof(acks));
		if (path && acks_read(path, w.volume, threads, acks))
			return 2;
		w.root = open(argv[w.volume + 3], O_RDONLY | O_DIRECTORY);
		if (w.root < 0) {
			perror(argv[w.volume + 3]);
			return 1;
		}
		for (w.thread = 0; w.thread < threads; w.thread++) {
			w.done = acks[w.thread];
			start(work, &w);
		}
		start(make_noise, &w);
	}
	return await_end();
}
