// SPDX-License-Identifier: GPL-2.0-or-later
#include "world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/fallback-hdr.h"
#include "support/memstore.h"
#include "util/environ.h"

#define SECTOR	   512
#define AREA_BYTES (640u << 10)
#define DISK_BYTES (RJ_FALLBACK_AREA + AREA_BYTES)
#define LATE_MAX   64
#define TIMEOUT_NS (200 * SIM_MS)

struct sim_world world;
static uint64_t random_state;
static bool in_meanwhile;

/* What was sent, given up by its sender, and is still on its way. */
struct late {
	int64_t due_ns;
	struct rj_key key;
	size_t len;
	void *data;
};

static struct memshelf *shelf;
static struct rj_store *backing;
static struct late late[LATE_MAX];
static unsigned late_count;

struct disk {
	uint8_t *seen, *durable;
	bool dirty[DISK_BYTES / SECTOR];
};
static struct disk disks[SIM_HOSTS];

uint32_t sim_rnd(uint32_t below)
{
	random_state =
		random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % below;
}

bool sim_chance(unsigned percent)
{
	return percent && sim_rnd(100) < percent;
}

__attribute__((format(printf, 1, 0))) static void print(
	const char *fmt, va_list ap)
{
	printf("%10.3f s  ", (double)world.now_ns / 1e9);
	vprintf(fmt, ap);
	putchar('\n');
}

void sim_say(const char *fmt, ...)
{
	va_list ap;

	if (!world.verbose)
		return;
	va_start(ap, fmt);
	print(fmt, ap);
	va_end(ap);
}

void sim_bad(const char *fmt, ...)
{
	va_list ap;

	world.bad++;
	if (world.broken && !world.verbose)
		return;
	va_start(ap, fmt);
	printf("BAD  ");
	print(fmt, ap);
	va_end(ap);
}

/* ---- time ---- */

static void put_late(struct late *l)
{
	rj_store_put_new(backing, &l->key, l->data, l->len, NULL);
	sim_say("late: segment %llu arrives",
		(unsigned long long)l->key.number);
	world.late++;
	free(l->data);
	*l = late[--late_count];
}

void sim_heal(int host)
{
	memset(&world.net[host], 0, sizeof(world.net[host]));
}

/* What the world does by itself. */
static void happen(void)
{
	unsigned i;

	for (i = 0; i < late_count;) {
		if (late[i].due_ns <= world.now_ns)
			put_late(&late[i]);
		else
			i++;
	}
	for (i = 0; i < SIM_HOSTS; i++) {
		if (!world.net[i].heal_ns ||
			world.net[i].heal_ns > world.now_ns)
			continue;
		sim_say("host %u: the network is well again", i);
		sim_heal((int)i);
	}
}

void sim_pass(int64_t ns)
{
	int64_t until = world.now_ns + ns, slice = 20 * SIM_MS;

	while (world.now_ns < until) {
		world.now_ns += until - world.now_ns < slice
					? until - world.now_ns
					: slice;
		happen();
		if (in_meanwhile || !world.meanwhile)
			continue;
		in_meanwhile = true;
		world.meanwhile();
		in_meanwhile = false;
	}
}

static int64_t env_clock(void *arg)
{
	return ++world.now_ns;
}

static int64_t env_realtime(void *arg)
{
	return 1800000000000000000LL + ++world.now_ns;
}

static void env_sleep(void *arg, int64_t ns)
{
	sim_pass(ns);
}

static int env_random(void *arg, void *out, size_t len)
{
	uint8_t *p = out;

	while (len--)
		*p++ = (uint8_t)sim_rnd(256);
	return 0;
}

static const struct rj_environ environment = {
	.realtime_ns = env_realtime,
	.monotonic_ns = env_clock,
	.sleep_ns = env_sleep,
	.random_bytes = env_random,
};

/* ---- the store ---- */

struct simstore {
	struct rj_store base;
	int host;
};

static int host_of(const struct rj_store *s)
{
	return ((const struct simstore *)s)->host;
}

/* One more request of HOST, or write to its disk: is this where its power goes? */
static bool alive(int host)
{
	if (world.cut_in[host] && !--world.cut_in[host] && !world.dead[host]) {
		sim_say(world.worker_only[host]
				? "host %d: the worker is killed"
				: "host %d: the power is cut",
			host);
		world.dead[host] = true;
		if (world.worker_only[host])
			world.killed(host);
		else
			world.cuts++;
	}
	return !world.dead[host];
}

