// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "util/environ.h"

#define SECTOR 512.0

static bool read_disk(dev_t dev, struct disk_text *out)
{
	char text[512];

	return dev &&
	       read_text(text, sizeof(text), "/sys/dev/block/%u:%u/stat", major(dev), minor(dev)) &&
	       parse_disk_stat(text, out);
}

void sample_take(const struct volume *v, struct trace *t, struct sample *out)
{
	char text[2048];

	memset(out, 0, sizeof(*out));
	out->has_jbd2 = v->jbd2[0] &&
			read_text(text, sizeof(text), "/proc/fs/jbd2/%s/info", v->jbd2) &&
			parse_jbd2_info(text, &out->jbd2);
	out->has_disk = read_disk(v->dev, &out->disk);
	out->flushes = out->disk;
	if (v->whole_disk && read_text(text, sizeof(text), "%s/stat", v->disk_dir))
		parse_disk_stat(text, &out->flushes);
	out->has_journal = v->journal_dev != v->dev && read_disk(v->journal_dev, &out->journal);
	trace_read(t, &out->trace);
	out->ns = rj_monotonic_ns();
}

static double per_s(uint64_t now, uint64_t before, double seconds)
{
	return now >= before && seconds > 0 ? (double)(now - before) / seconds : NAN;
}

/* Logged blocks since the mount; each mean is a whole number, so that this is too small, by
 * at most a block per transaction. */
static double logged(const struct sample *s)
{
	return (double)s->jbd2.transactions * (double)s->jbd2.logged;
}

/* Bytes to the log, and by how much that can be wrong: by records of the commits if there
 * are any, else by jbd2's means. */
static double log_bytes(const struct sample *a, const struct sample *b, double block_bytes,
	double *error)
{
	double n;

	*error = 0;
	if (a->has_journal && b->has_journal)
		return (double)(b->journal.write_sectors - a->journal.write_sectors) * SECTOR;
	if (!a->has_jbd2 || !b->has_jbd2)
		return NAN;
	if (b->trace.commits > a->trace.commits)
		return (double)(b->trace.logged - a->trace.logged) * block_bytes *
		       (double)(b->jbd2.transactions - a->jbd2.transactions) /
		       (double)(b->trace.commits - a->trace.commits);
	if (a->trace.commits_on && b->jbd2.transactions == a->jbd2.transactions)
		return 0;
	n = (logged(b) - logged(a)) * block_bytes;
	*error = (double)b->jbd2.transactions * block_bytes;
	return n > 0 ? n : 0;
}

void series_begin(struct series *s, const struct sample *first)
{
	memset(s, 0, sizeof(*s));
	s->first = s->last = s->point_begin = *first;
	s->stride = 1;
}

/* Half as many, each of twice the time. */
static void halve(struct series *s)
{
	int i;

	for (i = 0; i + 1 < s->count; i += 2) {
		struct point *a = &s->points[i], *b = a + 1;

		s->points[i / 2] = (struct point){b->at_s, (a->syncs_s + b->syncs_s) / 2,
			(a->commits_s + b->commits_s) / 2,
			(a->written_bytes_s + b->written_bytes_s) / 2,
			(a->log_bytes_s + b->log_bytes_s) / 2};
	}
	s->count /= 2;
	s->stride *= 2;
}

static void add_point(struct series *s, const struct sample *next, double block_bytes)
{
	const struct sample *was = &s->point_begin;
	double seconds = (double)(next->ns - was->ns) / 1e9, error;
	struct point p = {.at_s = (double)(next->ns - s->first.ns) / 1e9};

	p.syncs_s = p.commits_s = NAN;
	if (next->trace.on)
		p.syncs_s = per_s(next->trace.fsyncs, was->trace.fsyncs, seconds);
	if (next->has_jbd2)
		p.commits_s = per_s(next->jbd2.transactions, was->jbd2.transactions, seconds);
	p.written_bytes_s = SECTOR *
		per_s(next->disk.write_sectors, was->disk.write_sectors, seconds);
	p.log_bytes_s = log_bytes(was, next, block_bytes, &error) / seconds;
	if (s->count == POINTS_MAX)
		halve(s);
	s->points[s->count++] = p;
	s->point_begin = *next;
}

