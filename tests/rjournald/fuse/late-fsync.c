// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * late-fsync DIR THREADS RECORD SERVER MS: append 1,000 bytes to a file and fsync it,
 * again and again, one file a thread, until that fails; then write a line for each
 * file to RECORD: its name, and how long it was when fsync last returned 0. When
 * files have been synced, the process SERVER is killed.
 *
 * The threads but the first get a processor only when nobody else wants one, and
 * somebody does until MS milliseconds after that: so they come late for their commit.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 32
#define BYTES	    1000
#define LIMIT_S	    100

static const char *dir;
static atomic_bool spinning = true;
static atomic_long acked[THREADS_MAX];

static void *spin(void *arg)
{
	while (spinning)
		;
	return arg;
}

static void *append(void *arg)
{
	const struct sched_param lowest = {0};
	long n = (long)arg, len = 0;
	char path[4096], data[BYTES];
	int fd;

	/* of this thread alone */
	if (n && sched_setscheduler(0, SCHED_IDLE, &lowest))
		perror("sched_setscheduler");
	snprintf(path, sizeof(path), "%s/f%ld", dir, n);
	memset(data, 'a' + (int)n % 26, sizeof(data));
	fd = open(path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
	while (fd != -1 && write(fd, data, BYTES) == BYTES) {
		len += BYTES;
		if (fsync(fd))
			break;
		acked[n] = len;
	}
	return NULL; /* closed with the process */
}

static void pause_ms(long ms)
{
	const struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS_MAX], spinner[64];
	long n, i, cpus = sysconf(_SC_NPROCESSORS_ONLN);
	FILE *record;

	n = argc == 6 ? atol(argv[2]) : 0;
	if (n < 1 || n > THREADS_MAX) {
		fprintf(stderr, "usage: late-fsync DIR THREADS RECORD SERVER MS\n");
		return 2;
	}
	dir = argv[1];
	alarm(LIMIT_S);
	cpus = cpus < 1 ? 1 : cpus > 64 ? 64 : cpus;
	for (i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, append, (void *)i))
			return 1;
	for (i = 0; i < cpus; i++)
		if (pthread_create(&spinner[i], NULL, spin, NULL))
			return 1;
	while (!acked[0])
		pause_ms(1);
	pause_ms(100 + time(NULL) % 4 * 100);
	kill((pid_t)atol(argv[4]), SIGKILL);
	pause_ms(atol(argv[5]));
	spinning = false;
	for (i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	for (i = 0; i < cpus; i++)
		pthread_join(spinner[i], NULL);
	record = fopen(argv[3], "w");
	for (i = 0; record && i < n; i++)
		fprintf(record, "f%ld %ld\n", i, acked[i]);
	return record && !fclose(record) ? 0 : 1;
}
