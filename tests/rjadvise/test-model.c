// SPDX-License-Identifier: GPL-2.0-or-later
/* The model's rules, on loads made up so that the answer is known. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rjadvise/model/hints.h"
#include "support/rjtest.h"

/* A flush takes a millisecond, a write a tenth; the bytes cost nothing. */
static const struct machine slow_flush = {
	.disk = {100, 1000, 0, false},
	.second = {100, 1000, 0, false},
	.store = {300, 0, 0, true},
};

/* One program that does nothing but create files and fsync them: always in a commit. */
static const struct load fsyncs = {
	.seconds = 100,
	.block_bytes = 4096,
	.place = PLACE_INTERNAL,
	.mode = MODE_ORDERED,
	.delalloc = true,
	.commit_s = 5,
	.journal_bytes = 64 << 20,
	.fsyncs_s = 400,
	.sync_threads = 1,
	.commits_s = 400,
	.requested_s = 400,
	.flushes_s = 800,
	.commit_us = 2200,
	.put_us = NAN,
	.commit_blocks = 5,
	.commit_p99_blocks = 8,
	.log_bytes_s = 400 * 5 * 4096.0,
	.written_bytes_s = 400 * 6 * 4096.0,
	.flush_us = 1000,
	.data_bytes_s = 400 * 4096.0,
	.cached_bytes_s = 400 * 4096.0,
	.new_bytes_s = 400 * 4096.0,
	.overwritten_bytes_s = 0,
};

/* What copies and the checksum of a remote commit's five blocks take. */
#define FRONT_5 (4 * 4096 * 0.0017)

static struct prediction at(
	const struct load *l, const struct machine *m, enum place p, enum data_mode d)
{
	return model_predict(l, m, (struct choice){p, d});
}

static void near(double got, double want)
{
	CU_ASSERT_DOUBLE_EQUAL(got, want, fabs(want) * 0.001);
}

static void test_commit_times(void)
{
	struct machine m = slow_flush;

	/* write, flush, commit block, flush */
	near(model_commit_us(&m, PLACE_INTERNAL, 4096), 2200);
	/* the volume's flush, which takes longer than the write beside it */
	near(model_commit_us(&m, PLACE_SECOND, 4096), 3100);
	m.disk.flush_us = 50;
	near(model_commit_us(&m, PLACE_SECOND, 4096), 2200);
	m = slow_flush;
	/* the volume's flush, the put, what is between */
	near(model_commit_us(&m, PLACE_REMOTE, 4096), 100 + 1000 + 300 + 150);
	m.disk.fua = true;
	near(model_commit_us(&m, PLACE_INTERNAL, 4096), 1200);
	m.disk.byte_us = 0.01;
	near(model_commit_us(&m, PLACE_INTERNAL, 4096 + 100000), 2200);
}

static void test_in_use(void)
{
	struct prediction p = at(&fsyncs, &slow_flush, PLACE_INTERNAL, MODE_ORDERED);

	CU_ASSERT(p.in_use);
	near(p.wall, 1);
	near(p.syncs_s, 400);
	near(p.commit_us, 2200);
	near(p.log_bytes_day, 400 * 5 * 4096.0 * 86400);
}

/* 880 of 1000 ms are commits of 2.2 ms; at a store they take 1.58. */
static void test_remote_saves_a_flush(void)
{
	struct prediction p = at(&fsyncs, &slow_flush, PLACE_REMOTE, MODE_ORDERED);

	CU_ASSERT_FALSE(p.in_use);
	near(p.commit_us, 1550 + FRONT_5);
	near(p.wall, 0.12 + 400 * (1550 + FRONT_5) / 1e6);
	near(p.syncs_s, 400 / p.wall);
	p = at(&fsyncs, &slow_flush, PLACE_SECOND, MODE_ORDERED);
	near(p.wall, 0.12 + 400 * 3100e-6);
}

