// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * states [-w] EVENTS BASE DIR SEED THREADS WANTED [WORKER WORKERS]: what a power cut
 * can have left of a recorded run, each recovered and judged.
 *
 * -w: it was mounted with data=writeback (verify.h). BASE is the volume as it was
 * when recording began; BASE.fallback, if it is there, its fallback file, which the
 * volume knows as DIR/fb. A cut falls after any event. What was
 * flushed is there; of what was not, all, none, or some
 * arrived, some of those torn at a sector. The log has each object whose put
 * was answered, with or without those that were only on their way; what a trim
 * asked to drop is gone. rj_recover() must succeed, e2fsck -fn find nothing,
 * and every operation acknowledged before the cut be there. And the volume must be
 * flushed before each commit block.
 *
 * About WANTED states, spread over all events; 0: every prefix whole and with
 * nothing that is not flushed, and six draws for each. Prints a line of counts;
 * 1 if a state was bad.
 */
#include <endian.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "events.h"
#include "jbd2/jbd2.h"
#include "recover/recover.h"
#include "segment/segment.h"
#include "verify.h"

#define THREADS_MAX 16
#define DRAWS	    6
#define SECTOR	    512
#define SUPER	    1024 /* the superblock: two sectors */
#define SUPER_END   2048
#define BAD_SHOWN   10

struct object {
	const struct event *put;
	bool stored, dropped;
	uint32_t last_tid; /* of which something is in it; 0: of none */
	uint32_t commit;   /* the last of which the commit block is; 0: of none */
};

#define DEVICES 2

struct device {
	uint8_t *flushed; /* as it is for certain */
	uint8_t *image;	  /* the state's, a mapping of its file */
	size_t size;
	size_t *cache, cached; /* writes not flushed, by event */
};

struct states {
	struct event *events;
	size_t count;
	struct device device[DEVICES]; /* the volume; the fallback file */
	unsigned devices;
	struct object *objects;
	size_t object_count;
	unsigned threads;
	bool begun; /* before that there is no volume */
	bool writeback;
	struct ops ops[THREADS_MAX]; /* what was acknowledged */
	char volume[256], store[256], objects_dir[256], url[700];
	uint32_t last_tid; /* that anything in the state's log is of */
	uint32_t commit;   /* the last that left for the log */
	bool barrier;	   /* the volume was flushed after that */
	uint64_t random;
	/* Of the superblock's two sectors only this one (1, 2) is from the last
	 * write; 0: as it comes. */
	int super_sector;
	/* counts */
	unsigned long long states, bad, replayed, whole, none, some, torn,
		missing, on_the_way, local, within, freed, super_log, super_yes,
		bare;
};

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static uint32_t draw(struct states *s)
{
	s->random = s->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(s->random >> 33);
}

/* ---- one state ---- */

static int drop_one(const char *path, const struct stat *st, int flag, struct FTW *w)
{
	return remove(path);
}

