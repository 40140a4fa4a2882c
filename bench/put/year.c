// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * year DIR [DAYS]
 *
 * A year (DAYS: 365) of segments, deletions and cleaning in rjserver's own storage
 * engine, as fast as it goes, in a new directory of DIR for each load. Scaled down: a
 * volume puts 108 segments a day, of which its log keeps the last 60 to 120, as it does
 * of one commit a second; and data files have 4 MiB, not 64. What a server does in pauses
 * is done where a load has some. Prints a row of Markdown for each load: MB received, MB
 * appended to the log for each of those, and of that the copies of the cleaner; all that
 * went to the disk (files are first written with zeros; checkpoints) for each; and the
 * space of the data files beside what lived, at the mean and at most.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rjserver/store/commit.h"
#include "rjserver/store/store-checkpoint.h"
#include "rjserver/store/store-clean.h"
#include "rjserver/store/store.h"
#include "util/crc32c.h"

#define FILE_BYTES  (4u << 20)
#define PER_DAY	    108 /* segments of a volume */
#define TRIM	    60	/* between two trims; as many stay */
#define FENCE	    289 /* bytes; what is shorter is not deleted */
#define BATCH	    16	/* segments, where many volumes are written to */
#define SETTLED_DAY 30	/* figures of space count from there on */
#define BODY_MOST   65536
#define PAGE	    4096

struct load {
	const char *name;
	unsigned volumes, quiet; /* written to; and not any more since the begin */
	uint32_t bytes;
	bool bursts; /* each volume has its day's segments at once, then a pause */
	bool alone;  /* each put is a batch, with a pause after it */
	unsigned hold_from, hold_days; /* of the first volume; 0: none */
};

static const struct load loads[] = {
	{.name = "40 volumes, 4 KiB", .volumes = 40, .bytes = 4096},
	{.name = "40 volumes, 24 KiB", .volumes = 40, .bytes = 24576},
	{.name = "1 volume, 4 KiB, a pause after each",
		.volumes = 1, .bytes = 4096, .alone = true},
	{.name = "40 volumes, 4 KiB, a day's at once, then a pause",
		.volumes = 40, .bytes = 4096, .bursts = true},
	{.name = "40 volumes, 4 KiB, beside 400 quiet ones",
		.volumes = 40, .quiet = 400, .bytes = 4096},
	{.name = "40 volumes, 4 KiB, one held for 30 days",
		.volumes = 40, .bytes = 4096, .hold_from = 100, .hold_days = 30},
};

struct sums {
	double received, appended, own, checkpoints;
	double live, space, most_live, most_space;
	unsigned samples, files;
	uint64_t end, checkpoint;
};

static struct rj_error err;

static void die(const char *what)
{
	fprintf(stderr, "year: %s: %s\n", what, err.msg);
	exit(1);
}

static void done(void *arg, int rc, const struct rj_error *e)
{
	if (rc) {
		err = *e;
		die("write");
	}
}

/* What was appended since the last look, and whether a checkpoint was written. */
static void look(struct store *s, struct sums *x)
{
	unsigned files = pos_file(s->end) - pos_file(x->end);

	/* a batch is in one file */
	x->appended += (double)pos_offset(s->end) -
		       (files ? PAGE : (double)pos_offset(x->end));
	x->files += files;
	x->end = s->end;
	store_checkpoint_tick(s);
	while (s->checkpoint) {
		usleep(50);
		store_checkpoint_tick(s);
	}
	if (s->checkpoint_pos != x->checkpoint)
		x->checkpoints += (double)s->checkpoint_bytes;
	x->checkpoint = s->checkpoint_pos;
}

static void flush(struct store *s, struct sums *x, uint64_t own)
{
	if (!own)
		return;
	x->own += (double)((own + PAGE - 1) / PAGE * PAGE);
	commit_flush(s->commit);
	look(s, x);
}

/* As rjserver does after a second without writes. */
static void pause_of(struct store *s, struct sums *x)
{
	while (clean_step(s))
		look(s, x);
	if (commit_mark(s->commit, false, &err))
		die("mark");
	x->own += PAGE;
	look(s, x);
}

static struct okey key_of(unsigned volume, uint64_t number)
{
	struct okey k = {.key = {.kind = RJ_KEY_LOG, .number = number}};

	snprintf(k.name, sizeof(k.name), "v%u", volume);
	memcpy(k.key.journal_uuid, &volume, sizeof(volume));
	return k;
}

