// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * put-latency [-p PID] URL BYTES COUNT: put COUNT objects of BYTES into a new
 * log of the store, one after the other, and print the latency of one put in
 * microseconds: median, 90th and 99th percentile, worst, and the CPU time that
 * each took here; with -p, also what the process PID (the server) took. Removes
 * them again.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "store/store.h"
#include "util/environ.h"
#include "util/uuid.h"

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Of all its threads, as the scheduler counts it; 0: not to be had. */
static uint64_t cpu_ns(int pid)
{
	char path[64], name[384];
	unsigned long long ns, sum = 0;
	struct dirent *e;
	DIR *dir;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = pid ? opendir(path) : NULL;
	while (dir && (e = readdir(dir))) {
		snprintf(name, sizeof(name), "%s/%s/schedstat", path,
			e->d_name);
		f = *e->d_name == '.' ? NULL : fopen(name, "r");
		if (!f)
			continue;
		if (fscanf(f, "%llu", &ns) == 1)
			sum += ns;
		fclose(f);
	}
	if (dir)
		closedir(dir);
	return sum;
}

static uint64_t own_cpu_ns(void)
{
	struct timespec ts = {0};

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int measure(struct rj_store *s, size_t bytes, unsigned count, int pid,
	int64_t *ns, uint64_t *own, uint64_t *cpu, struct rj_error *err)
{
	struct rj_key key = {.kind = RJ_KEY_EPOCH, .number = 1};
	uint8_t *data = calloc(1, bytes ? bytes : 1);
	unsigned i;
	int rc;

	if (!data || rj_uuid_random(key.journal_uuid))
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	rc = rj_random_bytes(data, bytes);
	/* where only folders are exclusive a writer must have one; the put also
	 * opens the connection, whose making is not measured */
	if (!rc)
		rc = rj_store_put_new(s, &key, "bench\n", 6, err);
	key.kind = RJ_KEY_LOG;
	*cpu = cpu_ns(pid);
	*own = own_cpu_ns();
	for (i = 0; !rc && i < count; i++) {
		key.number = i + 1;
		ns[i] = rj_monotonic_ns();
		rc = rj_store_put_new(s, &key, data, bytes, err);
		ns[i] = rj_monotonic_ns() - ns[i];
	}
	*own = own_cpu_ns() - *own;
	*cpu = cpu_ns(pid) - *cpu;
	for (; i; i--) {
		key.number = i;
		rj_store_remove(s, &key, NULL);
	}
	key.kind = RJ_KEY_EPOCH;
	key.number = 1;
	rj_store_remove(s, &key, NULL);
	free(data);
	return rc;
}

int main(int argc, char **argv)
{
	struct rj_store *s = NULL;
	struct rj_error err;
	uint64_t own = 0, cpu = 0;
	unsigned count;
	int64_t *ns;
	int rc, pid = 0;

	if (argc > 2 && !strcmp(argv[1], "-p")) {
		pid = atoi(argv[2]);
		argv += 2;
		argc -= 2;
	}
	if (argc != 4 || atoi(argv[3]) < 1) {
		fprintf(stderr, "usage: put-latency [-p PID] URL BYTES COUNT\n");
		return 2;
	}
	count = (unsigned)atoi(argv[3]);
	ns = calloc(count, sizeof(*ns));
	if (!ns)
		return 1;
	rc = rj_store_open(argv[1], NULL, &s, &err);
	if (!rc)
		rc = measure(s, strtoul(argv[2], NULL, 10), count, pid, ns, &own,
			&cpu, &err);
	if (rc) {
		fprintf(stderr, "put-latency: %s\n", err.msg);
	} else {
		qsort(ns, count, sizeof(*ns), by_size);
		printf("%s bytes: median %.1f us, 90%% %.1f, 99%% %.1f, "
		       "worst %.1f; CPU %.2f us",
			argv[2], (double)ns[count / 2] / 1e3,
			(double)ns[count * 9ull / 10] / 1e3,
			(double)ns[count * 99ull / 100] / 1e3,
			(double)ns[count - 1] / 1e3,
			(double)own / 1e3 / count);
		if (cpu)
			printf("; server's CPU %.2f us",
				(double)cpu / 1e3 / count);
		putchar('\n');
	}
	rj_store_close(s);
	free(ns);
	return rc ? 1 : 0;
}
