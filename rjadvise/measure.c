// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>

#include "probe.h"
#include "util/environ.h"

/* TURNS turns, or as many as begin within ENOUGH_NS, with a pause between them. */
#define TURNS	  7
#define PAUSE_NS  200000000LL
#define ENOUGH_NS 4000000000LL

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *x, unsigned n)
{
	qsort(x, n, sizeof(*x), by_size);
	return x[n / 2];
}

static void medians(const struct device_cost *c, unsigned n, struct device_cost *out)
{
	double write[TURNS], flush[TURNS], byte[TURNS];
	unsigned i;

	for (i = 0; i < n; i++) {
		write[i] = c[i].write_us;
		flush[i] = c[i].flush_us;
		byte[i] = c[i].byte_us;
	}
	*out = (struct device_cost){.write_us = median(write, n),
		.flush_us = median(flush, n),
		.byte_us = median(byte, n),
		.fua = c[0].fua};
}

static int turn(const char *disk, const char *second, const char *store, struct machine *m,
	struct rj_error *err)
{
	char folder[40];
	bool left = false;
	int rc = 0;

	if (disk)
		rc = probe_disk(disk, &m->disk, err);
	if (!rc && second)
		rc = probe_disk(second, &m->second, err);
	if (!rc && store)
		rc = probe_store(store, &m->store, &left, folder, err);
	if (left)
		fprintf(stderr, "rjadvise: %s/%s: could not be removed again\n", store, folder);
	return rc;
}

int measure(const char *disk, const char *second, const char *store,
	const volatile sig_atomic_t *stop, struct machine *out, struct rj_error *err)
{
	struct device_cost disks[TURNS], seconds[TURNS], stores[TURNS];
	int64_t begun = rj_monotonic_ns();
	unsigned n = 0;
	int rc;

	if (!disk && !second && !store)
		return 0;
	do {
		struct machine m = *out;

		if (n)
			rj_sleep_ns(PAUSE_NS);
		rc = turn(disk, second, store, &m, err);
		if (rc)
			return rc;
		disks[n] = m.disk;
		seconds[n] = m.second;
		stores[n] = m.store;
	} while (++n < TURNS && !*stop && rj_monotonic_ns() - begun < ENOUGH_NS);
	if (disk)
		medians(disks, n, &out->disk);
	if (second)
		medians(seconds, n, &out->second);
	if (store)
		medians(stores, n, &out->store);
	return 0;
}
