// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * writer SEED THREADS DIRECTORY...: in the virtual machine; writes to each
 * DIRECTORY (a volume's root) with THREADS threads of ops.h until the power is
 * cut, and one more whose files nobody fsyncs. "VOLUME THREAD NUMBER" goes to
 * QEMU's debug console for each operation that was acknowledged: a port where
 * every byte has left the machine before the instruction ends, so that a
 * thread never has more than one operation whose line is not to be seen.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#include <sys/io.h>
#endif

#include "ops.h"

#define PORT	    0xE9
#define THREADS_MAX 64

struct worker {
	unsigned volume, thread;
	uint64_t seed;
	int root;
};

static pthread_mutex_t console = PTHREAD_MUTEX_INITIALIZER;

#if defined(__x86_64__) || defined(__i386__)
static int console_open(void)
{
	return ioperm(PORT, 1, 1);
}
static void console_byte(char c)
{
	outb((unsigned char)c, PORT);
}
#else
static int console_open(void)
{
	errno = ENOSYS;
	return -1;
}
static void console_byte(char c)
{
	(void)c;
}
#endif

static void console_line(const char *line)
{
	pthread_mutex_lock(&console);
	while (*line)
		console_byte(*line++);
	pthread_mutex_unlock(&console);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct ops o;
	struct op op;
	char line[64];

	ops_init(&o, w->seed, w->thread);
	for (;;) {
		ops_next(&o, &op);
		if (ops_run(&o, &op, w->root) || ops_apply(&o, &op)) {
			fprintf(stderr, "writer: volume %u thread %u: operation %llu, kind %d: %s\n",
				w->volume, w->thread,
				(unsigned long long)o.done, op.kind,
				strerror(errno));
			console_line("FAILED\n");
			return NULL;
		}
		snprintf(line, sizeof(line), "%u %u %llu\n", w->volume,
			w->thread, (unsigned long long)(o.done - 1));
		console_line(line);
	}
}

/* Blocks that are dirty and not waited for by anybody. */
static void *make_noise(void *arg)
{
	struct worker *w = arg;
	char name[32], data[5000];
	unsigned i;
	int fd;

	memset(data, 'n', sizeof(data));
	for (i = 0;; i++) {
		snprintf(name, sizeof(name), "noise%u", i % 50);
		if (i % 7 == 3)
			unlinkat(w->root, name, 0);
		fd = openat(w->root, name, O_WRONLY | O_CREAT, 0644);
		if (fd < 0 || pwrite(fd, data, i % sizeof(data), i % 3 * 4000) < 0)
			return NULL;
		close(fd);
		usleep(5000);
	}
}

static void start(void *(*what)(void *), const struct worker *from)
{
	struct worker *w = malloc(sizeof(*w));
	pthread_t thread;

	if (w)
		*w = *from;
	if (!w || pthread_create(&thread, NULL, what, w)) {
		fprintf(stderr, "writer: out of memory\n");
		exit(1);
	}
}

int main(int argc, char **argv)
{
	struct worker w = {0};
	unsigned threads;

	threads = argc > 3 ? (unsigned)atoi(argv[2]) : 0;
	if (!threads || threads > THREADS_MAX) {
		fprintf(stderr, "usage: writer SEED THREADS DIRECTORY...\n");
		return 2;
	}
	if (console_open()) {
		perror("writer: the debug console's port");
		return 1;
	}
	w.seed = strtoull(argv[1], NULL, 10);
	for (w.volume = 0; w.volume < (unsigned)argc - 3; w.volume++) {
		w.root = open(argv[w.volume + 3], O_RDONLY | O_DIRECTORY);
		if (w.root < 0) {
			perror(argv[w.volume + 3]);
			return 1;
		}
		for (w.thread = 0; w.thread < threads; w.thread++)
			start(work, &w);
		start(make_noise, &w);
	}
	for (;;)
		pause();
}
