// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sim [--seed N] [--seeds COUNT] [--rule NAME] [-v]: lives of hosts whose network,
 * store and power fail, each made of one seed and nothing else; doc/simulator.md
 * says what is real in it. TAP; a bad seed is printed, and --seed N -v tells its
 * story. With --rule one rule is left out, and it is good to be found.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host.h"
#include "recovery.h"
#include "util/environ.h"

#define STEPS 120

static const char *const rules[SIM_RULES] = {
	[SIM_ALL_KEPT] = "none",
	[SIM_NO_FLUSH] = "flush",
	[SIM_NO_MARK] = "mark",
	[SIM_NO_SHIP] = "ship",
	[SIM_NO_REFUSAL] = "refusal",
	[SIM_NO_REREAD] = "reread",
	[SIM_NO_ABSENT] = "absent",
	[SIM_NO_STORE] = "store",
	[SIM_NO_ORDER] = "order",
	[SIM_NO_OUTBOX] = "outbox",
};

static struct totals {
	unsigned long seeds, bad, acks, local, recoveries, refusals, requests;
	unsigned long faults, late, torn, kills;
	int64_t ns;
} totals;

/* ---- faults ---- */

static void bad_network(int host)
{
	struct sim_net *n = &world.net[host];

	sim_heal(host);
	switch (sim_rnd(6)) {
	case 0:
		n->down = true;
		break;
	case 1:
		n->lost = 10 + sim_rnd(80);
		break;
	case 2:
		n->late = 10 + sim_rnd(80);
		break;
	case 3:
		n->dropped = 1 + sim_rnd(60);
		break;
	case 4:
		n->full = true;
		break;
	default:
		n->lost = sim_rnd(20);
		n->late = sim_rnd(20);
		n->dropped = sim_rnd(20);
	}
	n->heal_ns = world.now_ns + (1 + (int64_t)sim_rnd(20000)) * SIM_MS;
	sim_say("host %d: bad network: down %d, full %d, lost %u, late %u, dropped %u",
		host, n->down, n->full, n->lost, n->late, n->dropped);
}

/* In the middle of a request of HOST the other may act. */
static void between(int host)
{
	struct sim_host *other = &hosts[1 - host];

	if (!hosts[host].busy || hosts[host].up || !other->up || other->busy ||
		world.dead[other->n] || !sim_chance(20))
		return;
	world.between = NULL; /* not within itself */
	host_transact(other);
	world.between = between;
}

/* A refusal or failure of a recovery is right only for one of these reasons. */
static bool may_fail(const struct sim_host *h, int rc, unsigned long faults)
{
	unsigned i;

	if (rc == -RJ_E_REFUSED)
		return shared.on_loss == RJ_LOSS_LOCAL &&
		       shared.last_host != h->n;
	for (i = 1; rc == -RJ_E_FENCED && i <= shared.life_count; i++)
		if (shared.lives[i].host == h->n && shared.lives[i].given_up)
			return true;
	/* while the other one lives, or requests fail */
	return world.faults != faults || hosts[1 - h->n].up;
}

/* Power on. ACCEPT: the administrator accepts a loss. */
static void start(struct sim_host *h, bool accept)
{
	unsigned long faults = world.faults, cuts = world.cuts;
	struct rj_error err = {0};
	int rc;

	if (!world.calm && sim_chance(10))
		world.cut_in[h->n] = 1 + sim_rnd(20);
	rc = host_start(h, accept, &err);
	if (!h->up)
		world.cut_in[h->n] = 0;
	if (!rc)
		return;
	shared.refusals += rc == -RJ_E_REFUSED || rc == -RJ_E_FENCED;
	if (world.cuts == cuts && !may_fail(h, rc, faults))
		sim_bad("host %d: recovery fails: %s", h->n, err.msg);
}

static struct sim_host *running(void)
{
	unsigned first = sim_rnd(SIM_HOSTS), i;
	struct sim_host *h;

	for (i = 0; i < SIM_HOSTS; i++) {
		h = &hosts[(first + i) % SIM_HOSTS];
		if (h->up)
			return h;
	}
	return NULL;
}

/* A worker's death leaves the machine as it is. */
static void die(struct sim_host *h)
{
	if (shared.on_loss == RJ_LOSS_LOCAL && sim_chance(60))
		worker_kill(h);
	else
		host_crash(h);
}

static void die_soon(struct sim_host *h)
{
	world.cut_in[h->n] = 1 + sim_rnd(30);
	world.worker_only[h->n] =
		shared.on_loss == RJ_LOSS_LOCAL && sim_chance(60);
}

static void step(void)
{
	struct sim_host *h = running(), *other;
	uint32_t what = sim_rnd(100);

	if (!h) {
		/* mostly where it ran; the other one needs to be told to go on
		 * without the fallback file */
		h = &hosts[sim_chance(80) ? shared.last_host
					    : (int)sim_rnd(SIM_HOSTS)];
		start(h, sim_chance(15));
		sim_pass(sim_rnd(500) * SIM_MS);
		return;
	}
	if (world.dead[h->n]) { /* in the background, while the other one worked */
		host_died(h);
		return;
	}
	other = &hosts[1 - h->n];
	if (what < 62)
		host_transact(h);
	else if (what < 76)
		sim_pass((1 + sim_rnd(3000)) * SIM_MS);
	else if (what < 88)
		bad_network((int)sim_rnd(SIM_HOSTS));
	else if (what < 91)
		die(h);
	else if (what < 95)
		die_soon(h);
	else if (what < 97)
		host_stop(h);
	else if (!other->up)
		start(other, sim_chance(50));
	if (h->up && world.dead[h->n])
		host_died(h);
	sim_pass((1 + sim_rnd(20)) * SIM_MS);
	if (h->up && world.dead[h->n])
		host_died(h);
}