/* Returns the bytes of the batch that it adds. */
static uint64_t put(struct store *s, struct sums *x, const struct load *l,
	unsigned volume, uint64_t number, uint64_t held)
{
	static uint8_t bytes[BODY_MOST];
	struct commit_body body = {
		bytes, l->bytes, rj_crc32c(~0u, bytes, l->bytes), false};
	struct okey k = key_of(volume, number);
	uint64_t own = rec_total(l->bytes), below = number - TRIM + 1;
	size_t count;

	if (commit_put(s->commit, &k, &body, done, NULL, &err))
		die("put");
	x->received += l->bytes;
	if (number % TRIM || number < 2 * TRIM)
		return own;
	k = key_of(volume, 0);
	if (held && held < below)
		below = held;
	if (!commit_delete_below(s->commit, &k, below, FENCE, &count, done,
		    NULL, &err))
		own += rec_total(0);
	return own;
}

static void sample(struct store *s, struct sums *x)
{
	double live = 0, space = 0;
	size_t i;

	for (i = 0; i < s->file_count; i++) {
		live += (double)s->files[i].live_bytes;
		space += (double)s->files[i].bytes;
	}
	x->live += live;
	x->space += space;
	x->samples++;
	x->most_live = live > x->most_live ? live : x->most_live;
	x->most_space = space > x->most_space ? space : x->most_space;
}

static void one_day(struct store *s, struct sums *x, const struct load *l,
	unsigned day)
{
	uint64_t first = (uint64_t)day * PER_DAY + 1, own = 0, held = 0, k;
	unsigned v, gathered = 0;

	if (l->hold_days && day >= l->hold_from &&
		day < l->hold_from + l->hold_days)
		held = (uint64_t)l->hold_from * PER_DAY;
	for (k = 0; k < (uint64_t)l->volumes * PER_DAY; k++) {
		v = (unsigned)(l->bursts ? k / PER_DAY : k % l->volumes);
		own += put(s, x, l, v,
			first + (l->bursts ? k % PER_DAY : k / l->volumes),
			v ? 0 : held);
		if (++gathered == (l->alone ? 1 : BATCH)) {
			flush(s, x, own);
			own = gathered = 0;
		}
		if (l->alone || (l->bursts && k % PER_DAY == PER_DAY - 1)) {
			flush(s, x, own);
			own = gathered = 0;
			pause_of(s, x);
		}
	}
	flush(s, x, own);
}

static void run(const struct load *l, const char *dir, unsigned days)
{
	struct store_opts opts = {.dir = dir, .received = true, .file_bytes = FILE_BYTES};
	struct sums x = {0};
	struct store *s;
	unsigned day, v, k;

	if (store_open(&opts, &s, &err))
		die(dir);
	x.end = s->end;
	for (v = 0; v < l->quiet; v++) /* as long as a log is between two trims */
		for (k = 1; k <= TRIM * 3 / 2; k++)
			flush(s, &x, put(s, &x, l, l->volumes + v, k, 0));
	x = (struct sums){.end = s->end, .checkpoint = s->checkpoint_pos};
	for (day = 0; day < days; day++) {
		one_day(s, &x, l, day);
		if (day >= SETTLED_DAY)
			sample(s, &x);
	}
	printf("| %s | %.0f | %.2f | %.2f | %.2f | %.1f | %.1f | %.1f | %.1f |\n",
		l->name, x.received / 1e6, x.appended / x.received,
		(x.appended - x.own) / x.received,
		(x.appended + x.checkpoints + (double)x.files * FILE_BYTES) /
			x.received,
		x.live / x.samples / 1e6, x.space / x.samples / 1e6,
		x.most_live / 1e6, x.most_space / 1e6);
	fflush(stdout);
	if (store_close(s, &err))
		die("close");
}

int main(int argc, char **argv)
{
	unsigned days = argc > 2 ? (unsigned)atoi(argv[2]) : 365;
	char dir[512], command[600];
	size_t i;

	if (argc < 2 || days <= SETTLED_DAY) {
		fprintf(stderr, "usage: see the head of year.c\n");
		return 2;
	}
	for (i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		snprintf(dir, sizeof(dir), "%s/year.%u.%zu", argv[1],
			(unsigned)getpid(), i);
		run(&loads[i], dir, days);
		snprintf(command, sizeof(command), "rm -rf %s", dir);
		if (system(command))
			return 1;
	}
	return 0;
}
