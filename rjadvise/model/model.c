// SPDX-License-Identifier: GPL-2.0-or-later
#include "model.h"

#include <math.h>
#include <stdlib.h>

#define DAY_S 86400.0
/* FUSE, the loop device and the wake-ups between, of a remote journal: the difference in
 * doc/results/commit-path.md between a put and a commit without the volume's flush. */
#define FRONT_US 150.0
/* The same for each byte: copies and SHA-256, 1.8 ms of a processor for 1 MB. */
#define FRONT_BYTE_US 0.0018
/* A part of the time that commits, or flushes, need at least for their mean to tell how busy
 * the disk is. */
#define BUSY_LEAST 0.1
/* Blocks of data in the log to a descriptor block: 16 bytes a tag, in 4 KiB. */
#define TAGS 254.0
/* The part of the journal that one transaction may have. */
#define FULL_SHARE 0.25

const char *place_name(enum place p)
{
	static const char *const names[PLACES] = {"internal", "second disk", "remote"};

	return names[p];
}

const char *mode_name(enum data_mode m)
{
	static const char *const names[] = {
		[MODE_ORDERED] = "ordered",
		[MODE_WRITEBACK] = "writeback",
		[MODE_JOURNAL] = "journal",
		[MODE_FLAGGED] = "ordered, nodelalloc, +j",
	};

	return names[m];
}

int model_choices(struct choice out[CHOICES_MAX])
{
	int n = 0, p, m;

	for (p = 0; p < PLACES; p++)
		for (m = MODE_ORDERED; m <= MODE_FLAGGED; m++)
			out[n++] = (struct choice){(enum place)p, (enum data_mode)m};
	return n;
}

static double known(double x, double otherwise)
{
	return isnan(x) ? otherwise : x;
}

static double write_us(const struct device_cost *d, double bytes)
{
	double more = bytes - 4096;

	return d->write_us + (more > 0 ? more * known(d->byte_us, 0) : 0);
}

/* JBD2 writes the blocks, waits, and writes the commit block with PREFLUSH and FUA, which the
 * block layer makes a second flush where the disk has no FUA. */
static double on_disk_us(const struct device_cost *d, double bytes)
{
	return write_us(d, bytes) + d->flush_us + d->write_us + (d->fua ? 0 : d->flush_us);
}

/* What the disks and the store take for it. */
static double devices_us(const struct machine *m, enum place place, double bytes)
{
	switch (place) {
	case PLACE_INTERNAL:
		return on_disk_us(&m->disk, bytes);
	case PLACE_SECOND: /* the volume is flushed before the commit block */
		return m->disk.flush_us + on_disk_us(&m->second, bytes);
	default:
		return m->disk.write_us + m->disk.flush_us + write_us(&m->store, bytes);
	}
}

/* What processors take for it, which a disk's queue does not lengthen. */
static double front_us(enum place place, double bytes)
{
	return place == PLACE_REMOTE ? FRONT_US + fmax(0, bytes - 4096) * FRONT_BYTE_US : 0;
}

double model_commit_us(const struct machine *m, enum place place, double bytes)
{
	return devices_us(m, place, bytes) + front_us(place, bytes);
}

/* Flushes of the volume's disk for one commit. */
static double flushes_per_commit(const struct load *l, const struct machine *m)
{
	return l->place == PLACE_INTERNAL && !m->disk.fua ? 2 : 1;
}

/* Syncs that came to the disk as a flush, and not to the journal: fdatasync(2) of blocks that
 * are in place. */
static double flush_only_s(const struct load *l, const struct machine *m)
{
	double n = l->flushes_s - l->commits_s * flushes_per_commit(l, m);

	if (n > l->fsyncs_s) /* others flushed the disk, too */
		n = l->fsyncs_s;
	return n > 0 ? n : 0; /* also of NAN */
}

double model_syncs_s(const struct load *l, const struct machine *m)
{
	return isnan(l->fsyncs_s) ? l->requested_s + flush_only_s(l, m) : l->fsyncs_s;
}

/* Commits that programs wait for: others ask for commits, too, as sync(2) or a full journal. */
static double waited_s(const struct load *l, const struct machine *m)
{
	return fmin(l->requested_s, model_syncs_s(l, m));
}

/* Bytes of file data that pass the log per second. */
static double logged_data_s(const struct load *l, enum data_mode mode)
{
	double past;

	if (mode == MODE_JOURNAL) {
		/* what passed the page cache, at least: metadata are in data_bytes_s */
		past = l->data_bytes_s - l->cached_bytes_s - known(l->log_bytes_s, 0);
		if (isnan(l->cached_bytes_s))
			return l->data_bytes_s;
		return l->cached_bytes_s + (past > 0 ? past : 0);
	}
	/* all that is written there, new or not */
	return mode == MODE_FLAGGED ? logged_data_s(l, MODE_JOURNAL) * l->flagged_data_share : 0;
}