/* Everything works again: what was lost for a while must come back by itself. */
static void all_well(void)
{
	struct sim_host *h;
	int i, tries;

	world.calm = true;
	for (i = 0; i < SIM_HOSTS; i++) {
		sim_heal(i);
		world.cut_in[i] = 0;
		if (hosts[i].up && world.dead[i])
			host_died(&hosts[i]);
	}
	sim_pass(60000 * SIM_MS);
	for (h = hosts; h < hosts + SIM_HOSTS; h++) {
		if (h->up && !h->over)
			host_transact(h);
		sim_pass(1000 * SIM_MS);
		if (h->up && !h->over && h->live.state != RJ_STATE_ONLINE)
			sim_bad("host %d: all is well, and it is still %s",
				h->n,
				rj_state_name((enum rj_state)h->live.state));
		/* one that was overtaken is told so at its next commit */
		if (h->up && h->over) {
			host_transact(h);
			sim_pass(10000 * SIM_MS);
			if (h->up)
				host_transact(h);
			if (h->up)
				sim_bad("host %d: another host took over, and it does not know",
					h->n);
		}
	}
	for (h = hosts; h < hosts + SIM_HOSTS; h++)
		if (h->up)
			host_crash(h);
	h = &hosts[shared.last_host];
	for (tries = 0; !h->up && tries < 3; tries++)
		start(h, tries > 1);
	if (!h->up)
		sim_bad("no recovery in the end");
}

static unsigned run(uint64_t seed, enum sim_rule rule, bool verbose)
{
	static const enum rj_on_loss policies[] = {RJ_LOSS_LOCAL, RJ_LOSS_LOCAL,
		RJ_LOSS_LOCAL, RJ_LOSS_BLOCK, RJ_LOSS_ERROR};
	unsigned i;

	world.calm = false;
	world_begin(seed, rule, verbose);
	hosts_begin(policies[sim_rnd(5)]);
	world.between = between;
	for (i = 0; i < STEPS && !world.bad; i++)
		step();
	if (!world.bad)
		all_well();
	hosts_end();
	totals.seeds++;
	totals.bad += world.bad != 0;
	totals.acks += shared.acks;
	totals.local += shared.local_acks;
	totals.recoveries += shared.recoveries;
	totals.refusals += shared.refusals;
	totals.requests += world.requests;
	totals.faults += world.faults;
	totals.late += world.late;
	totals.torn += world.torn;
	totals.kills += world.kills;
	totals.ns += world.now_ns;
	world_end();
	return world.bad;
}

static uint64_t a_seed(void)
{
	const char *s = getenv("RJ_SEED");
	struct timespec t;

	if (s)
		return strtoull(s, NULL, 10);
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec % 1000000 * 1000 + (uint64_t)t.tv_nsec % 1000;
}

static bool parse_rule(const char *word, enum sim_rule *out)
{
	int i;

	for (i = 0; i < SIM_RULES; i++) {
		if (strcmp(word, rules[i]))
			continue;
		*out = (enum sim_rule)i;
		return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{"seed", required_argument, NULL, 's'},
		{"seeds", required_argument, NULL, 'n'},
		{"rule", required_argument, NULL, 'r'}, {0}};
	uint64_t seed = 0, i, count = 200, first_bad = 0;
	enum sim_rule rule = SIM_ALL_KEPT;
	bool verbose = false;
	int c;

	while ((c = getopt_long(argc, argv, "v", longs, NULL)) != -1) {
		if (c == 's')
			seed = strtoull(optarg, NULL, 10), count = 1;
		else if (c == 'n')
			count = strtoull(optarg, NULL, 10);
		else if (c == 'v')
			verbose = true;
		else if (c != 'r' || !parse_rule(optarg, &rule))
			return 2;
	}
	if (!seed)
		seed = a_seed();
	printf("# seeds %llu to %llu\n", (unsigned long long)seed,
		(unsigned long long)(seed + count - 1));
	fflush(stdout); /* known even if one of them never ends */
	for (i = seed; i < seed + count; i++) {
		if (!run(i, rule, verbose))
			continue;
		if (!first_bad)
			first_bad = i;
		if (!rule)
			printf("# bad: tests/sim/sim --seed %llu -v\n",
				(unsigned long long)i);
		else
			break;
	}
	printf("# %lu seeds, %lu bad; %lu transactions acknowledged, %lu of them locally; %lu recoveries, %lu refused; %lu requests, %lu failed, %lu came late; %lu unflushed sectors; %lu workers killed; %.0f hours\n",
		totals.seeds, totals.bad, totals.acks, totals.local,
		totals.recoveries, totals.refusals, totals.requests,
		totals.faults, totals.late, totals.torn, totals.kills,
		(double)totals.ns / 3600e9);
	if (rule && first_bad)
		printf("# without rule \"%s\": found by seed %llu, after %lu\n",
			rules[rule], (unsigned long long)first_bad,
			totals.seeds);
	printf("%s 1 - %s\n1..1\n",
		(totals.bad != 0) == (rule != 0) ? "ok" : "not ok",
		rule ? rules[rule] : "nothing acknowledged is ever lost");
	return (totals.bad != 0) != (rule != 0);
}
