// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * put-sqlite DIR [BYTES [SECONDS [ROUNDS [PAGE]]]]
 *
 * Durable puts of BYTES (4096) by one writer, in batches of 1, 16 and 64:
 * rjserver's own store, through its group commit, beside an SQLite table (WAL,
 * synchronous=FULL, pages of PAGE bytes, 4096), both in new directories of DIR.
 * They take turns, SECONDS (2) each, ROUNDS (5) times. As with a journal, each
 * keeps the last KEEP objects and deletes those before. Prints for each, from
 * all rounds: the median of puts a second, median and 99th percentile of one
 * batch in microseconds (without the deletions), and for each put the
 * processor's microseconds and the bytes that the process gave to the disk.
 */
#include <errno.h>
#include <ftw.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "rjserver/store/commit.h"
#include "rjserver/store/store.h"
#include "util/bytes.h"
#include "util/crc32c.h"

#define KEEP	8192 /* objects */
#define TRIM	1024 /* deleted at a time */
#define SAMPLES 1000000
#define ROUNDS	100

static const unsigned sizes[] = {1, 16, 64};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

/* One of the two that are compared. */
struct engine {
	const char *name;
	/* Store objects from FIRST on, COUNT of them, durably. */
	void (*put)(uint64_t first, unsigned count);
	void (*below)(uint64_t number); /* delete */
	uint64_t next;                  /* number of the next object */
	struct figures {
		double rate[ROUNDS], cpu, disk;
		float *us;
		size_t samples;
		uint64_t puts;
	} figures[SIZES];
};

static char dir[PATH_MAX - 100];
static uint8_t *body;
static uint32_t bytes = 4096;
static struct store *store;
static sqlite3 *db;
static sqlite3_stmt *insert, *trim;

static void die(const char *what, const char *why)
{
	fprintf(stderr, "put-sqlite: %s: %s\n", what, why);
	exit(1);
}

static double now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Bytes that this process has caused to be written. */
static double written(void)
{
	FILE *f = fopen("/proc/self/io", "r");
	unsigned long long n = 0;
	char line[100];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "write_bytes: %llu", &n) == 1)
			break;
	if (f)
		fclose(f);
	return (double)n;
}

static void done(void *arg, int rc, const struct rj_error *err)
{
	if (rc)
		die("store", err->msg);
}

static void store_put(uint64_t first, unsigned count)
{
	struct commit_body b = {body, bytes, rj_crc32c(~0u, body, bytes), false};
	struct rj_error err = {0};
	struct okey k = {.name = "host"};
	unsigned i;

	for (i = 0; i < count; i++) {
		k.key.number = first + i;
		if (commit_put(store->commit, &k, &b, done, NULL, &err))
			die("store", err.msg);
	}
	commit_flush(store->commit);
}

static void store_below(uint64_t number)
{
	struct okey k = {.name = "host"};
	struct rj_error err = {0};
	size_t count;

	if (commit_delete_below(store->commit, &k, number, 0, &count, done,
		    NULL, &err))
		die("store", err.msg);
	commit_flush(store->commit);
}

static void sql(const char *text)
{
	if (sqlite3_exec(db, text, NULL, NULL, NULL))
		die(text, sqlite3_errmsg(db));
}

static void step(sqlite3_stmt *s, uint64_t number)
{
	if (sqlite3_bind_int64(s, 1, (sqlite3_int64)number) ||
		sqlite3_step(s) != SQLITE_DONE || sqlite3_reset(s))
		die("SQLite", sqlite3_errmsg(db));
}

static void sqlite_put(uint64_t first, unsigned count)
{
	unsigned i;

	sql("BEGIN IMMEDIATE");
	for (i = 0; i < count; i++) {
		sqlite3_bind_blob(insert, 2, body, (int)bytes, SQLITE_STATIC);
		step(insert, first + i);
	}
	sql("COMMIT");
}

static void sqlite_below(uint64_t number)
{
	step(trim, number);
}

static struct engine engines[] = {
	{.name = "store", .put = store_put, .below = store_below, .next = 1},
	{.name = "SQLite", .put = sqlite_put, .below = sqlite_below, .next = 1},
};
#define ENGINES (sizeof(engines) / sizeof(engines[0]))

