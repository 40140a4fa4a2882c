// SPDX-License-Identifier: GPL-2.0-or-later
#include "model.h"

#include <math.h>
#include <stdlib.h>

#define DAY_S 86400.0
/* FUSE, the loop device and the wake-ups between, of a remote journal: the difference in
 * doc/results/commit-path.md between a put and a commit without the volume's flush. */
#define FRONT_US 150.0
/* The same for each byte: copies and the checksum, 1.7 ms for 1 MB. */
#define FRONT_BYTE_US 0.0017
/* A part of the time that commits, or flushes, need at least for their mean to tell how busy
 * the disk is. */
#define BUSY_LEAST 0.1
/* Blocks of data in the log to a descriptor block: 16 bytes a tag, in 4 KiB. */
#define TAGS 254.0
/* Blocks to the log of a commit of an overwrite, without its data: a descriptor, the inode's
 * block, the commit block. */
#define LEAST_BLOCKS 3
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
 * block layer makes a second flush where the disk has no FUA. The flush of another disk takes
 * OTHER_US while the blocks are written. */
static double on_disk_us(const struct device_cost *d, double bytes, double other_us)
{
	return fmax(write_us(d, bytes), other_us) + d->flush_us + d->write_us +
	       (d->fua ? 0 : d->flush_us);
}

/* What the disks and the store take for it, if the share IN_LOG of the file data passes the log:
 * only for what does not, JBD2 flushes the volume before a commit block elsewhere. */