/* Commits that really take twice as long as the probe says do so elsewhere, too. */
static void test_scale(void)
{
	struct load l = fsyncs;

	l.commit_us = 4400;
	l.commits_s = l.requested_s = l.fsyncs_s = 200;
	l.log_bytes_s /= 2;
	l.cached_bytes_s = l.data_bytes_s /= 2;
	near(at(&l, &slow_flush, PLACE_REMOTE, MODE_ORDERED).commit_us, 2 * 1400 + 150 + FRONT_5);
	/* half as long: the disk is faster than its probe, the store is not */
	l.commit_us = 1100;
	near(at(&l, &slow_flush, PLACE_REMOTE, MODE_ORDERED).commit_us, 550 + 300 + 150 + FRONT_5);
	/* but where the commits went to the store, it was faster, too */
	l.place = PLACE_REMOTE;
	near(at(&l, &slow_flush, PLACE_REMOTE, MODE_WRITEBACK).commit_us, 1100);
}

/* Of a store in use that was not measured, the commits tell what a put takes. */
static void test_infer(void)
{
	struct machine m = slow_flush;
	struct load l = fsyncs;

	m.store.write_us = m.second.write_us = NAN;
	l.place = PLACE_REMOTE;
	l.commit_us = 1550;
	near(at(&l, &m, PLACE_REMOTE, MODE_WRITEBACK).commit_us, 1550);
	CU_ASSERT(isnan(at(&l, &m, PLACE_SECOND, MODE_ORDERED).wall));
	l.place = PLACE_SECOND;
	l.commits_s = 200;
	l.commit_us = 3200;
	near(at(&l, &m, PLACE_SECOND, MODE_WRITEBACK).commit_us, 3200);
	/* a mean that is longer than the commits can have been */
	l.commits_s = 400;
	near(at(&l, &m, PLACE_SECOND, MODE_WRITEBACK).commit_us, 2500);
	near(at(&l, &m, PLACE_SECOND, MODE_WRITEBACK).wall, 1);
	CU_ASSERT(isnan(at(&l, &m, PLACE_REMOTE, MODE_ORDERED).wall));
}

/* A load that waits for no commit does not gain by a faster one. */
static void test_idle(void)
{
	struct load l = fsyncs;

	l.commits_s = 0.2;
	l.requested_s = l.fsyncs_s = 0.1;
	l.flushes_s = 0.4;
	l.log_bytes_s = 0.2 * 5 * 4096;
	/* for that of the timer no program waits */
	near(at(&l, &slow_flush, PLACE_REMOTE, MODE_ORDERED).wall,
		1 - 0.1 * (650 - FRONT_5) / 1e6);
	/* not a single one was seen */
	l.commits_s = l.requested_s = l.log_bytes_s = 0;
	l.commit_us = l.commit_blocks = NAN;
	near(at(&l, &slow_flush, PLACE_REMOTE, MODE_ORDERED).wall, 1);
}

/* data=journal: more bytes to the log, and one flush more, after the commit. */
static void test_journal(void)
{
	struct prediction p = at(&fsyncs, &slow_flush, PLACE_INTERNAL, MODE_JOURNAL);

	near(p.log_bytes_day, (400 * 5 * 4096.0 + 400 * 4096.0 * (1 + 1 / 254.0)) * 86400);
	near(p.commit_us, 2200);
	near(p.wall, 1 + 400 * 1000e-6);
	/* with a journal elsewhere it takes the place of that in the commit */
	p = at(&fsyncs, &slow_flush, PLACE_SECOND, MODE_JOURNAL);
	near(p.commit_us, 2200);
	near(p.wall, 0.12 + 400 * 1000e-6 + 400 * 2200e-6);
}

/* fdatasync of blocks in place only flushes; with data=journal it is a commit. */
static void test_flush_only(void)
{
	struct load l = fsyncs;

	l.commits_s = l.requested_s = 1;
	l.fsyncs_s = NAN;
	l.flushes_s = 502;
	l.log_bytes_s = 5 * 4096.0;
	l.overwritten_bytes_s = l.data_bytes_s = l.cached_bytes_s = 500 * 4096.0;
	near(model_syncs_s(&l, &slow_flush), 501);
	near(at(&l, &slow_flush, PLACE_SECOND, MODE_ORDERED).wall, 1 + 900e-6);
	near(at(&l, &slow_flush, PLACE_INTERNAL, MODE_JOURNAL).wall,
		1 + 1000e-6 + 500 * 2200e-6);
	/* rjournald flushes, and then the overwrite is flushed as before */
	near(at(&l, &slow_flush, PLACE_REMOTE, MODE_JOURNAL).wall,
		1 - 2200e-6 + 501e-6 * (1550 + 3 * 4096 * 0.0017));
	l.fsyncs_s = 700;
	near(model_syncs_s(&l, &slow_flush), 700);
}