static int unreachable(struct rj_store *s, int64_t after, struct rj_error *err)
{
	world.faults++;
	world.now_ns += after;
	happen();
	return rj_fail(err, RJ_E_UNREACHABLE, "%s: no answer", s->url);
}

/* Does the request get to the server? */
static int request(struct rj_store *s, struct rj_error *err)
{
	int host = host_of(s);
	const struct sim_net *n = &world.net[host];

	world.requests++;
	if (world.between)
		world.between(host);
	if (!alive(host))
		return rj_fail(err, RJ_E_UNREACHABLE, "this host is dead");
	world.now_ns += sim_rnd(400000) + 100000;
	happen();
	if (n->down || sim_chance(n->dropped))
		return unreachable(s, TIMEOUT_NS, err);
	return 0;
}

/* Does the answer come back? */
static int answer(struct rj_store *s, int rc, struct rj_error *err)
{
	int host = host_of(s);

	if (!alive(host))
		return rj_fail(err, RJ_E_UNREACHABLE, "this host is dead");
	if (sim_chance(world.net[host].lost))
		return unreachable(s, TIMEOUT_NS, err);
	return rc;
}

static bool send_late(const struct rj_key *key, const void *data, size_t len)
{
	struct late *l = &late[late_count];

	if (late_count == LATE_MAX)
		return false;
	*l = (struct late){world.now_ns + (int64_t)sim_rnd(8000) * SIM_MS, *key,
		len, malloc(len)};
	if (!l->data)
		abort();
	memcpy(l->data, data, len);
	late_count++;
	return true;
}

static int sim_put(struct rj_store *s, const struct rj_key *key,
	const void *data, size_t len, struct rj_error *err)
{
	const struct sim_net *n = &world.net[host_of(s)];
	int rc = request(s, err);

	if (rc)
		return rc;
	if (sim_chance(n->late) && send_late(key, data, len))
		return unreachable(s, TIMEOUT_NS, err);
	if (n->full) {
		world.faults++;
		return answer(s,
			rj_fail(err, RJ_E_NOSPACE, "%s: full", s->url), err);
	}
	if (world.broken == SIM_NO_ABSENT)
		rj_store_remove(backing, key, NULL);
	if (world.broken == SIM_NO_STORE && key->kind == RJ_KEY_LOG &&
		sim_chance(5))
		return answer(s, 0, err);
	rc = rj_store_put_new(backing, key, data, len, err);
	return answer(s, rc, err);
}

static int sim_get(struct rj_store *s, const struct rj_key *key, size_t max,
	struct rj_buf *out, struct rj_error *err)
{
	size_t before = out->len;
	int rc = request(s, err);

	if (rc)
		return rc;
	rc = answer(s, rj_store_get(backing, key, max, out, err), err);
	if (rc)
		out->len = before;
	return rc;
}

static int sim_list(struct rj_store *s, const struct rj_key *dir,
	uint64_t after, rj_store_list_fn fn, void *arg, struct rj_error *err)
{
	int rc = request(s, err);

	if (!rc)
		rc = answer(s, 0, err);
	return rc ? rc : rj_store_list(backing, dir, after, fn, arg, err);
}

static int sim_remove(
	struct rj_store *s, const struct rj_key *key, struct rj_error *err)
{
	int rc = request(s, err);

	return rc ? rc : answer(s, rj_store_remove(backing, key, err), err);
}

static void sim_close(struct rj_store *s)
{
	free(s);
}

static const struct rj_store_ops sim_ops = {
	.put_new = sim_put,
	.get = sim_get,
	.list = sim_list,
	.remove = sim_remove,
	.close = sim_close,
};

struct rj_store *sim_store(int host)
{
	struct simstore *s = calloc(1, sizeof(*s));

	if (!s)
		abort();
	s->base.ops = &sim_ops;
	s->base.caps = backing->caps;
	s->base.caps.durability = RJ_DURABLE;
	snprintf(s->base.url, sizeof(s->base.url), "sim://host%d", host);
	s->host = host;
	return &s->base;
}

/* ---- disks ---- */

struct disk_bio {
	struct rj_bio bio;
	int host;
};

static int bio_host(const struct rj_bio *b)
{
	return ((const struct disk_bio *)b)->host;
}

