// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * prefer=power by joules: the figures as they are read, the sums, and the arbiter with a disk
 * and a link that are simulated: each sleeps when it was idle, and is woken up by a use. What they
 * take is added up as time passes, not by the model's rule.
 */
#include <stdio.h>
#include <string.h>

#include "rjournald/fallback/arbiter.h"
#include "rjournald/fallback/energy.h"
#include "support/rjtest.h"

#define S     1000000000LL
#define TICK  (S / 4)
#define HOUR  (3600 * S)
#define BYTES 8192u
#define FILE_BYTES (64u << 20)
/* The first minutes may go the wrong way. */
#define LEARNED_J 100

static void figures(void)
{
	static const char *const wrong[] = {"", "wakeup=1", "wakeup=1W", "awake=1J", "idle=1J",
		"wakeup=-1J", "wakeup=2e9J", "wakeup=nanJ", "wakeup=1J wakeup=2J", "wakeup=1J,idle=1s",
		"wakeup=1Jidle=1s", "watts=1W", "idle=1d", "wakeup =1J", "commit=J"};
	struct rj_energy e = {0}, was;
	size_t i;

	CU_ASSERT_TRUE(rj_energy_parse(
		"wakeup=90J\tawake=4.5W idle=10m  commit=0.05J mib=0.02J", &e));
	CU_ASSERT_TRUE(e.given);
	CU_ASSERT_DOUBLE_EQUAL(e.wakeup_j, 90, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(e.awake_w, 4.5, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(e.idle_s, 600, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(e.commit_j, 0.05, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(e.mib_j, 0.02, 1e-9);
	was = e;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CU_ASSERT_FALSE(rj_energy_parse(wrong[i], &e));
		CU_ASSERT_EQUAL(memcmp(&e, &was, sizeof(e)), 0);
	}
	CU_ASSERT_TRUE(rj_energy_parse("idle=0.2s", &e));
	CU_ASSERT_DOUBLE_EQUAL(e.idle_s, 0.2, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(e.wakeup_j, 0, 0);
}

/* The figures of a LINK and a DISK, in the words of rj.conf. */
static void given(const char *disk, const char *link, struct rj_energy_in *in)
{
	static struct rj_energy d, l;

	CU_ASSERT_TRUE_FATAL(rj_energy_parse(disk, &d));
	CU_ASSERT_TRUE_FATAL(rj_energy_parse(link, &l));
	*in = (struct rj_energy_in){.disk = &d, .link = &l, .capacity = FILE_BYTES, .now_ns = S};
}

/* COUNT segments more, AFTER_S seconds later. */
static void more(struct rj_energy_sums *s, struct rj_energy_in *in, double after_s, unsigned count)
{
	in->now_ns += (int64_t)(after_s * S);
	in->segments += count;
	in->bytes += (uint64_t)count << 20;
	rj_energy_add(s, in);
}

static void sums(void)
{
	static const struct rj_energy none;
	struct rj_energy_sums s = {0};
	struct rj_energy_in in;

	given("wakeup=10J awake=2W idle=5s commit=1J mib=2J",
		"wakeup=3J awake=1W idle=4s commit=0.5J mib=0.25J", &in);
	in.capacity = 400u << 20;
	in.segments = 77; /* of before: of no known time */
	rj_energy_add(&s, &in);
	CU_ASSERT_DOUBLE_EQUAL(s.file_j + s.store_j, 0, 0);
	more(&s, &in, 0.001, 1);
	/* all wake up; the link's 7 J for all that comes with 300 MiB, of which this is one */
	CU_ASSERT_DOUBLE_EQUAL(s.store_j, 0.75 + 3 + 4, 1e-3);
	CU_ASSERT_DOUBLE_EQUAL(s.file_j, 0.75 + 3 + 10 + 10 + 7 / 300.0, 1e-3);
	more(&s, &in, RJ_ENERGY_HALF_LIFE_S, 0);
	CU_ASSERT_DOUBLE_EQUAL(s.store_j, 7.75 / 2, 1e-3);
	s.file_j = s.store_j = 0;
	more(&s, &in, 1, 2); /* asleep again since */
	more(&s, &in, 3, 2); /* still awake: for 3 s more */
	CU_ASSERT_DOUBLE_EQUAL(s.store_j, 1.5 + 7 + 1.5 + 3, 0.1);
	CU_ASSERT_DOUBLE_EQUAL(s.file_j, 1.5 + 6 + 20 + 1.5 + 6 + 6 + 28 / 300.0, 0.3);
	memset(&s, 0, sizeof(s));
	in.disk = &none;
	more(&s, &in, 1, 0);
	more(&s, &in, 1, 5);
	CU_ASSERT_DOUBLE_EQUAL(s.file_j + s.store_j, 0, 0);
}

/* Only the device that is not in use tells whether other work keeps it awake. */
static void shared(void)
{
	struct rj_energy_sums s = {0};
	struct rj_energy_in in;

	given("wakeup=10J idle=5s", "wakeup=10J idle=5s", &in);
	in.disk_state = RJ_DISK_AWAKE;
	in.link_state = RJ_LINK_UP;
	more(&s, &in, 1, 0);
	more(&s, &in, 4, 0);
	CU_ASSERT_FALSE(s.disk_shared);
	more(&s, &in, 2, 0);
	CU_ASSERT_TRUE(s.disk_shared);
	CU_ASSERT_FALSE(s.link_shared);
	more(&s, &in, 1, 1);
	CU_ASSERT(s.file_j < 1 && s.store_j > 9);
	in.disk_state = RJ_DISK_ASLEEP;
	more(&s, &in, 1, 0);
	CU_ASSERT_FALSE(s.disk_shared);
	in.disk_state = RJ_DISK_AWAKE;
	in.local = true;
	more(&s, &in, 1, 0);
	more(&s, &in, 100, 0);
	CU_ASSERT_FALSE(s.disk_shared); /* it is we who use it */
	CU_ASSERT_TRUE(s.link_shared);
	in.link_state = RJ_LINK_ASLEEP;
	more(&s, &in, 1, 0);
	CU_ASSERT_FALSE(s.link_shared);
}

/* ---- simulated ---- */

struct device {
	const struct rj_energy *e;
	bool busy; /* other work keeps it awake, and pays for that */
	bool awake;
	int64_t used_ns;
	double joules;
};

static void pass(struct device *d, int64_t now)
{
	if (d->awake && (double)(now - d->used_ns) > d->e->idle_s * S)
		d->awake = false;
	if (d->awake && !d->busy)
		d->joules += d->e->awake_w * TICK / S;
}

static void use(struct device *d, unsigned segments, double bytes, int64_t now)
{
	if (!d->awake && !d->busy)
		d->joules += d->e->wakeup_j;
	d->awake = true;
	d->used_ns = now;
	d->joules += segments * d->e->commit_j + bytes / (1 << 20) * d->e->mib_j;
}

struct machine {
	const char *name, *disk, *link;
	bool disk_busy;
	unsigned every_ticks[2]; /* a segment each; in turn for an hour */
};

struct run {
	struct device disk, link;
	unsigned backlog;
	struct rj_energy_sums sums;
	struct rj_energy_in in;
	struct rj_arbiter a;
};

static void to_store(struct run *r, unsigned segments)
{
	if (segments)
		use(&r->link, segments, (double)segments * BYTES, r->in.now_ns);
}

static void tick(struct run *r, enum rj_prefer prefer, unsigned segments)
{
	struct rj_arbiter_in in = {.prefer = prefer, .now_ns = r->in.now_ns};

	pass(&r->disk, in.now_ns);
	pass(&r->link, in.now_ns);
	if (r->a.local) {
		if (segments)
			use(&r->disk, segments, (double)segments * BYTES, in.now_ns);
		r->backlog += segments;
	} else {
		to_store(r, segments + r->backlog);
		r->backlog = 0;
	}
	r->in.segments += segments;
	r->in.bytes += (uint64_t)segments * BYTES;
	in.disk = r->disk.awake || r->disk.busy ? RJ_DISK_AWAKE : RJ_DISK_ASLEEP;
	in.link = r->link.awake ? RJ_LINK_UP : RJ_LINK_ASLEEP;
	in.fill = (unsigned)((uint64_t)r->backlog * BYTES * 1000 / FILE_BYTES);
	r->in.local = r->a.local;
	r->in.disk_state = in.disk;
	r->in.link_state = in.link;
	rj_energy_add(&r->sums, &r->in);
	in.file_j = r->sums.file_j;
	in.store_j = r->sums.store_j;
	r->a = rj_arbiter_next(&r->a, &in);
}

/* Joules of eight hours. */
static double live(const struct machine *m, enum rj_prefer prefer)
{
	struct run r = {0};
	int64_t n;
	unsigned every;

	given(m->disk, m->link, &r.in);
	r.disk = (struct device){.e = r.in.disk, .busy = m->disk_busy};
	r.link = (struct device){.e = r.in.link};
	for (n = 0; n < 8 * HOUR / TICK; n++) {
		every = m->every_ticks[n / (HOUR / TICK) % 2];
		tick(&r, prefer, n % every == 0);
		r.in.now_ns += TICK;
	}
	to_store(&r, r.backlog);
	return r.disk.joules + r.link.joules;
}

#define DISK "wakeup=10J awake=1.8W idle=30s commit=0.02J mib=0.02J" /* of a laptop, 2.5 inches */
#define SSD  "commit=0.002J mib=0.02J"
#define LTE  "wakeup=2J awake=1.2W idle=10s commit=0.01J mib=0.6J"
#define WIRE "commit=0.001J mib=0.01J"

static void decides_right(void)
{
	static const struct machine machines[] = {
		{"a segment a minute, SSD or LTE", SSD, LTE, false, {240, 240}},
		{"four a second, SSD or LTE", SSD, LTE, false, {1, 1}},
		{"a segment a minute, disk or wire", DISK, WIRE, false, {240, 240}},
		{"a segment a minute, disk or LTE", DISK, LTE, false, {240, 240}},
		{"four a second, disk or LTE", DISK, LTE, false, {1, 1}},
		{"a segment a minute, busy disk or LTE", DISK, LTE, true, {240, 240}},
		/* a link that is dear to wake up, and a disk that is dear to keep awake */
		{"now four a second, now one in two minutes", "awake=1W idle=5s commit=0.01J",
			"wakeup=40J awake=0.3W idle=5s", false, {1, 480}},
	};
	double remote, local, power, least;
	size_t i;

	for (i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		remote = live(&machines[i], RJ_PREFER_REMOTE);
		local = live(&machines[i], RJ_PREFER_LOCAL);
		power = live(&machines[i], RJ_PREFER_POWER);
		least = remote < local ? remote : local;
		printf("# %s: store %.0f J, file %.0f J, power %.0f J\n", machines[i].name, remote,
			local, power);
		CU_ASSERT(power <= least * 1.05 + LEARNED_J);
		CU_ASSERT(remote / local > 1.2 || local / remote > 1.2 ||
			  machines[i].every_ticks[0] != machines[i].every_ticks[1]);
		if (machines[i].every_ticks[0] != machines[i].every_ticks[1])
			CU_ASSERT(power < least * 0.8);
	}
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(figures),
		RJTEST(sums),
		RJTEST(shared),
		RJTEST(decides_right),
	};

	return RJTEST_RUN("energy", tests);
}