static void test_flagged(void)
{
	struct load l = fsyncs;

	l.flagged_share = 0.5;
	l.flagged_data_share = 0.125;
	near(at(&l, &slow_flush, PLACE_INTERNAL, MODE_FLAGGED).log_bytes_day,
		(400 * 5 * 4096.0 + 50 * 4096.0 * (1 + 1 / 254.0)) * 86400);
	/* half of what only flushed the disk becomes commits */
	l.commits_s = l.requested_s = 1;
	l.fsyncs_s = 501;
	l.flushes_s = 502;
	near(at(&l, &slow_flush, PLACE_INTERNAL, MODE_FLAGGED).wall,
		1 + 250 * 2200e-6 + 500e-6);
}

/* Threads that sync side by side: the journal commits for one while others write and flush. */
static void test_threads(void)
{
	struct load l = fsyncs;

	l.sync_threads = 2;
	l.commits_s = l.requested_s = l.log_bytes_s = 0;
	l.fsyncs_s = l.flushes_s = 400;
	l.commit_us = NAN;
	/* the commits follow each other, and each thread waits for its own */
	near(at(&l, &slow_flush, PLACE_INTERNAL, MODE_JOURNAL).wall, 1 + 400 * 2200e-6 / 2);
	/* ... for the other's too: the journal commits all the time */
	l.fsyncs_s = l.flushes_s = 1000;
	near(at(&l, &slow_flush, PLACE_INTERNAL, MODE_JOURNAL).wall, 2.2);
	/* two of four threads share a commit */
	l.sync_threads = 4;
	near(at(&l, &slow_flush, PLACE_INTERNAL, MODE_JOURNAL).wall, 1 + 500 * 2200e-6 / 2);

	/* always in commits, of which two syncs share one: the flush after it costs nothing */
	l = fsyncs;
	l.sync_threads = 4;
	l.fsyncs_s = 800;
	l.commit_us = 2500;
	near(at(&l, &slow_flush, PLACE_INTERNAL, MODE_JOURNAL).wall, 1);
	near(at(&l, &slow_flush, PLACE_SECOND, MODE_ORDERED).wall, 3100 / 2200.0);
	/* the rest of each thread's time bounds what a faster journal gives */
	near(at(&l, &slow_flush, PLACE_REMOTE, MODE_ORDERED).wall,
		400e-6 * (1400 * 2500 / 2200.0 + 150 + FRONT_5));
	/* the same where nobody counted threads */
	l.sync_threads = NAN;
	near(at(&l, &slow_flush, PLACE_SECOND, MODE_ORDERED).wall, 3100 / 2200.0);
}

/* 100 MB/s, of which 80 are written: data=journal writes them twice. */
static void test_bandwidth(void)
{
	struct load l = fsyncs;
	struct machine m = slow_flush;

	m.disk.byte_us = 0.01;
	l.commits_s = l.flushes_s = 0.2;
	l.requested_s = l.fsyncs_s = 0;
	l.log_bytes_s = 0;
	l.commit_blocks = 0;
	l.written_bytes_s = l.data_bytes_s = l.cached_bytes_s = 80e6;
	l.journal_bytes = 4e9;
	near(at(&l, &m, PLACE_INTERNAL, MODE_JOURNAL).wall, 1.6 + 0.8 / 254);
	/* a transaction is full before its time: all wait for both writes */
	l.journal_bytes = 64 << 20;
	near(at(&l, &m, PLACE_INTERNAL, MODE_JOURNAL).wall, 1 + 1.6 + 0.8 / 254);
	/* but not where there is one each hundredth of a second */
	l.commits_s = 100;
	near(at(&l, &m, PLACE_INTERNAL, MODE_JOURNAL).wall, 1.6 + 0.8 / 254);
	l.commits_s = 0.2;
	/* what is past the page cache reaches the log, too */
	l.cached_bytes_s = 0;
	near(at(&l, &m, PLACE_INTERNAL, MODE_JOURNAL).log_bytes_day,
		80e6 * (1 + 1 / 254.0) * 86400);
	CU_ASSERT(at(&l, &m, PLACE_INTERNAL, MODE_WRITEBACK).wall < 1.01);
	/* the load was faster than the probe: the disk is */
	m.disk.byte_us = 0.02;
	CU_ASSERT(at(&l, &m, PLACE_INTERNAL, MODE_WRITEBACK).wall < 1.01);
}

