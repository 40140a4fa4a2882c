// SPDX-License-Identifier: GPL-2.0-or-later
#include "rotating.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define UNIT	    4096
#define TRACK	    500000
#define TURN_NS	    (60 * 1000000000ll / 7200)
#define SEEK_NS	    800000
#define SEEK_MORE_NS 7e6
#define ASKED_NS    50000 /* electronics and cable, of a request from the cache */

struct rotating {
	uint64_t size, units, dirty, dirty_max;
	uint64_t head;  /* offset after the last transfer */
	int64_t arm;    /* when that ended */
	int64_t ready;  /* since when the cache has something to write */
	uint8_t *cache; /* by unit: it waits to be written */
};

struct rotating *rotating_new(uint64_t size, uint64_t cache)
{
	struct rotating *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->size = size;
	d->units = (size + UNIT - 1) / UNIT;
	d->dirty_max = cache / UNIT;
	d->cache = calloc(d->units, 1);
	if (!d->cache) {
		free(d);
		return NULL;
	}
	return d;
}

void rotating_free(struct rotating *d)
{
	if (!d)
		return;
	free(d->cache);
	free(d);
}

static double seek_ns(const struct rotating *d, uint64_t to)
{
	uint64_t from = d->head;
	uint64_t far = from > to ? from - to : to - from;

	if (from / TRACK == to / TRACK)
		return 0;
	return SEEK_NS +
	       SEEK_MORE_NS * sqrt((double)far / (double)d->size);
}

/* Where on its turn the platter stands when OFF begins to pass, 0 to 1. */
static double angle_of(uint64_t off)
{
	double skew = (double)SEEK_NS / (double)TURN_NS;
	double a = (double)(off % TRACK) / TRACK +
		   skew * (double)(off / TRACK);

	return a - floor(a);
}

/* Move LEN bytes at OFF, not before START. */
static void transfer(
	struct rotating *d, int64_t start, uint64_t off, uint64_t len)
{
	double at, wait;

	if (d->arm > start)
		start = d->arm;
	/* right after the last one, and in time: it passes just now */
	if (off != d->head || start != d->arm) {
		start += (int64_t)seek_ns(d, off);
		at = (double)(start % TURN_NS) / (double)TURN_NS;
		wait = angle_of(off) - at;
		start += (int64_t)((wait - floor(wait)) * (double)TURN_NS);
	}
	d->arm = start + (int64_t)((double)len * (double)TURN_NS / TRACK);
	d->head = off + len;
}

/* The next run of the cache goes to the platter, not before START. */
static void write_out(struct rotating *d, int64_t start)
{
	uint64_t unit = d->head / UNIT % d->units, from;
	uint64_t most = TRACK / UNIT;

	while (!d->cache[unit])
		unit = unit + 1 < d->units ? unit + 1 : 0;
	from = unit;
	while (unit < d->units && d->cache[unit] && unit - from < most)
		d->cache[unit++] = 0;
	d->dirty -= unit - from;
	if (d->ready > start)
		start = d->ready;
	transfer(d, start, from * UNIT, (unit - from) * UNIT);
}

/* What the disk did by itself until NOW. */
static void catch_up(struct rotating *d, int64_t now)
{
	while (d->dirty && d->arm < now && d->ready < now)
		write_out(d, d->arm);
}

int64_t rotating_write(
	struct rotating *d, int64_t now, uint64_t off, uint64_t len)
{
	uint64_t unit, end = (off + len + UNIT - 1) / UNIT;
	int64_t done = now + ASKED_NS;

	catch_up(d, now);
	if (!d->dirty)
		d->ready = now; /* until then the arm stood still */
	for (unit = off / UNIT; unit < end && unit < d->units; unit++) {
		if (!d->cache[unit])
			d->dirty++;
		d->cache[unit] = 1;
	}
	while (d->dirty > d->dirty_max) {
		write_out(d, now);
		if (d->arm > done)
			done = d->arm;
	}
	return done;
}

int64_t rotating_read(
	struct rotating *d, int64_t now, uint64_t off, uint64_t len)
{
	uint64_t unit, end = (off + len + UNIT - 1) / UNIT;
	bool cached = true;

	catch_up(d, now);
	for (unit = off / UNIT; unit < end && unit < d->units; unit++)
		cached = cached && d->cache[unit];
	if (cached)
		return now + ASKED_NS;
	transfer(d, now, off, len);
	return d->arm;
}

int64_t rotating_flush(struct rotating *d, int64_t now)
{
	catch_up(d, now);
	while (d->dirty)
		write_out(d, now);
	return d->arm > now ? d->arm : now + ASKED_NS;
}