static double devices_us(const struct machine *m, enum place place, double bytes, double in_log)
{
	switch (place) {
	case PLACE_INTERNAL:
		return on_disk_us(&m->disk, bytes, 0);
	case PLACE_SECOND:
		return on_disk_us(&m->second, bytes, (1 - in_log) * m->disk.flush_us);
	default: /* rjournald flushes the volume for each */
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
	return devices_us(m, place, bytes, 0) + front_us(place, bytes);
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

	if (l->mode == MODE_JOURNAL) /* each is a commit, and flushes after it */
		return 0;
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

/* Threads that sync. Where that was not seen, by how many share a commit: while the journal
 * commits for some of them, the others wait for the next one. */
static double threads(const struct load *l, const struct machine *m)
{
	double shared = (model_syncs_s(l, m) - flush_only_s(l, m)) / waited_s(l, m);

	return fmax(1, known(l->sync_threads, isfinite(shared) ? 2 * shared - 1 : 1));
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

/* How much of what is fsynced passes the log in MODE. */
static double in_log(const struct load *l, enum data_mode mode)
{
	return mode == MODE_JOURNAL ? 1 : mode == MODE_FLAGGED ? l->flagged_share : 0;
}

/* How much passes the log with C, and does not now. */
static double part_logged(const struct load *l, struct choice c)
{
	return fmax(0, in_log(l, c.mode) - in_log(l, l->mode));
}

/* Commits that programs wait for with C and that are only flushes now. Threads do not wait for
 * one commit: half of them have theirs in the next. */
static double added_s(const struct load *l, const struct machine *m, struct choice c)
{
	double n = threads(l, m);

	return flush_only_s(l, m) * part_logged(l, c) * fmin(n, 2) / n;
}

/* Bytes to the log per second with C: each commit that is added has LEAST_BLOCKS, too. */
static double log_s(const struct load *l, const struct machine *m, struct choice c)
{
	return metadata_s(l) + logged_data_s(l, c.mode) * (1 + 1 / TAGS) +
	       added_s(l, m, c) * LEAST_BLOCKS * l->block_bytes;
}

/* How much longer commits really take than the probe's figures say: by those of the journal
 * in use, or by the disk's flushes where nearly all syncs only flush. */
static double scale(const struct load *l, const struct machine *m)
{
	double k = NAN, bytes = l->commit_blocks * l->block_bytes;

	if (waited_s(l, m) * l->commit_us >= BUSY_LEAST * 1e6)
		k = fmax(0, l->commit_us - front_us(l->place, bytes)) /
		    devices_us(m, l->place, bytes, in_log(l, l->mode));
	else if (l->flushes_s * l->flush_us >= BUSY_LEAST * 1e6)
		k = l->flush_us / m->disk.flush_us;
	return isfinite(k) ? k : 1;
}

static void lengthen(struct device_cost *d, double k)
{
	d->write_us *= k;
	d->flush_us *= k;
	d->byte_us *= k;
}

/* The machine as it is under the load. A disk that is faster than its probe makes no store
 * faster that was not in use. */
static struct machine under_load(const struct load *l, const struct machine *m)
{
	double k = scale(l, m);
	struct machine u = *m;

	lengthen(&u.disk, k);
	lengthen(&u.second, k);
	lengthen(&u.store, l->place == PLACE_REMOTE ? k : fmax(1, k));
	return u;
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

/* The part of a second that the disk, or the store, needs for the bytes alone. */
static double bytes_time(
	const struct load *l, const struct machine *m, struct choice c, double to_log_s)
{
	double byte_us = known(m->disk.byte_us, 0) / 1e6, n = l->written_bytes_s;
	/* a disk with which the load kept up is not slower than that */
	double full = fmax(1, n * byte_us);

	if (l->place == PLACE_INTERNAL)
		n -= known(l->log_bytes_s, 0);
	if (c.place == PLACE_INTERNAL)
		n += to_log_s;
	n *= byte_us / full;
	return c.place == PLACE_REMOTE ? fmax(n, to_log_s * known(m->store.byte_us, 0) / 1e6) : n;
}

/* Where transactions end because they are full, every program waits for the log, and for its
 * blocks to reach their place. COMMITS are all, of the log WAITED were counted already. */
static double full_time(const struct load *l, const struct machine *m, struct choice c,
	double commits, double waited)
{
	const struct device_cost *d = c.place == PLACE_REMOTE	? &m->store
				      : c.place == PLACE_SECOND ? &m->second
								: &m->disk;
	double log_us = known(d->byte_us, 0) + (c.place == PLACE_REMOTE ? FRONT_BYTE_US : 0);
	double to_log_s = log_s(l, m, c), unpaid = commits > 0 ? fmax(0, 1 - waited / commits) : 1;

	if (to_log_s <= fmax(commits, 1 / l->commit_s) * l->journal_bytes * FULL_SHARE)
		return 0;
	return (to_log_s * unpaid * log_us +
		       logged_data_s(l, c.mode) * known(m->disk.byte_us, 0)) / 1e6;
}

/* What each thread spends on flushes of its own after its commits in a second of now: of data
 * that are in the log it writes the blocks in place and flushes the volume, while the journal
 * commits for others. Before a remote commit rjournald has done that, but an overwrite is
 * flushed again. U is of under_load(). */
static double own_flushes(
	const struct load *l, const struct machine *u, enum place place, enum data_mode mode)
{
	double only = flush_only_s(l, u), after = (model_syncs_s(l, u) - only) * in_log(l, mode);
	double each = u->disk.flush_us / 1e6 / threads(l, u);

	return (only + (place == PLACE_REMOTE ? 0 : after)) * each;
}

/*
 * A second of now: the journal makes commits for a part of it, BUSY, one after the other. Each
 * thread waits for its own, which takes a half of that if others have the next one; APART is the
 * rest of its time, of programs, and of writes and flushes that are its own. The second takes as
 * long as a thread, or as the journal.
 */
static double wall(const struct load *l, const struct machine *m, struct choice c,
	double *commit_us)
{
	const struct machine u = under_load(l, m);
	double n = threads(l, m), turns = fmin(n, 2), syncs = model_syncs_s(l, m);
	double commits = l->commits_s + added_s(l, m, c), waited = waited_s(l, m);
	double to_log_s = log_s(l, m, c), bytes = commits > 0 ? to_log_s / commits : 0;
	double busy = waited * l->commit_us / 1e6, now, apart, before, after;

	*commit_us = devices_us(&u, c.place, bytes, in_log(l, c.mode)) + front_us(c.place, bytes);
	if (c.place == l->place && c.mode == l->mode)
		*commit_us = l->commit_us;
	/* where the journal is busy all the time the rest cannot be seen: it has these at least */
	apart = syncs > 0 ? syncs * write_us(&u.disk, l->data_bytes_s / syncs) / 1e6 / n : 0;
	now = own_flushes(l, &u, l->place, l->mode);
	apart += now;
	apart = fmax(fmin(1, apart), 1 - busy);
	before = fmax(apart + busy / turns, busy);
	apart += own_flushes(l, &u, c.place, c.mode) - now;
	waited += added_s(l, m, c);
	busy = waited * *commit_us / 1e6;
	after = fmax(apart + busy / turns, busy) / before;
	if (part_logged(l, c) > 0)
		after += full_time(l, m, c, commits, waited);
	return fmax(after, bytes_time(l, m, c, to_log_s));
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
	double bytes = l->commit_blocks * l->block_bytes;
	struct machine i = *m;

	if (l->place == PLACE_REMOTE && isnan(i.store.write_us))
		i.store = (struct device_cost){.byte_us = NAN,
			.write_us = known(l->put_us,
				fmax(0, l->commit_us - i.disk.write_us - i.disk.flush_us -
						front_us(PLACE_REMOTE, known(bytes, 0))))};
	else if (l->place == PLACE_SECOND && isnan(i.second.write_us))
		i.second = (struct device_cost){
			.write_us = fmin(l->commit_us / 2,
				fmax(0, l->commit_us - i.disk.flush_us)), .byte_us = NAN};
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
	p.log_bytes_day = log_s(l, m, c) * DAY_S;
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