/* What the log takes per second without any file data. */
static double metadata_s(const struct load *l)
{
	double n = l->log_bytes_s - (l->mode == MODE_JOURNAL ? logged_data_s(l, l->mode) : 0);

	return n > 0 || isnan(n) ? n : 0;
}

/* How much longer commits really take than the probe's figures say: by those of the journal
 * in use, or by the disk's flushes where nearly all syncs only flush. */
static double scale(const struct load *l, const struct machine *m)
{
	double k = NAN, bytes = l->commit_blocks * l->block_bytes;

	if (waited_s(l, m) * l->commit_us >= BUSY_LEAST * 1e6)
		k = fmax(0, l->commit_us - front_us(l->place, bytes)) /
		    devices_us(m, l->place, bytes);
	else if (l->flushes_s * l->flush_us >= BUSY_LEAST * 1e6)
		k = l->flush_us / m->disk.flush_us;
	return isfinite(k) ? k : 1;
}

static const char *missing(const struct load *l, const struct machine *m, struct choice c)
{
	double data = logged_data_s(l, c.mode);

	if (isnan(l->commits_s) || (l->commits_s > 0 && isnan(l->commit_us)))
		return "commits of the journal in use";
	if (isnan(m->disk.write_us) || isnan(m->disk.flush_us))
		return "the disk's write and flush (--probe)";
	if (c.place == PLACE_REMOTE && isnan(m->store.write_us))
		return "a store (--store URL)";
	if (c.place == PLACE_SECOND && isnan(m->second.write_us))
		return "a second disk (--second DIR)";
	if (isnan(data))
		return "overwritten bytes";
	return NULL;
}

/* How much of what is fsynced passes the log with C, and does not now. */
static double part_logged(const struct load *l, struct choice c)
{
	if (l->mode == MODE_JOURNAL)
		return 0;
	return c.mode == MODE_JOURNAL ? 1 : c.mode == MODE_FLAGGED ? l->flagged_share : 0;
}

/* The part of a second that the disk, or the store, needs for the bytes alone. */
static double bytes_time(
	const struct load *l, const struct machine *m, struct choice c, double log_s)
{
	double byte_us = known(m->disk.byte_us, 0) / 1e6, n = l->written_bytes_s;
	/* a disk with which the load kept up is not slower than that */
	double full = fmax(1, n * byte_us);

	if (l->place == PLACE_INTERNAL)
		n -= known(l->log_bytes_s, 0);
	if (c.place == PLACE_INTERNAL)
		n += log_s;
	n *= byte_us / full;
	return c.place == PLACE_REMOTE ? fmax(n, log_s * known(m->store.byte_us, 0) / 1e6) : n;
}

/* Where transactions end because they are full, every program waits for the log, and for its
 * blocks to reach their place. Count of the log the share UNPAID, 0 to 1: wall() has counted what
 * fsync calls wait for. */
static double full_time(const struct load *l, const struct machine *m, struct choice c,
	double log_s, double data_s, double unpaid)
{
	const struct device_cost *d = c.place == PLACE_REMOTE	? &m->store
				      : c.place == PLACE_SECOND ? &m->second
								: &m->disk;
	double log_us = known(d->byte_us, 0) + (c.place == PLACE_REMOTE ? FRONT_BYTE_US : 0);

	if (log_s * l->commit_s <= l->journal_bytes * FULL_SHARE)
		return 0;
	return (log_s * unpaid * log_us + data_s * known(m->disk.byte_us, 0)) / 1e6;
}

/*
 * In a second of now: BEFORE is spent in commits and in what the choice changes; AFTER would
 * be. The rest, of programs and of the disk, stays. BEFORE is more than a second if several
 * threads wait at once; commits come one after the other.
 */
static double wall(const struct load *l, const struct machine *m, struct choice c,
	double *commit_us)
{
	double k = scale(l, m), only = flush_only_s(l, m), part = part_logged(l, c);
	double data_s = logged_data_s(l, c.mode), was_s = logged_data_s(l, l->mode);
	double log_s = metadata_s(l) + data_s * (1 + 1 / TAGS);
	/* a sync of data in the log is a commit, one that only flushed before, too; no program
	 * waits for the commits of the timer */
	double commits = l->commits_s + only * part, waited = waited_s(l, m), before, after, bytes;
	/* those that share a commit wrote their data at the same time */
	double syncs = fmin(model_syncs_s(l, m), waited + only);

	bytes = commits > 0 ? log_s / commits : 0;
	*commit_us = k * devices_us(m, c.place, bytes) + front_us(c.place, bytes);
	if (c.place == l->place && c.mode == l->mode)
		*commit_us = l->commit_us;
	before = waited * l->commit_us;
	waited += only * part;
	after = waited * *commit_us;
	if (part > 0 && syncs > 0) /* not written in place before the commit any more */
		before += part * k * (syncs * write_us(&m->disk, data_s / (syncs * part)) +
					     only * m->disk.flush_us);
	else if (l->mode == MODE_JOURNAL && c.mode != MODE_JOURNAL && syncs > 0)
		after += syncs * k * write_us(&m->disk, was_s / syncs);
	/* after the commit of data in an internal journal fsync flushes once more */
	if (l->place == PLACE_INTERNAL && l->mode == MODE_JOURNAL)
		before += syncs * k * m->disk.flush_us;
	if (c.place == PLACE_INTERNAL)
		after += (c.mode == MODE_JOURNAL ? 1 : part) * syncs * k * m->disk.flush_us;
	after = 1 + (after - fmin(1e6, before)) / 1e6;
	if (part > 0)
		after += full_time(l, m, c, log_s, data_s,
			commits > 0 ? fmax(0, 1 - waited / commits) : 1);
	return fmax(after, bytes_time(l, m, c, log_s));
}