static void make_dirs(const char *path)
{
	char part[1024], *p;

	snprintf(part, sizeof(part), "%s", path);
	for (p = strchr(part + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = 0;
		mkdir(part, 0700);
		*p = '/';
	}
}

/* The log, by hard links to the objects. */
static void build_store(struct states *s, bool on_the_way)
{
	char from[600], to[600];
	size_t i;

	nftw(s->store, drop_one, 16, FTW_DEPTH | FTW_PHYS);
	mkdir(s->store, 0700);
	s->last_tid = 0;
	for (i = 0; i < s->object_count; i++) {
		const struct object *o = &s->objects[i];

		if (o->dropped || (!o->stored && !on_the_way))
			continue;
		s->on_the_way += !o->stored;
		if (o->last_tid > s->last_tid)
			s->last_tid = o->last_tid;
		snprintf(from, sizeof(from), "%s/%zu", s->objects_dir, i);
		snprintf(to, sizeof(to), "%s/%s", s->store, o->put->name);
		make_dirs(to);
		if (link(from, to))
			die(to);
	}
}

static void apply(uint8_t *image, const struct event *e, uint32_t len)
{
	memcpy(image + e->off, e->data, len);
}

/* The volume's last write is one of its superblock, and it is torn. */
static void tear_super(const struct states *s, uint8_t *image)
{
	const struct event *e =
		&s->events[s->device->cache[s->device->cached - 1]];
	uint8_t old[SECTOR];
	size_t at = s->super_sector == 1 ? SUPER + SECTOR : SUPER;

	memcpy(old, image + at, sizeof(old));
	apply(image, e, e->len);
	memcpy(image + at, old, sizeof(old));
}

/* PERCENT of what is not flushed arrives. */
static void build_device(struct states *s, struct device *d, unsigned percent)
{
	bool super = d == s->device && s->super_sector;
	size_t i;
	uint32_t len;

	memcpy(d->image, d->flushed, d->size);
	for (i = 0; i + super < d->cached; i++) {
		const struct event *e = &s->events[d->cache[i]];

		if (draw(s) % 100 >= percent) {
			s->missing++;
			continue;
		}
		len = e->len;
		if (percent < 100 && len > SECTOR && draw(s) % 8 == 0) {
			len = draw(s) % (len / SECTOR) * SECTOR;
			s->torn++;
		}
		apply(d->image, e, len);
	}
	if (super)
		tear_super(s, d->image);
}

/* Does the fallback file's header say that the log goes on there? */
static bool is_local(const struct states *s)
{
	const uint8_t *slot = s->device[1].image;
	uint64_t generation, best = 0;
	uint32_t state, local = 0;
	unsigned i;

	for (i = 0; slot && i < 2; i++, slot += 4096) {
		memcpy(&state, slot + 12, sizeof(state));
		memcpy(&generation, slot + 16, sizeof(generation));
		if (le64toh(generation) < best)
			continue;
		best = le64toh(generation);
		local = le32toh(state);
	}
	return local == 1;
}

/* A superblock that was torn is made whole from the log. */
static void said(void *arg, const char *line)
{
	struct states *s = arg;

	s->super_log += !strncmp(line, "superblock damaged, as by a torn", 32);
}

static int judge(struct states *s, char *why, size_t size)
{
	struct rj_recover_opts o = {.preen = true,
		.quiet = true,
		.verify = RJ_VERIFY_NONE,
		.url = s->url,
		.say = said,
		.arg = s,
		.retry_ms = 1};
	struct rj_recover_report report = {0};
	struct rj_error err = {0};
	struct verify *v = NULL;
	unsigned i;
	int rc;

	rc = rj_recover(s->volume, &o, &report, &err);
	/* no good copy in the log: as e2fsck -p, it wants somebody to look */
	if (rc == -RJ_E_REFUSED && strstr(err.msg, ": superblock damaged")) {
		s->super_yes++;
		o.preen = false;
		o.yes = true;
		rc = rj_recover(s->volume, &o, &report, &err);
	}
	if (rc || report.fsck_status > RJ_FSCK_CORRECTED) {
		snprintf(why, size, "rjrecover: status %d: %s",
			report.fsck_status, err.msg);
		return -1;
	}
	s->within += report.have_plan && s->last_tid > report.plan.last_tid;
	s->freed += report.have_plan && report.plan.freed;
	s->replayed += report.outcome == RJ_OUTCOME_REPLAYED;
	rc = verify_open(s->volume, s->writeback, &v, why, size);
	for (i = 0; !rc && i < s->threads; i++)
		rc = verify_thread(v, &s->ops[i], why, size);
	verify_close(v);
	return rc ? rc : verify_fsck(s->volume, why, size);
}

static size_t unflushed(const struct states *s)
{
	return s->device[0].cached + s->device[1].cached;
}

static void try_state(struct states *s, size_t at, unsigned percent)
{
	uint64_t random = s->random;
	bool on_the_way = draw(s) % 2;
	char why[4096] = "";
	unsigned i;

	for (i = 0; i < s->devices; i++)
		build_device(s, &s->device[i], percent);
	build_store(s, on_the_way);
	s->local += is_local(s);
	s->states++;
	s->whole += percent == 100;
	s->none += percent == 0;
	s->some += percent && percent != 100;
	if (!judge(s, why, sizeof(why)))
		return;
	if (s->bad++ < BAD_SHOWN)
		printf("BAD behind event %zu of %zu, %u %% of %zu unflushed "
		       "writes, superblock torn %d, draw %llu: %s\n",
			at, s->count, percent, unflushed(s), s->super_sector,
			(unsigned long long)random, why);
}

/* ---- all of them ---- */

static struct object *object_named(struct states *s, const char *name)
{
	size_t i = s->object_count;

	while (i && strcmp(s->objects[i - 1].put->name, name) != 0)
		i--;
	return i ? &s->objects[i - 1] : NULL;
}

static void tids_of(struct object *o)
{
	struct rj_segment seg = {0};
	enum rj_jbd2_block_type type;
	uint32_t tid;
	uint64_t i;

	if (!rj_segment_open(o->put->data, o->put->len, &seg, NULL) &&
		seg.body.tid_count)
		o->last_tid = seg.body.last_tid;
	for (i = 0; o->last_tid && i < seg.block_count; i++) {
		if (rj_jbd2_block_header(seg.blocks + i * seg.body.block_size,
			    &type, &tid) &&
			type == RJ_JBD2_COMMIT && tid > o->commit)
			o->commit = tid;
	}
	rj_segment_release(&seg);
}

/*
 * A commit block leaves for the log: the volume must have been flushed since the
 * one before left. A trim sends old ones again; what a fallback file had is sent
 * later.
 */
static void leave(struct states *s, const struct object *o)
{
	if (s->devices > 1 || o->commit <= s->commit)
		return;
	s->bare += !s->barrier;
	s->commit = o->commit;
	s->barrier = false;
}

static void add_object(struct states *s, const struct event *e)
{
	struct object *o = &s->objects[s->object_count];
	char path[600];
	FILE *f;

	if (object_named(s, e->name))
		return; /* tried again: the same bytes, or refused */
	o->put = e;
	tids_of(o);
	leave(s, o);
	snprintf(path, sizeof(path), "%s/%zu", s->objects_dir,
		s->object_count++);
	f = fopen(path, "we");
	if (!f || (e->len && fwrite(e->data, e->len, 1, f) != 1) || fclose(f))
		die(path);
}

static void drop_objects(struct states *s, const struct event *e)
{
	size_t i, n = strlen(e->name);

	for (i = 0; i < s->object_count; i++) {
		const struct event *p = s->objects[i].put;

		if (!strncmp(p->name, e->name, n) && p->len >= e->len &&
			strtoull(p->name + n, NULL, 10) < e->off)
			s->objects[i].dropped = true;
	}
}

static void flush(const struct states *s, struct device *d)
{
	size_t i;

	for (i = 0; i < d->cached; i++)
		apply(d->flushed, &s->events[d->cache[i]],
			s->events[d->cache[i]].len);
	d->cached = 0;
}

static void happen(struct states *s, size_t at)
{
	const struct event *e = &s->events[at];
	struct device *d = &s->device[!strcmp(e->name, EVENT_FALLBACK)];
	struct object *o;

	switch (e->type) {
	case EVENT_WRITE:
		if (e->off > d->size || e->len > d->size - e->off)
			die("a write beyond the end");
		d->cache[d->cached++] = at;
		break;
	case EVENT_FLUSH:
		flush(s, d);
		s->barrier = true;
		break;
	case EVENT_PUT:
		add_object(s, e);
		break;
	case EVENT_STORED:
		o = object_named(s, e->name);
		if (o)
			o->stored = true;
		break;
	case EVENT_DROP:
		drop_objects(s, e);
		break;
	case EVENT_BASE:
		s->begun = true;
		break;
	case EVENT_ACK:
		ops_acked(&s->ops[e->off]);
		break;
	}
}

static bool writes_super(const struct event *e)
{
	return e->type == EVENT_WRITE && strcmp(e->name, EVENT_FALLBACK) &&
	       e->off <= SUPER && e->off + e->len >= SUPER_END;
}

/* EACH states after each event, on the average; and each write of the
 * superblock torn both ways. */
static void enumerate(
	struct states *s, double each, unsigned worker, unsigned workers)
{
	static const unsigned percent[DRAWS] = {50, 85, 20, 95, 70, 100};
	double owed = 0;
	unsigned n, turn = 0;
	size_t i;

	for (i = 0; i < s->count; i++) {
		happen(s, i);
		if (!s->begun || i % workers != worker)
			continue;
		for (n = 0; writes_super(&s->events[i]) && n < 4; n++) {
			s->super_sector = 1 + (int)n % 2;
			try_state(s, i, n < 2 ? 99 : 50);
			s->super_sector = 0;
		}
		owed += each;
		if (each <= 0) {
			try_state(s, i, 100);
			if (unflushed(s))
				try_state(s, i, 0);
			for (n = 0; unflushed(s) && n + 1 < DRAWS; n++)
				try_state(s, i, percent[n]);
			continue;
		}
		for (; owed >= 1; owed--) {
			n = turn++ % (DRAWS + 1);
			try_state(s, i, n == DRAWS ? 0 : percent[n]);
		}
	}
}

static void load_base(struct states *s, const char *base, const char *path)
{
	struct device *d = &s->device[s->devices++];
	int fd = open(base, O_RDONLY | O_CLOEXEC), out;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		die(base);
	d->size = (size_t)st.st_size;
	d->flushed = malloc(d->size);
	d->cache = calloc(s->count + 1, sizeof(*d->cache));
	if (!d->flushed || !d->cache ||
		read(fd, d->flushed, d->size) != st.st_size)
		die(base);
	close(fd);
	unlink(path); /* what was recorded */
	out = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (out < 0 || ftruncate(out, st.st_size))
		die(path);
	d->image = mmap(NULL, d->size, PROT_READ | PROT_WRITE, MAP_SHARED, out,
		0);
	close(out);
	if (d->image == MAP_FAILED)
		die(path);
}

static void load_fallback(struct states *s, const char *base, const char *dir)
{
	char from[300], to[300];

	snprintf(from, sizeof(from), "%.200s.fallback", base);
	snprintf(to, sizeof(to), "%.200s/fb", dir);
	if (!access(from, F_OK))
		load_base(s, from, to);
}

static void open_all(struct states *s, char **argv, unsigned worker)
{
	unsigned i;

	s->events = events_load(argv[1], &s->count);
	s->objects = calloc(s->count + 1, sizeof(*s->objects));
	if (!s->events || !s->count || !s->objects)
		die(argv[1]);
	snprintf(s->volume, sizeof(s->volume), "%.200s/volume.%u", argv[3], worker);
	snprintf(s->objects_dir, sizeof(s->objects_dir), "%.200s/objects.%u",
		argv[3], worker);
	snprintf(s->store, sizeof(s->store), "%.200s/store.%u", argv[3],
		worker);
	snprintf(s->url, sizeof(s->url), "file://%s", s->store);
	if (mkdir(s->objects_dir, 0700))
		die(s->objects_dir);
	load_base(s, argv[2], s->volume);
	load_fallback(s, argv[2], argv[3]);
	s->threads = (unsigned)atoi(argv[5]);
	for (i = 0; i < s->threads; i++)
		ops_init(&s->ops[i], strtoull(argv[4], NULL, 10), i);
	s->random = strtoull(argv[4], NULL, 10) * 1000003 + worker;
}

int main(int argc, char **argv)
{
	static struct states s;
	unsigned worker, workers, i;
	unsigned long long acked = 0;

	for (; argc > 1 && argv[1][0] == '-'; argc--, argv++)
		s.writeback = true;
	worker = argc > 8 ? (unsigned)atoi(argv[7]) : 0;
	workers = argc > 8 ? (unsigned)atoi(argv[8]) : 1;
	if (argc < 7 || atoi(argv[5]) > THREADS_MAX || !workers) {
		fprintf(stderr, "usage: states [-w] EVENTS BASE DIR SEED THREADS WANTED [WORKER WORKERS]\n");
		return 2;
	}
	open_all(&s, argv, worker);
	enumerate(&s, atof(argv[6]) / (double)s.count, worker, workers);
	for (i = 0; i < s.threads; i++)
		acked += s.ops[i].done;
	if (s.bare && !worker) {
		printf("BAD %llu commit blocks left without a flush of the volume\n",
			s.bare);
		s.bad++;
	}
	printf("events %zu acked %llu objects %zu states %llu whole %llu none "
	       "%llu some %llu missing %llu torn %llu on-the-way %llu replayed "
	       "%llu local %llu within %llu freed %llu super %llu yes %llu bad %llu\n",
		s.count, acked, s.object_count, s.states, s.whole, s.none,
		s.some, s.missing, s.torn, s.on_the_way, s.replayed, s.local, s.within, s.freed,
		s.super_log + s.super_yes, s.super_yes, s.bad);
	return s.bad ? 1 : 0;
}
