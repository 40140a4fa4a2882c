// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * every EVENTS BASE DIR: restore at every segment of a recorded run (tests/crash/record.c)
 * against the crash state there. BASE is the volume as it was formatted, and so a base that
 * is whole with the first segment of the mount.
 *
 * Whenever the store has answered for one more segment, the volume as it is on its disk then
 * (in turn all that was written, or only what was flushed) gets the log replayed up to that
 * segment, as rjrecover does it; a copy of BASE gets the history up to that segment, by
 * rj_history_walk(). Each block in use has to be the same (blocks.h). Prints counts.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blocks.h"
#include "crash/events.h"
#include "ext4/volume.h"
#include "history/history.h"
#include "jbd2/jbd2.h"
#include "log/ring.h"

#define SUPER 1024u

struct put {
	const struct event *put;
	uint64_t sequence; /* of a segment; 0: another object */
	bool stored;
};

struct every {
	struct event *events;
	struct put *puts;
	size_t count, put_count;
	const char *dir, *base_path;
	struct rj_log_id id;
	struct rj_store *store;
	uint64_t blocks;
	size_t size;
	uint8_t *base, *flushed; /* images */
	uint8_t *crash, *then;	 /* mappings of the files CRASH and THEN in DIR */
	char crash_path[512], then_path[512];
	size_t *cached, cached_count; /* events that wrote, and were not flushed */
	struct rj_ring *ring;
	bool mounted;		/* the base segment and fence before it are over */
	uint64_t from, reached; /* the first segment of the mount; the last one stored */
	unsigned long long states, wrong, transactions;
	struct blocks_result sum;
};

static void die(const char *what, const struct rj_error *err)
{
	fprintf(stderr, "every: %s: %s\n", what, err ? err->msg : "failed");
	exit(2);
}

static uint8_t *map_file(char path[512], const char *dir, const char *name, size_t size)
{
	int fd;
	void *p;

	snprintf(path, 512, "%.400s/%s", dir, name);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)size))
		die(path, NULL);
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		die(path, NULL);
	close(fd);
	return p;
}

static void load_base(struct every *e)
{
	const struct rj_volume_facts *f;
	struct rj_volume *v;
	struct rj_error err;
	int fd = open(e->base_path, O_RDONLY);

	if (rj_volume_open(e->base_path, 0, NULL, &v, &err))
		die(e->base_path, &err);
	f = rj_volume_facts(v);
	memcpy(e->id.volume_uuid, f->uuid, RJ_UUID_BYTES);
	memcpy(e->id.journal_uuid, f->sbx.journal_uuid, RJ_UUID_BYTES);
	e->blocks = f->blocks;
	e->size = (size_t)(f->blocks * f->block_size);
	rj_volume_close(v, NULL);
	e->base = malloc(e->size);
	e->flushed = malloc(e->size);
	if (fd < 0 || !e->base || !e->flushed ||
		read(fd, e->base, e->size) != (ssize_t)e->size)
		die(e->base_path, NULL);
	close(fd);
	memcpy(e->flushed, e->base, e->size);
	e->crash = map_file(e->crash_path, e->dir, "crash.img", e->size);
	e->then = map_file(e->then_path, e->dir, "then.img", e->size);
}

/* ---- the log ---- */

static void store_object(const struct every *e, const struct event *put)
{
	char path[700], *p;
	FILE *f;

	snprintf(path, sizeof(path), "%.400s/log/%s", e->dir, put->name);
	for (p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = 0;
		mkdir(path, 0700);
		*p = '/';
	}
	f = fopen(path, "wxe");
	if (!f || (put->len && fwrite(put->data, put->len, 1, f) != 1) || fclose(f))
		die(path, NULL);
}

static struct put *find_put(struct every *e, const char *name)
{
	size_t i = e->put_count;

	while (i && strcmp(e->puts[i - 1].put->name, name) != 0)
		i--;
	return i ? &e->puts[i - 1] : NULL;
}

static void load_log(struct every *e)
{
	char url[600];
	struct rj_error err;
	const char *number;
	size_t i;

	for (i = 0; i < e->count; i++) {
		if (e->events[i].type != EVENT_PUT || find_put(e, e->events[i].name))
			continue; /* tried again: the same bytes */
		number = strstr(e->events[i].name, "/log/");
		e->puts[e->put_count++] = (struct put){.put = &e->events[i],
			.sequence = number ? strtoull(number + 5, NULL, 10) : 0};
		store_object(e, &e->events[i]);
	}
	snprintf(url, sizeof(url), "file://%.400s/log", e->dir);
	if (rj_store_open(url, NULL, &e->store, &err))
		die(url, &err);
}

/* The ring gets PUT's segment. */
static void gather(struct every *e, const struct put *p)
{
	struct rj_segment s = {0};
	struct rj_error err;

	if (rj_segment_open(p->put->data, p->put->len, &s, &err))
		die(p->put->name, &err);
	if (!e->ring && s.body.run_count &&
		rj_ring_new(s.body.block_size, s.body.journal_blocks, &e->ring, &err))
		die("ring", &err);
	if (s.body.run_count && rj_ring_apply(e->ring, &s, &err))
		die(p->put->name, &err);
	if (e->mounted && !e->from && s.header.kind == RJ_SEG_FENCE)
		e->from = p->sequence;
	rj_segment_release(&s);
}