const char *model_loses(struct choice c)
{
	static const char *const of_mode[] = {
		[MODE_ORDERED] = "what was not fsynced since the last commit; a block that was being overwritten in place can be torn",
		[MODE_WRITEBACK] = "what was not fsynced since the last commit; a file that grew just before can show old blocks of the disk, and a block that was being overwritten in place can be torn",
		[MODE_JOURNAL] = "what was not fsynced since the last commit, and no more: all files are as of one commit",
		[MODE_FLAGGED] = "what was not fsynced since the last commit; a block that was being overwritten in place can be torn, but not in the directories with +j",
	};

	return of_mode[c.mode];
}

/* Where the journal in use is on what was not measured, rjournald's count or else its commits
 * tell what that takes. */
static struct machine infer(const struct load *l, const struct machine *m)
{
	struct machine i = *m;

	if (l->place == PLACE_REMOTE && isnan(i.store.write_us))
		i.store = (struct device_cost){.byte_us = NAN,
			.write_us = known(l->put_us, fmax(0, l->commit_us - i.disk.write_us -
								     i.disk.flush_us - FRONT_US))};
	else if (l->place == PLACE_SECOND && isnan(i.second.write_us))
		i.second = (struct device_cost){
			.write_us = fmax(0, l->commit_us - i.disk.flush_us) / 2, .byte_us = NAN};
	return i;
}

struct prediction model_predict(const struct load *l, const struct machine *m, struct choice c)
{
	struct load counted = *l;
	struct machine with;
	struct prediction p = {.choice = c,
		.in_use = c.place == l->place && c.mode == l->mode,
		.wall = NAN,
		.syncs_s = NAN,
		.commit_us = NAN,
		.loses = model_loses(c)};
	double data = logged_data_s(l, c.mode);

	/* commits come one after the other: their mean time, which is weighted, cannot be more
	 * than all of the time */
	if (l->commits_s > 0)
		counted.commit_us = fmin(l->commit_us, 1e6 / l->commits_s);
	l = &counted;
	with = infer(l, m);
	if (!(l->commits_s > 0))
		counted.commit_us = model_commit_us(&with, l->place, 0);
	m = &with;
	p.lacks = missing(l, m, c);
	p.log_bytes_day = (metadata_s(l) + data * (1 + 1 / TAGS)) * DAY_S;
	if (p.in_use) {
		p.wall = 1;
		p.commit_us = l->commit_us;
		p.log_bytes_day = l->log_bytes_s * DAY_S;
		p.lacks = NULL;
	} else if (!p.lacks) {
		p.wall = wall(l, m, c, &p.commit_us);
	}
	p.syncs_s = model_syncs_s(l, m) / p.wall;
	return p;
}

/* Less is better: how much a crash can lose. */
static int risk(struct choice c)
{
	static const int of_mode[] = {
		[MODE_JOURNAL] = 0,
		[MODE_FLAGGED] = 1,
		[MODE_ORDERED] = 2,
		[MODE_WRITEBACK] = 3,
	};

	return of_mode[c.mode] * 2 + (c.place != PLACE_REMOTE);
}

/* "Within a tenth of each other" is no order: the best of those within it of the fastest that
 * are left comes next. */
void model_rank(struct prediction *p, int count)
{
	struct prediction swap;
	int i, j, fastest, best;

	for (i = 0; i < count; i++) {
		for (fastest = j = i; j < count; j++)
			if (!isnan(p[j].wall) && !(p[j].wall >= p[fastest].wall))
				fastest = j;
		for (best = fastest, j = i; j < count; j++)
			if (risk(p[j].choice) < risk(p[best].choice) &&
				(isnan(p[fastest].wall) ||
					p[j].wall <= p[fastest].wall * (1 + MODEL_SAME)))
				best = j;
		swap = p[i];
		p[i] = p[best];
		p[best] = swap;
	}
}