/* What has no source is not predicted, and says what is missing. */
static void test_unknown(void)
{
	struct machine m = slow_flush;
	struct load l = fsyncs;
	struct prediction p;

	m.store.write_us = NAN;
	p = at(&l, &m, PLACE_REMOTE, MODE_ORDERED);
	CU_ASSERT(isnan(p.wall) && isnan(p.syncs_s));
	CU_ASSERT_PTR_NOT_NULL(p.lacks);
	m = slow_flush;
	m.disk.flush_us = NAN;
	CU_ASSERT(isnan(at(&l, &m, PLACE_SECOND, MODE_ORDERED).wall));
	CU_ASSERT_FALSE(isnan(at(&l, &m, PLACE_INTERNAL, MODE_ORDERED).wall));
	l.flagged_data_share = NAN;
	CU_ASSERT(isnan(at(&l, &slow_flush, PLACE_INTERNAL, MODE_FLAGGED).log_bytes_day));
	l.log_bytes_s = NAN;
	CU_ASSERT(isnan(at(&l, &slow_flush, PLACE_INTERNAL, MODE_ORDERED).log_bytes_day));
	l.commits_s = NAN;
	CU_ASSERT(isnan(at(&l, &slow_flush, PLACE_SECOND, MODE_ORDERED).wall));
}

static void test_rank(void)
{
	struct prediction p[] = {
		{.choice = {PLACE_REMOTE, MODE_ORDERED}, .wall = NAN},
		{.choice = {PLACE_INTERNAL, MODE_WRITEBACK}, .wall = 0.50},
		{.choice = {PLACE_INTERNAL, MODE_ORDERED}, .wall = 0.54},
		{.choice = {PLACE_INTERNAL, MODE_JOURNAL}, .wall = 0.58},
		{.choice = {PLACE_SECOND, MODE_JOURNAL}, .wall = 0.80},
	};

	model_rank(p, 5);
	/* ordered is within a tenth of the fastest, journal is not */
	CU_ASSERT_EQUAL(p[0].choice.mode, MODE_ORDERED);
	/* of what is left writeback is the fastest, but journal is not within a tenth */
	CU_ASSERT_EQUAL(p[1].choice.mode, MODE_WRITEBACK);
	CU_ASSERT_EQUAL(p[2].choice.mode, MODE_JOURNAL);
	CU_ASSERT_EQUAL(p[3].choice.place, PLACE_SECOND);
	CU_ASSERT(isnan(p[4].wall));
}

static void test_all_choices(void)
{
	struct choice c[CHOICES_MAX];
	int n = model_choices(c), i, j;

	CU_ASSERT_EQUAL(n, 12);
	for (i = 0; i < n; i++) {
		struct prediction p = model_predict(&fsyncs, &slow_flush, c[i]);

		CU_ASSERT(p.wall > 0);
		CU_ASSERT_PTR_NOT_NULL(p.loses);
		for (j = 0; j < i; j++)
			CU_ASSERT(c[i].place != c[j].place || c[i].mode != c[j].mode);
	}
}

static void test_apply(void)
{
	struct prediction p[] = {
		{.choice = {PLACE_REMOTE, MODE_JOURNAL}, .wall = 0.5},
		{.choice = {PLACE_INTERNAL, MODE_JOURNAL}, .wall = 0.9},
		{.choice = {PLACE_INTERNAL, MODE_ORDERED}, .wall = 1, .in_use = true},
	};
	struct load l = fsyncs;
	char why[256];

	CU_ASSERT_STRING_EQUAL(hints_apply(&l, p, 3, why, sizeof(why)), "journal_data");
	l.mode = MODE_JOURNAL;
	p[1].choice.mode = MODE_ORDERED;
	CU_ASSERT_STRING_EQUAL(hints_apply(&l, p, 3, why, sizeof(why)), "journal_data_ordered");
	p[1].choice.mode = MODE_WRITEBACK;
	CU_ASSERT_PTR_NULL(hints_apply(&l, p, 3, why, sizeof(why)));
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "old blocks"));
	p[1].in_use = true;
	CU_ASSERT_PTR_NULL(hints_apply(&l, p, 3, why, sizeof(why)));
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "is the best"));
	p[1].in_use = false;
	p[2].lacks = "a figure";
	CU_ASSERT_PTR_NULL(hints_apply(&l, p, 3, why, sizeof(why)));
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "a figure"));
	p[2].lacks = NULL;
	l.commits_s = 0.99;
	CU_ASSERT_PTR_NULL(hints_apply(&l, p, 3, why, sizeof(why)));
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "only 99 commits"));
	l.commits_s = NAN;
	CU_ASSERT_PTR_NULL(hints_apply(&l, p, 3, why, sizeof(why)));
}