static int disk_read(struct rj_bio *b, void *out, size_t len, uint64_t off,
	struct rj_error *err)
{
	if (off > DISK_BYTES || len > DISK_BYTES - off)
		return rj_fail(err, RJ_E_INVAL, "beyond the disk's end");
	memcpy(out, disks[bio_host(b)].seen + off, len);
	return 0;
}

static int disk_write(struct rj_bio *b, const void *data, size_t len,
	uint64_t off, struct rj_error *err)
{
	struct disk *d = &disks[bio_host(b)];
	uint64_t i;

	if (off > DISK_BYTES || len > DISK_BYTES - off || off % SECTOR ||
		len % SECTOR)
		return rj_fail(err, RJ_E_INVAL, "not whole sectors of the disk");
	/* what the last write before the cut leaves is sim_disk_cut()'s */
	if (world.dead[bio_host(b)])
		return rj_fail(err, RJ_E_IO, "this host is dead");
	/* a worker's death in the middle of a write */
	if (world.cut_in[bio_host(b)] == 1 && world.worker_only[bio_host(b)])
		len = sim_rnd((uint32_t)(len / SECTOR) + 1) * SECTOR;
	memcpy(d->seen + off, data, len);
	for (i = off / SECTOR; i < (off + len) / SECTOR; i++)
		d->dirty[i] = true;
	world.now_ns += 50000;
	if (!alive(bio_host(b)))
		return rj_fail(err, RJ_E_IO, "this host is dead");
	return 0;
}

static bool flushes(uint64_t sector)
{
	if (world.broken == SIM_NO_MARK)
		return sector >= RJ_FALLBACK_AREA / SECTOR;
	return world.broken != SIM_NO_FLUSH;
}

static int disk_flush(struct rj_bio *b, struct rj_error *err)
{
	struct disk *d = &disks[bio_host(b)];
	uint64_t i;

	if (!alive(bio_host(b)))
		return rj_fail(err, RJ_E_IO, "this host is dead");
	for (i = 0; i < DISK_BYTES / SECTOR; i++) {
		if (!d->dirty[i] || !flushes(i))
			continue;
		memcpy(d->durable + i * SECTOR, d->seen + i * SECTOR, SECTOR);
		d->dirty[i] = false;
	}
	world.now_ns += 100000;
	return 0;
}

static void disk_free(struct rj_bio *b)
{
	free(b);
}

struct rj_bio *sim_disk(int host)
{
	struct disk_bio *b = calloc(1, sizeof(*b));

	if (!b)
		abort();
	b->bio = (struct rj_bio){
		.read = disk_read,
		.write = disk_write,
		.flush = disk_flush,
		.free = disk_free,
		.size_bytes = DISK_BYTES,
	};
	snprintf(b->bio.name, sizeof(b->bio.name), "fallback%d", host);
	b->host = host;
	return &b->bio;
}

void sim_disk_cut(int host)
{
	struct disk *d = &disks[host];
	uint64_t i;

	for (i = 0; i < DISK_BYTES / SECTOR; i++) {
		if (!d->dirty[i])
			continue;
		world.torn++;
		if (sim_chance(50))
			memcpy(d->durable + i * SECTOR, d->seen + i * SECTOR,
				SECTOR);
		d->dirty[i] = false;
	}
	memcpy(d->seen, d->durable, DISK_BYTES);
}

/* ---- the whole ---- */

void world_begin(uint64_t seed, enum sim_rule broken, bool verbose)
{
	int i;

	memset(&world, 0, sizeof(world));
	random_state = seed * 0x9e3779b97f4a7c15ull + 1;
	world.broken = broken;
	world.verbose = verbose;
	shelf = memshelf_new();
	backing = shelf ? memstore_open(shelf) : NULL;
	if (!backing)
		abort();
	for (i = 0; i < SIM_HOSTS; i++) {
		disks[i].seen = calloc(1, DISK_BYTES);
		disks[i].durable = calloc(1, DISK_BYTES);
		memset(disks[i].dirty, 0, sizeof(disks[i].dirty));
		if (!disks[i].seen || !disks[i].durable)
			abort();
	}
	rj_environ_set(&environment);
}

void world_end(void)
{
	int i;

	while (late_count)
		free(late[--late_count].data);
	for (i = 0; i < SIM_HOSTS; i++) {
		free(disks[i].seen);
		free(disks[i].durable);
	}
	rj_store_close(backing);
	memshelf_free(shelf);
	rj_environ_set(NULL);
}