/* ---- one state ---- */

static void replay(struct every *e, bool all)
{
	struct rj_bio *log = rj_ring_bio(e->ring, "ring");
	struct rj_bio *fs = rj_bio_new_mem(e->crash, e->size, "crash state");
	struct rj_jbd2_scan_opts o = {
		.sb_block = rj_jbd2_device_sb_block(e->ring->block_size),
		.fs_blocks = e->blocks,
	};
	struct rj_jbd2_plan *plan = NULL;
	struct rj_error err;
	size_t i;

	memcpy(e->crash, e->flushed, e->size);
	for (i = 0; all && i < e->cached_count; i++) {
		const struct event *w = &e->events[e->cached[i]];

		memcpy(e->crash + w->off, w->data, w->len);
	}
	if (rj_jbd2_scan(log, &o, &plan, &err) ||
		rj_jbd2_replay(plan, log, fs, NULL, NULL, &err))
		die("replay", &err);
	if (rj_jbd2_plan_info(plan)->damage)
		die(rj_jbd2_plan_info(plan)->damage_text, NULL);
	rj_jbd2_plan_free(plan);
	rj_bio_free(log);
	rj_bio_free(fs);
}

static void walk(struct every *e, uint64_t segment)
{
	struct rj_bio *fs = rj_bio_new_mem(e->then, e->size, "base");
	uint8_t super[SUPER];
	bool have = false;
	struct rj_history_opts o = {
		.base = {.from = e->from, .whole = e->from},
		.fs_blocks = e->blocks,
		.at = {.kind = RJ_AT_SEGMENT, .segment = segment},
		.fs = fs,
		.super = super,
		.have_super = &have,
	};
	struct rj_history_report report;
	struct rj_error err;

	memcpy(e->then, e->base, e->size);
	if (rj_history_walk(e->store, &e->id, &o, &report, &err))
		die("walk", &err);
	if (have)
		memcpy(e->then + 1024, super, SUPER);
	if (report.transactions > e->transactions)
		e->transactions = report.transactions;
	rj_bio_free(fs);
}

static void add(struct blocks_result *sum, const struct blocks_result *r)
{
	int i;

	sum->used += r->used;
	sum->equal += r->equal;
	sum->wrong += r->wrong;
	for (i = 0; i < BLOCK_CLASSES; i++)
		sum->differs[i] += r->differs[i];
}

static void try_state(struct every *e)
{
	bool all = e->states++ % 2;
	struct blocks_result r;

	replay(e, all);
	walk(e, e->reached);
	if (blocks_compare(e->crash_path, e->then_path, &r)) {
		fprintf(stderr, "every: segment %llu: %s\n", (unsigned long long)e->reached, r.why);
		exit(2);
	}
	add(&e->sum, &r);
	if (!r.wrong)
		return;
	if (e->wrong++ < 5)
		printf("WRONG segment %llu, %s written: %llu blocks: %s\n",
			(unsigned long long)e->reached, all ? "all" : "flushed",
			(unsigned long long)r.wrong, r.why);
}

/* ---- all of them ---- */

static void stored(struct every *e, const char *name)
{
	struct put *p = find_put(e, name);
	uint64_t before = e->reached;
	size_t i;

	if (!p)
		return;
	p->stored = true;
	/* without a gap */
	for (i = 0; i < e->put_count; i++) {
		if (!e->puts[i].stored || e->puts[i].sequence != e->reached + 1)
			continue;
		gather(e, &e->puts[i]);
		e->reached++;
	}
	if (e->from && e->reached > before && e->reached > e->from)
		try_state(e);
}

static void happen(struct every *e, size_t at)
{
	const struct event *v = &e->events[at];
	size_t i;

	switch (v->type) {
	case EVENT_WRITE:
		if (v->off > e->size || v->len > e->size - v->off)
			die("a write beyond the end", NULL);
		e->cached[e->cached_count++] = at;
		break;
	case EVENT_FLUSH:
		for (i = 0; i < e->cached_count; i++)
			memcpy(e->flushed + e->events[e->cached[i]].off,
				e->events[e->cached[i]].data, e->events[e->cached[i]].len);
		e->cached_count = 0;
		break;
	case EVENT_STORED:
		stored(e, v->name);
		break;
	case EVENT_BASE:
		e->mounted = true;
		break;
	}
}

int main(int argc, char **argv)
{
	static struct every e;
	size_t i;

	if (argc != 4) {
		fprintf(stderr, "usage: every EVENTS BASE DIR\n");
		return 2;
	}
	e.base_path = argv[2];
	e.dir = argv[3];
	e.events = events_load(argv[1], &e.count);
	e.puts = calloc(e.count + 1, sizeof(*e.puts));
	e.cached = calloc(e.count + 1, sizeof(*e.cached));
	if (!e.events || !e.count || !e.puts || !e.cached)
		die(argv[1], NULL);
	load_base(&e);
	load_log(&e);
	for (i = 0; i < e.count; i++)
		happen(&e, i);
	printf("segments %llu transactions %llu states %llu wrong-states %llu ",
		(unsigned long long)e.reached, e.transactions, e.states, e.wrong);
	blocks_print(&e.sum);
	return e.wrong || !e.states ? 1 : 0;
}