void series_add(struct series *s, const struct sample *next, double block_bytes)
{
	uint64_t commits;

	if (next->has_jbd2 && s->last.has_jbd2 &&
		next->jbd2.transactions > s->last.jbd2.transactions) {
		commits = next->jbd2.transactions - s->last.jbd2.transactions;
		s->commit_us_sum += (double)next->jbd2.commit_us * (double)commits;
		s->commit_us_weight += commits;
	}
	s->last = *next;
	if (++s->in_point >= s->stride) {
		s->in_point = 0;
		add_point(s, next, block_bytes);
	}
}

/* The size that 99 of 100 commits did not exceed. */
static double p99_blocks(const struct trace_counts *a, const struct trace_counts *b)
{
	uint64_t all = b->commits - a->commits, n = 0;
	unsigned i;

	if (!b->commits_on || !all)
		return NAN;
	for (i = 0; i < TRACE_BUCKETS; i++) {
		n += b->sizes[i] - a->sizes[i];
		if (n * 100 >= all * 99)
			break;
	}
	return trace_bucket_most(i);
}

/* What jbd2 counted. */
static void load_commits(const struct series *s, struct load *out)
{
	const struct sample *a = &s->first, *b = &s->last;
	double seconds = out->seconds, bytes, error, commits;

	out->fsyncs_s = out->commits_s = out->requested_s = out->commit_us = NAN;
	out->cached_bytes_s = out->sync_threads = NAN;
	if (a->trace.on && b->trace.on) {
		out->fsyncs_s = per_s(b->trace.fsyncs, a->trace.fsyncs, seconds);
		out->sync_threads = b->trace.sync_threads;
		out->cached_bytes_s = trace_written(&a->trace, &b->trace) / seconds;
	}
	if (a->has_jbd2 && b->has_jbd2) {
		out->commits_s = per_s(b->jbd2.transactions, a->jbd2.transactions, seconds);
		out->requested_s = per_s(b->jbd2.requested, a->jbd2.requested, seconds);
	}
	if (s->commit_us_weight)
		out->commit_us = s->commit_us_sum / (double)s->commit_us_weight;
	bytes = log_bytes(a, b, out->block_bytes, &error);
	/* a figure that may be wrong by half of it is none */
	if (error > bytes / 2 && error > 0)
		bytes = NAN;
	out->log_bytes_s = bytes / seconds;
	commits = out->commits_s * seconds;
	out->commit_blocks = commits > 0 ? bytes / out->block_bytes / commits : NAN;
	out->commit_p99_blocks = p99_blocks(&a->trace, &b->trace);
}

/* What the disk and the page cache counted. */
static void load_disk(const struct series *s, struct load *out)
{
	const struct sample *a = &s->first, *b = &s->last;
	double seconds = out->seconds, flushes;

	out->written_bytes_s = out->flushes_s = out->flush_us = NAN;
	if (a->has_disk && b->has_disk) {
		out->written_bytes_s =
			SECTOR * per_s(b->disk.write_sectors, a->disk.write_sectors, seconds);
		if (b->flushes.has_flushes)
			out->flushes_s = per_s(b->flushes.flushes, a->flushes.flushes, seconds);
	}
	flushes = out->flushes_s * seconds;
	if (flushes > 0)
		out->flush_us = (double)(b->flushes.flush_ms - a->flushes.flush_ms) * 1e3 / flushes;
	out->data_bytes_s = out->written_bytes_s;
	if (out->place == PLACE_INTERNAL)
		out->data_bytes_s -= out->log_bytes_s;
	if (out->data_bytes_s < 0)
		out->data_bytes_s = 0;
	/* of file data in the log nothing says what they are */
	out->metadata_share = NAN;
	if (out->mode != MODE_JOURNAL && out->written_bytes_s > 0)
		out->metadata_share = out->log_bytes_s / (out->data_bytes_s + out->log_bytes_s);
}

void series_load(const struct series *s, const struct volume *v, struct load *out)
{
	out->seconds = (double)(s->last.ns - s->first.ns) / 1e9;
	out->block_bytes = v->journal.volume.block_size;
	out->place = v->place;
	out->mode = v->mount.mode;
	out->delalloc = v->mount.delalloc;
	out->commit_s = (double)v->mount.commit_s;
	out->journal_bytes = (double)v->journal.journal.blocks * out->block_bytes;
	load_commits(s, out);
	load_disk(s, out);
}