static void open_both(const char *in, int page)
{
	struct store_opts opts = {0};
	char path[PATH_MAX], pragma[50];
	struct rj_error err = {0};

	snprintf(dir, sizeof(dir), "%s/put-sqlite.XXXXXX", in);
	if (!mkdtemp(dir))
		die(dir, strerror(errno));
	snprintf(path, sizeof(path), "%s/store", dir);
	opts.dir = path;
	if (store_open(&opts, &store, &err))
		die(path, err.msg);
	snprintf(path, sizeof(path), "%s/db", dir);
	if (sqlite3_open(path, &db))
		die(path, sqlite3_errmsg(db));
	snprintf(pragma, sizeof(pragma), "PRAGMA page_size=%d", page);
	sql(pragma);
	sql("PRAGMA journal_mode=WAL");
	sql("PRAGMA synchronous=FULL");
	sql("PRAGMA locking_mode=EXCLUSIVE");
	sql("CREATE TABLE o(number INTEGER PRIMARY KEY, body BLOB)");
	if (sqlite3_prepare_v2(db, "INSERT INTO o VALUES(?, ?)", -1, &insert,
		    NULL) ||
		sqlite3_prepare_v2(db, "DELETE FROM o WHERE number < ?", -1,
			&trim, NULL))
		die("SQLite", sqlite3_errmsg(db));
}

/* One turn of E with batches of sizes[S]. */
static void turn(struct engine *e, size_t s, double seconds, unsigned round)
{
	struct figures *f = &e->figures[s];
	double began = now(CLOCK_MONOTONIC), since = began, t;
	double cpu = now(CLOCK_PROCESS_CPUTIME_ID), disk = written();
	uint64_t puts = 0;

	do {
		rj_put_le64(body, e->next); /* no two are the same */
		e->put(e->next, sizes[s]);
		t = now(CLOCK_MONOTONIC);
		if (f->samples < SAMPLES)
			f->us[f->samples++] = (float)((t - since) * 1e6);
		e->next += sizes[s];
		puts += sizes[s];
		if (e->next > KEEP && e->next % TRIM < sizes[s])
			e->below(e->next - KEEP);
		since = now(CLOCK_MONOTONIC);
	} while (since - began < seconds);
	f->rate[round] = (double)puts / (since - began);
	f->cpu += now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	f->disk += written() - disk;
	f->puts += puts;
}

static int by_float(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

static int by_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void report(unsigned rounds)
{
	size_t s, e;

	printf("| batch | | puts/s | p50, us | p99, us | processor, us/put | "
	       "disk, bytes/put |\n|---|---|---|---|---|---|---|\n");
	for (s = 0; s < SIZES; s++)
		for (e = 0; e < ENGINES; e++) {
			struct figures *f = &engines[e].figures[s];

			qsort(f->rate, rounds, sizeof(double), by_double);
			qsort(f->us, f->samples, sizeof(float), by_float);
			printf("| %u | %s | %.0f | %.0f | %.0f | %.1f | %.0f |\n",
				sizes[s], engines[e].name, f->rate[rounds / 2],
				(double)f->us[f->samples / 2],
				(double)f->us[(f->samples - 1) * 99 / 100],
				f->cpu / (double)f->puts * 1e6,
				f->disk / (double)f->puts);
		}
}

static int remove_one(
	const char *path, const struct stat *st, int type, struct FTW *where)
{
	return remove(path);
}

static void remove_dir(void)
{
	if (dir[0])
		nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int main(int argc, char **argv)
{
	double seconds = argc > 3 ? atof(argv[3]) : 2;
	unsigned rounds = argc > 4 ? (unsigned)atoi(argv[4]) : 5, r;
	struct rj_error err = {0};
	size_t s, e, i;

	if (argc > 2)
		bytes = (uint32_t)atoi(argv[2]);
	if (argc < 2 || argc > 6 || bytes < 8 || bytes > 16777216 ||
		seconds <= 0 || !rounds || rounds > ROUNDS) {
		fprintf(stderr,
			"usage: put-sqlite DIR [BYTES [SECONDS [ROUNDS "
			"[PAGE]]]]\n");
		return 2;
	}
	body = malloc(bytes);
	if (!body)
		die("memory", strerror(errno));
	for (i = 0; i < bytes; i++)
		body[i] = (uint8_t)(i * 7 + i / 256 + 1);
	atexit(remove_dir);
	open_both(argv[1], argc > 5 ? atoi(argv[5]) : 4096);
	for (s = 0; s < SIZES; s++)
		for (e = 0; e < ENGINES; e++) {
			engines[e].figures[s].us =
				malloc(SAMPLES * sizeof(float));
			if (!engines[e].figures[s].us)
				die("memory", strerror(errno));
		}
	for (r = 0; r < rounds; r++)
		for (s = 0; s < SIZES; s++)
			for (e = 0; e < ENGINES; e++)
				turn(&engines[e], s, seconds, r);
	report(rounds);
	sqlite3_finalize(insert);
	sqlite3_finalize(trim);
	sqlite3_close(db);
	if (store_close(store, &err))
		die("store", err.msg);
	return 0;
}
