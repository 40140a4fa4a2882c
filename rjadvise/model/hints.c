// SPDX-License-Identifier: GPL-2.0-or-later
#include "hints.h"

#include <math.h>
#include <stdio.h>

/* The log should take that long to go round, so that the kernel writes back at leisure and not
 * because the log is full. */
#define ROUND_S	 60.0
#define LEAST_MB 64.0
#define MOST_MB	 1024.0
#define COMMITS_LEAST 100
/* Of what is written, metadata must have so much before they get a device of their own. */
#define METADATA_LEAST 0.5

#define SAY(field, ...) snprintf(h->field, sizeof(h->field), __VA_ARGS__)

static void commit_hint(const struct load *l, struct hint *h)
{
	double asked = l->requested_s / l->commits_s;

	h->setting = "commit=";
	SAY(now, "%.0f s", l->commit_s);
	if (isnan(asked)) {
		SAY(advice, "leave");
		SAY(because, "unknown: no commits were seen");
	} else if (asked > 0.5) {
		SAY(advice, "leave");
		SAY(because,
			"%.0f %% of the commits were asked for by fsync: the interval hardly matters",
			asked * 100);
	} else {
		SAY(advice, "%.0f if the last %.0f s may be lost",
			l->commit_s * 3, l->commit_s * 3);
		SAY(because,
			"%.0f %% of the commits came by the timer; how much less reaches the log then is unknown",
			100 - asked * 100);
	}
}

static void size_hint(const struct load *l, const struct hint_facts *f, struct hint *h)
{
	double round_s = l->journal_bytes / l->log_bytes_s, mb = LEAST_MB;
	double whole = l->commit_p99_blocks / f->transaction_blocks;

	h->setting = "journal size";
	if (l->journal_bytes > 0)
		SAY(now, "%.0f MiB", l->journal_bytes / 1048576);
	else
		SAY(now, "unknown");
	while (mb < MOST_MB && mb * 1048576 < l->log_bytes_s * ROUND_S)
		mb *= 2;
	if (isnan(round_s) || !(l->journal_bytes > 0)) {
		SAY(advice, "leave");
		SAY(because, "unknown: how much reaches the log could not be counted");
	} else if (round_s < ROUND_S / 2 && mb * 1048576 > l->journal_bytes) {
		SAY(advice, "%.0f MiB", mb);
		SAY(because,
			"the log goes round in %.0f s: commits wait until its oldest blocks are in place",
			round_s);
	} else if (whole > 0.5) {
		SAY(advice, "%.0f MiB", fmin(MOST_MB, l->journal_bytes / 1048576 * 4));
		SAY(because,
			"a commit in a hundred has more than half of what a transaction may have");
	} else {
		SAY(advice, "leave");
		if (round_s > 86400)
			SAY(because, "the log goes round in more than a day");
		else
			SAY(because, "the log goes round in %.0f s", round_s);
	}
}

static void atime_hint(const struct hint_facts *f, struct hint *h)
{
	h->setting = "noatime";
	SAY(now, "%s", f->noatime ? "noatime" : f->relatime ? "relatime" : "strictatime");
	SAY(advice, f->noatime ? "leave" : "set");
	if (f->noatime)
		SAY(because, "reads write nothing");
	else if (f->relatime)
		SAY(because,
			"a file that is read is written to once a day at most; how many are is unknown (the kernel does not count it)");
	else
		SAY(because,
			"each read of a file writes its inode; how many do is unknown (the kernel does not count it)");
}

static void delalloc_hint(const struct load *l, struct hint *h)
{
	double share = l->overwritten_bytes_s / l->data_bytes_s;

	h->setting = "nodelalloc, +j";
	SAY(now, "%s", l->delalloc ? "delalloc" : "nodelalloc");
	if (isnan(share)) {
		SAY(advice, "leave");
		SAY(because, "unknown: overwritten bytes could not be told from new ones");
	} else if (share < 0.05) {
		SAY(advice, "leave");
		SAY(because,
			"at most %.0f %% of the data were overwritten in place: there is little that could be torn",
			share * 100);
	} else {
		SAY(advice, "if torn blocks matter, for the directories above");
		SAY(because,
			"at most %.0f %% of the data were overwritten in place; what late allocation saves is lost for all files",
			share * 100);
	}
}

static void readahead_hint(const struct hint_facts *f, struct hint *h)
{
	h->setting = "inode_readahead_blks";
	SAY(now, "%.0f", f->readahead_blocks);
	SAY(advice, "leave");
	SAY(because, "unknown: it acts on reads of inodes, which are not looked at");
}

/* Is a fast area for metadata (doc/dualfs.md) worth it? What waits for commits has nothing from
 * it, however many metadata that writes. */
static bool area_hint(const struct load *l, const struct hint_facts *f, struct hint *h)
{
	if (!f->rotates || !(l->metadata_share >= METADATA_LEAST) ||
		!(l->requested_s <= l->commits_s / 2))
		return false;
	h->setting = "fast metadata area";
	SAY(now, "unknown");
	SAY(advice,
		"for a new volume: metadata packed on a fast device, a remote journal (doc/dualfs.md)");
	SAY(because,
		"the disk rotates, and at least %.0f %% of what was written are metadata: e2fsck took 0.6 of the time or less, rm and walks were faster, too; fsyncs and new files were not",
		l->metadata_share * 100);
	return true;
}

int hints_make(const struct load *l, const struct hint_facts *f, struct hint out[HINTS_MAX])
{
	commit_hint(l, &out[0]);
	size_hint(l, f, &out[1]);
	delalloc_hint(l, &out[2]);
	atime_hint(f, &out[3]);
	readahead_hint(f, &out[4]);
	return area_hint(l, f, &out[5]) ? 6 : 5;
}

const char *hints_apply(const struct load *l, const struct prediction *p, int count, char *why,
	unsigned size)
{
	const struct prediction *best = NULL;
	double commits = l->commits_s * l->seconds;
	int i;

	if (isnan(commits) || commits < COMMITS_LEAST) {
		snprintf(why, size,
			"only %.0f commits were seen, and %d are wanted: watch it longer, under its load",
			isnan(commits) ? 0 : commits, COMMITS_LEAST);
		return NULL;
	}
	for (i = 0; i < count; i++) {
		if (p[i].choice.place != l->place || p[i].choice.mode == MODE_FLAGGED)
			continue;
		if (p[i].lacks) {
			snprintf(why, size, "data=%s cannot be predicted without %s",
				mode_name(p[i].choice.mode), p[i].lacks);
			return NULL;
		}
		if (!best)
			best = &p[i];
	}
	if (!best || best->in_use) {
		snprintf(why, size, "data=%s, which is in use, is the best for this load",
			mode_name(l->mode));
		return NULL;
	}
	if (best->choice.mode == MODE_WRITEBACK) {
		snprintf(why, size,
			"data=writeback is the fastest, but files can show old blocks after a crash: if that is acceptable, tune2fs -o journal_data_writeback sets it");
		return NULL;
	}
	return best->choice.mode == MODE_JOURNAL ? "journal_data" : "journal_data_ordered";
}