static const char *advice(const struct load *l, const struct hint_facts *f, const char *setting)
{
	static struct hint h[HINTS_MAX];
	int n = hints_make(l, f, h), i;

	for (i = 0; i < n; i++)
		if (!strcmp(h[i].setting, setting))
			return h[i].advice;
	return "none";
}

static void test_hints(void)
{
	struct hint_facts f = {
		.relatime = true, .readahead_blocks = 32, .transaction_blocks = 4096};
	struct load l = fsyncs;

	/* 64 MiB go round in 8 seconds; 60 seconds are 468 MiB */
	CU_ASSERT_STRING_EQUAL(advice(&l, &f, "journal size"), "512 MiB");
	CU_ASSERT_STRING_EQUAL(advice(&l, &f, "commit="), "leave");
	CU_ASSERT_STRING_EQUAL(advice(&l, &f, "noatime"), "set");
	l.log_bytes_s = 4096;
	CU_ASSERT_STRING_EQUAL(advice(&l, &f, "journal size"), "leave");
	l.commit_p99_blocks = 4000;
	CU_ASSERT_STRING_EQUAL(advice(&l, &f, "journal size"), "256 MiB");
	l.log_bytes_s = NAN;
	CU_ASSERT_STRING_EQUAL(advice(&l, &f, "journal size"), "leave");
	l.requested_s = 0;
	CU_ASSERT_STRING_EQUAL(advice(&l, &f, "commit="), "15 if the last 15 s may be lost");
	f.noatime = true;
	CU_ASSERT_STRING_EQUAL(advice(&l, &f, "noatime"), "leave");
}

/* A fast area for metadata: on a rotating disk, for many metadata, and not for fsyncs. */
static void test_area(void)
{
	struct hint_facts f = {.rotates = true};
	struct load l = fsyncs;
	struct hint h[HINTS_MAX];

	l.metadata_share = 0.6;
	l.requested_s = l.commits_s / 2;
	CU_ASSERT_STRING_NOT_EQUAL(advice(&l, &f, "fast metadata area"), "none");
	CU_ASSERT_PTR_NOT_NULL(strstr(h[hints_make(&l, &f, h) - 1].because, "at least 60 %"));
	f.rotates = false;
	CU_ASSERT_STRING_EQUAL(advice(&l, &f, "fast metadata area"), "none");
	f.rotates = true;
	l.metadata_share = 0.4;
	CU_ASSERT_STRING_EQUAL(advice(&l, &f, "fast metadata area"), "none");
	l.metadata_share = NAN;
	CU_ASSERT_STRING_EQUAL(advice(&l, &f, "fast metadata area"), "none");
	l.metadata_share = 0.6;
	l.requested_s = l.commits_s * 0.6;
	CU_ASSERT_STRING_EQUAL(advice(&l, &f, "fast metadata area"), "none");
	l.commits_s = l.requested_s = NAN;
	CU_ASSERT_STRING_EQUAL(advice(&l, &f, "fast metadata area"), "none");
}

/*
 * Fsynced creates by one thread on a quiet machine, of doc/results/benchmarks.md: from the rate
 * with the internal journal, and the time of a write and a flush, those of the other journals. One
 * commit each, of 33,000 bytes, 4096 of them file data with data=journal.
 */
struct published {
	double internal, sync_us; /* creates per second; a write of 4 KiB with its flush */
	double put_us;
	enum place place;
	enum data_mode mode;
	double measured;
};

