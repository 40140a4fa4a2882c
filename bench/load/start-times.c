// SPDX-License-Identifier: GPL-2.0-or-later
/* start-times ROUNDS COMMAND...: how long each command takes, from its start to its end. In each
 * round all commands run once, in turn. A line for each: median, least and most of the times,
 * and the median of the processor times, its children's with it, in microseconds; then the
 * command, whose words are separated by blanks. What they print is thrown away; a status other
 * than 0 ends all. */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "bench/clock.h"

#define WORDS 64

extern char **environ;

static double microseconds(const struct timeval *t)
{
	return (double)t->tv_sec * 1e6 + (double)t->tv_usec;
}

/* Run the command TEXT. Returns its time, microseconds; *CPU gets its processor time. */
static double run(const char *text, double *cpu)
{
	posix_spawn_file_actions_t quiet;
	char *copy = strdup(text), *words[WORDS + 1], *save;
	int n = 0, status, rc;
	struct rusage used;
	double begun;
	pid_t pid;

	for (words[0] = strtok_r(copy, " ", &save); words[n] && n + 1 < WORDS;)
		words[++n] = strtok_r(NULL, " ", &save);
	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
	begun = now();
	rc = posix_spawnp(&pid, words[0], &quiet, NULL, words, environ);
	if (rc || wait4(pid, &status, 0, &used) != pid || status) {
		fprintf(stderr, "start-times: failed: %s\n", text);
		exit(1);
	}
	begun = (now() - begun) * 1e6;
	*cpu = microseconds(&used.ru_utime) + microseconds(&used.ru_stime);
	posix_spawn_file_actions_destroy(&quiet);
	free(copy);
	return begun;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *t, int n)
{
	qsort(t, (size_t)n, sizeof(*t), compare);
	return (t[(n - 1) / 2] + t[n / 2]) / 2;
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[1]) : 0, commands = argc - 2, i, k;
	double *times, *cpu, *t, half;

	if (rounds < 1) {
		fprintf(stderr, "usage: start-times ROUNDS COMMAND...\n");
		return 2;
	}
	times = calloc((size_t)rounds * (size_t)commands, sizeof(*times));
	cpu = calloc((size_t)rounds * (size_t)commands, sizeof(*cpu));
	if (!times || !cpu)
		return 1;
	for (k = -1; k < rounds; k++) /* the first one only fills the caches */
		for (i = 0; i < commands; i++)
			times[i * rounds + (k < 0 ? 0 : k)] =
				run(argv[2 + i], &cpu[i * rounds + (k < 0 ? 0 : k)]);
	for (i = 0; i < commands; i++) {
		t = times + i * rounds;
		half = median(t, rounds);
		printf("%.0f %.0f %.0f %.0f %s\n", half, t[0], t[rounds - 1],
			median(cpu + i * rounds, rounds), argv[2 + i]);
	}
	free(cpu);
	free(times);
	return 0;
}
