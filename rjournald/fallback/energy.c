// SPDX-License-Identifier: GPL-2.0-or-later
#include "energy.h"

#include <math.h>

#define NS_PER_S 1e9
#define MIB	 1048576.0

/* Joules for being awake, with a use now and the one before GAP_S ago (negative: none before). The
 * time until it sleeps is paid at the wake-up, each later use pays how far it moves that. */
static double awake(const struct rj_energy *e, bool shared, double gap_s)
{
	if (shared)
		return 0;
	if (gap_s < 0 || gap_s > e->idle_s)
		return e->wakeup_j + e->awake_w * e->idle_s;
	return e->awake_w * gap_s;
}

static double work(const struct rj_energy *e, double segments, double bytes)
{
	return segments * e->commit_j + bytes / MIB * e->mib_j;
}

/* Does other work keep the devices awake? Only the one that we do not use can tell. */
static void look_around(struct rj_energy_sums *s, const struct rj_energy_in *in)
{
	double since_s = (double)(in->now_ns - s->way_ns) / NS_PER_S;

	if (!in->local) {
		if (in->disk_state == RJ_DISK_ASLEEP)
			s->disk_shared = false;
		else if (in->disk_state == RJ_DISK_AWAKE && since_s > in->disk->idle_s)
			s->disk_shared = true;
	} else {
		if (in->link_state == RJ_LINK_ASLEEP)
			s->link_shared = false;
		else if (in->link_state == RJ_LINK_UP && since_s > in->link->idle_s)
			s->link_shared = true;
	}
}

static void charge(struct rj_energy_sums *s, const struct rj_energy_in *in)
{
	double segments = (double)(in->segments - s->segments);
	double bytes = (double)(in->bytes - s->bytes);
	double gap_s = s->used_ns ? (double)(in->now_ns - s->used_ns) / NS_PER_S : -1;
	double full = (double)in->capacity * RJ_ARBITER_NEARLY_FULL / 1000;
	double sent = work(in->link, segments, bytes);

	s->store_j += sent + awake(in->link, s->link_shared, gap_s);
	s->file_j += sent + work(in->disk, segments, bytes) +
		     awake(in->disk, s->disk_shared, gap_s);
	if (full > 0)
		s->file_j += awake(in->link, s->link_shared, -1) * bytes / full;
	s->used_ns = in->now_ns;
}

void rj_energy_add(struct rj_energy_sums *s, const struct rj_energy_in *in)
{
	double keep;

	if (!in->disk->given || !in->link->given)
		return;
	if (!s->now_ns || in->local != s->local)
		s->way_ns = in->now_ns;
	s->local = in->local;
	look_around(s, in);
	if (s->now_ns) {
		keep = exp2((double)(s->now_ns - in->now_ns) / NS_PER_S / RJ_ENERGY_HALF_LIFE_S);
		s->file_j *= keep;
		s->store_j *= keep;
		/* what was written before the first look is of no known time */
		if (in->segments != s->segments)
			charge(s, in);
	}
	s->segments = in->segments;
	s->bytes = in->bytes;
	s->now_ns = in->now_ns;
}