static const struct published published[] = {
	/* this machine's disk */
	{1425, 182, 40, PLACE_INTERNAL, MODE_WRITEBACK, 1569},
	{1425, 182, 40, PLACE_INTERNAL, MODE_JOURNAL, 1027},
	{1425, 182, 40, PLACE_SECOND, MODE_ORDERED, 1219},
	{1425, 182, 40, PLACE_SECOND, MODE_JOURNAL, 1073},
	{1425, 182, 40, PLACE_REMOTE, MODE_ORDERED, 1417},
	{1425, 182, 40, PLACE_REMOTE, MODE_WRITEBACK, 1568},
	{1425, 182, 40, PLACE_REMOTE, MODE_JOURNAL, 1120},
	{1425, 182, 40 + 182, PLACE_REMOTE, MODE_ORDERED, 1160},
	{1425, 182, 40 + 182, PLACE_REMOTE, MODE_JOURNAL, 877},
	{1425, 182, 40 + 401, PLACE_REMOTE, MODE_ORDERED, 900},
	{1425, 182, 40 + 401, PLACE_REMOTE, MODE_WRITEBACK, 1053},
	{1425, 182, 40 + 401, PLACE_REMOTE, MODE_JOURNAL, 861},
	/* a flush 1000 us longer */
	{317, 1431, 40, PLACE_INTERNAL, MODE_WRITEBACK, 337},
	{317, 1431, 40, PLACE_INTERNAL, MODE_JOURNAL, 222},
	{317, 1431, 40, PLACE_SECOND, MODE_ORDERED, 212},
	{317, 1431, 40, PLACE_SECOND, MODE_JOURNAL, 218},
	{317, 1431, 40, PLACE_REMOTE, MODE_ORDERED, 497},
	{317, 1431, 40, PLACE_REMOTE, MODE_JOURNAL, 511},
	{317, 1431, 40, PLACE_REMOTE, MODE_WRITEBACK, 542},
	{317, 1431, 40 + 1431, PLACE_REMOTE, MODE_ORDERED, 275},
	{317, 1431, 40 + 1431, PLACE_REMOTE, MODE_JOURNAL, 272},
	{317, 1431, 40 + 401, PLACE_REMOTE, MODE_ORDERED, 407},
	{317, 1431, 40 + 401, PLACE_REMOTE, MODE_WRITEBACK, 441},
	{317, 1431, 40 + 401, PLACE_REMOTE, MODE_JOURNAL, 435},
};

static void test_published(void)
{
	struct machine m = slow_flush;
	struct load l = fsyncs;
	double got;
	unsigned i;

	for (i = 0; i < sizeof(published) / sizeof(published[0]); i++) {
		const struct published *p = &published[i];

		m.disk.write_us = m.second.write_us = 40;
		m.disk.flush_us = m.second.flush_us = p->sync_us - 40;
		m.store.write_us = p->put_us;
		m.store.byte_us = 0.001;
		l.fsyncs_s = l.commits_s = l.requested_s = p->internal;
		l.flushes_s = 2 * p->internal;
		l.commit_blocks = 8;
		l.commit_us = model_commit_us(&m, PLACE_INTERNAL, 8 * 4096.0);
		l.log_bytes_s = p->internal * 8 * 4096;
		l.written_bytes_s = p->internal * 9 * 4096;
		l.new_bytes_s = l.data_bytes_s = l.cached_bytes_s = p->internal * 4096;
		got = at(&l, &m, p->place, p->mode).syncs_s;
		printf("# %4.0f per second, %s, %s: %.0f, measured %.0f: %.2f\n", p->internal,
			place_name(p->place), mode_name(p->mode), got, p->measured,
			got / p->measured);
		CU_ASSERT(got / p->measured > 0.75 && got / p->measured < 1.25);
	}
}

/*
 * What rjadvise observed of loads of bench/advise on a quiet machine (2026-11-26, Linux 6.18), and
 * the rate of each choice that was then run for real, to that with the journal in use.
 */
static const struct observed {
	const char *name;
	struct load load;
	struct machine machine;
	/* of each place: ordered, writeback, journal, flagged */
	double measured[PLACES][4];
} observed[] = {
	{"mail",
		{.sync_threads = 4,
			.fsyncs_s = 3147, .commits_s = 1662, .requested_s = 1662, .commit_us = 653,
			.commit_blocks = 13.04, .log_bytes_s = 88.76e6, .written_bytes_s = 123.1e6,
			.data_bytes_s = 34.31e6, .cached_bytes_s = 28.33e6, .new_bytes_s = 20.54e6,
			.overwritten_bytes_s = 13.77e6, .flushes_s = 3408, .flush_us = 134.2},
		{{67.9, 75.0, 8.616e-4, false}, {70.7, 79.6, 6.775e-4, false},
			{223.9, 0, 7.530e-4, true}},
		{{3577, 3502, 3088, 4005}, {3554, 3533, 3348, 3675}, {2400, 2274, 2125, 2471}}},
	{"db",
		{.sync_threads = 2,
			.fsyncs_s = 7495, .commits_s = 29.08, .requested_s = 29.08,
			.commit_us = 586.3,
			.commit_blocks = 3.04, .log_bytes_s = 362334, .written_bytes_s = 120.6e6,
			.data_bytes_s = 120.2e6, .cached_bytes_s = 122.3e6, .new_bytes_s = 0,
			.overwritten_bytes_s = 120.2e6, .flushes_s = 7506, .flush_us = 74.7,
			.flagged_share = 1, .flagged_data_share = 1},
		{{79.0, 61.8, 6.660e-4, false}, {77.7, 78.4, 6.446e-4, false},
			{202.5, 0, 1.524e-3, true}},
		{{8049, 8608, 2822, 2818}, {7837, 8765, 2815, 2646}, {9161, 8588, 1659, 1578}}},
	{"files",
		{.sync_threads = NAN,
			.fsyncs_s = 0, .commits_s = 1.483, .requested_s = 1.483, .commit_us = 2155,
			.commit_blocks = 38.2, .log_bytes_s = 231790, .written_bytes_s = 626.7e6,
			.data_bytes_s = 626.4e6, .cached_bytes_s = 1170e6, .new_bytes_s = 9.92e6,
			.overwritten_bytes_s = 616.5e6, .flushes_s = 2.97, .flush_us = 583.3,
			.flagged_share = 1, .flagged_data_share = 1},
		{{69.7, 76.8, 6.820e-4, false}, {70.0, 77.4, 6.984e-4, false},
			{221.1, 0, 5.894e-4, true}},
		{{17284, 15918, 5986, 5280},
			{17576, 15966, 6122, 5244}, {17544, 16326, 3858, 3481}}},
};

static void test_observed(void)
{
	static const enum data_mode modes[] = {
		MODE_ORDERED, MODE_WRITEBACK, MODE_JOURNAL, MODE_FLAGGED};
	unsigned i, p, m;

	for (i = 0; i < sizeof(observed) / sizeof(observed[0]); i++) {
		const struct observed *o = &observed[i];
		struct load l = o->load;

		l.seconds = 4;
		l.block_bytes = 4096;
		l.place = PLACE_INTERNAL;
		l.mode = MODE_ORDERED;
		l.commit_s = 5;
		l.journal_bytes = 64 << 20;
		l.put_us = NAN;
		for (p = 0; p < PLACES; p++)
			for (m = 0; m < 4; m++) {
				double got = 1 / at(&l, &o->machine, (enum place)p, modes[m]).wall,
				       want = o->measured[p][m] / o->measured[0][0];

				printf("# %s, %s, %s: %.2f, measured %.2f: %.2f\n", o->name,
					place_name((enum place)p), mode_name(modes[m]), got, want,
					got / want);
				/* what nodelalloc costs is not in the model */
				CU_ASSERT(got / want > 0.75);
				CU_ASSERT(got / want < (modes[m] == MODE_FLAGGED ? 1.3 : 1.25));
			}
	}
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(test_commit_times),
		RJTEST(test_in_use),
		RJTEST(test_remote_saves_a_flush),
		RJTEST(test_scale),
		RJTEST(test_infer),
		RJTEST(test_idle),
		RJTEST(test_journal),
		RJTEST(test_flush_only),
		RJTEST(test_flagged),
		RJTEST(test_threads),
		RJTEST(test_bandwidth),
		RJTEST(test_unknown),
		RJTEST(test_rank),
		RJTEST(test_all_choices),
		RJTEST(test_published),
		RJTEST(test_observed),
		RJTEST(test_apply),
		RJTEST(test_hints),
		RJTEST(test_area),
	};

	return RJTEST_RUN("model", tests);
}
