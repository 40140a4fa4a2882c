// SPDX-License-Identifier: GPL-2.0-or-later
#include "campaign.h"

#include <stdio.h>
#include <string.h>

#include "contents.h"
#include "judge.h"

struct run {
	struct world *w;
	const struct tool *tool;
	const struct move *m;
	const struct options *o;
	struct tally *t;
	struct judge j;
	const struct trace *trace; /* whose states are tried */
	unsigned long total, count;
	bool second; /* the states of a resume */
	char error[512]; /* of the harness itself */
};

void tally_add(struct tally *sum, const struct tally *t)
{
	unsigned long *a = (unsigned long *)sum;
	const unsigned long *b = (const unsigned long *)t;
	size_t i;

	for (i = 0; i < sizeof(*t) / sizeof(*a); i++)
		a[i] += b[i];
}

static int count_state(void *arg, const struct state *s)
{
	((struct run *)arg)->total++;
	return 0;
}

/* All of them, or evenly drawn ones; the first and the last always. */
static bool drawn(const struct run *r)
{
	unsigned long most = r->second ? r->o->again_states : r->o->states;
	uint64_t h;

	if (!most || r->total <= most || r->count == 1 || r->count == r->total)
		return true;
	h = contents_hash(r->o->seed ^ r->t->states, &r->count,
		sizeof(r->count));
	return h % r->total < most;
}

static void report(struct run *r, const struct state *s, const char *what)
{
	const struct trace_event *e =
		s->cut ? &r->trace->events[s->cut - 1] : NULL;

	r->t->bad++;
	if (r->t->bad > 5 && !r->o->verbose)
		return;
	printf("# bad: %s %s %s->%s%s%s: cut %zu of %zu (target %u, %llu bytes "
	       "at %llu), torn %ld, missing %ld%s: %s: %s\n",
		r->tool->name, r->m->f->name, spot_names[r->m->from],
		spot_names[r->m->to],
		r->m->change == CHANGE_SIZE ? " size" : "",
		r->m->change == CHANGE_UUID ? " uuid" : "", s->cut,
		r->trace->count, e ? e->target : 0,
		e ? (unsigned long long)e->len : 0,
		e ? (unsigned long long)e->off : 0, s->torn,
		s->missing == SIZE_MAX ? -1L : (long)s->missing,
		r->second ? " (in the resume)" : "", what, r->j.why);
}

static int second_cuts(struct run *r, const struct state *s,
	const struct trace *resumed);

/* The administrator asks again for what was rolled back, and gets it. */
static int move_again(struct run *r)
{
	struct trace t = {0};
	struct look look;
	int rc;

	rc = r->tool->run(r->w, r->m, &t, r->j.why, sizeof(r->j.why));
	world_touched(r->w, &t);
	trace_clear(&t);
	if (!rc)
		rc = judge_look(&r->j, &look);
	if (!rc && (look.inflight || look.placement != r->j.new.placement)) {
		snprintf(r->j.why, sizeof(r->j.why), "it is %s",
			rj_placement_name(look.placement));
		rc = -1;
	}
	r->t->moved_again++;
	return rc;
}

/* One state: as the power cut left it, then resumed. */
static int try_state(void *arg, const struct state *s)
{
	struct trace resumed = {0};
	struct run *r = arg;
	unsigned long seen = r->j.fsck_runs;
	bool is_new = false;
	struct look look;
	int rc;

	r->count++;
	if (!drawn(r))
		return 0;
	r->t->states++;
	r->t->twice += r->second;
	if (s->torn)
		r->t->torn++;
	else if (s->missing != SIZE_MAX)
		r->t->missing++;
	else
		r->t->whole++;
	if (world_apply(r->w, r->trace, s)) {
		snprintf(r->error, sizeof(r->error), "cannot make a state");
		return -1;
	}
	/* one that shows no move under way is mounted as it is */
	rc = judge_look(&r->j, &look);
	if (!rc && !look.inflight && judge_world(&r->j, NULL)) {
		report(r, s, "nothing under way, and yet");
		goto reset;
	}
	r->t->as_is += !rc && !look.inflight;
	if (!r->tool->resume) {
		if (rc)
			report(r, s, "as found");
		goto reset;
	}
	if (r->tool->resume(r->w, &resumed, r->j.why, sizeof(r->j.why))) {
		world_touched(r->w, &resumed);
		report(r, s, "resume");
		goto reset;
	}
	world_touched(r->w, &resumed);
	if (judge_world(&r->j, &is_new)) {
		report(r, s, "after resume");
		goto reset;
	}
	/* once for each world that was not seen before */
	if (!is_new && r->j.fsck_runs != seen && move_again(r)) {
		report(r, s, "moved again");
		goto reset;
	}
	if (rc || look.inflight) {
		r->t->to_new += is_new;
		r->t->to_old += !is_new;
	}
reset:
	if (world_reset(r->w)) {
		snprintf(r->error, sizeof(r->error), "cannot go back");
		rc = -1;
	} else {
		rc = 0;
	}
	if (!rc && !r->second && r->o->again && resumed.count &&
		r->t->states % r->o->again == 0)
		rc = second_cuts(r, s, &resumed);
	trace_clear(&resumed);
	return rc;
}

/* The events of T that S let happen, as they happened, into OUT. */
static int happened(
	const struct trace *t, const struct state *s, struct trace *out)
{
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < s->cut; i++) {
		struct trace_event e = t->events[i];
		const uint8_t *data = e.data;
		uint64_t part;

		if (i == s->missing)
			continue;
		if (i + 1 == s->cut && s->torn) {
			part = (e.off / 512 + (uint64_t)(s->torn < 0 ? -s->torn
								     : s->torn)) *
				       512 - e.off;
			if (s->torn > 0) {
				e.len = part;
			} else {
				e.len -= part;
				e.off += part;
				data += part;
			}
		}
		rc = trace_add(out, &e, data);
	}
	/* what the next boot finds is on the disk to stay */
	for (i = 0; !rc && i < DISKS; i++)
		rc = trace_add(out,
			&(struct trace_event){.kind = TRACE_FLUSH,
				.target = (uint32_t)i},
			NULL);
	return rc;
}

/* The power fails again while the resume of S runs. */
static int second_cuts(
	struct run *r, const struct state *s, const struct trace *resumed)
{
	const struct trace *first = r->trace;
	unsigned long total = r->total, count = r->count;
	struct trace both = {0};
	size_t i, from;
	int rc = happened(first, s, &both);

	from = both.count;
	for (i = 0; !rc && i < resumed->count; i++)
		rc = trace_add(&both, &resumed->events[i],
			resumed->events[i].data);
	if (!rc) {
		r->trace = &both;
		r->second = true;
		r->total = r->count = 0;
		rc = states_all(&both, from, count_state, r);
		if (!rc)
			rc = states_all(&both, from, try_state, r);
	}
	r->trace = first;
	r->second = false;
	r->total = total;
	r->count = count;
	trace_clear(&both);
	return rc;
}

/* The trace, done again to the old world, must give the new one: else the
 * recorder missed something, and no state of it means anything. */
static int trace_is_whole(
	struct world *w, const struct trace *t, char *why, size_t size)
{
	struct state all = {.cut = t->count, .missing = SIZE_MAX};
	uint64_t was[DISKS], is[DISKS];
	unsigned i;

	for (i = 0; i < DISKS; i++)
		was[i] = contents_hash(1, w->disks[i].map, w->disks[i].size);
	if (world_touched(w, t) || world_reset(w))
		return -1;
	for (i = 0; i < DISKS; i++) {
		if (memcmp(w->disks[i].map, w->disks[i].base,
			    w->disks[i].size)) {
			snprintf(why, size, "disk %u was written to unseen", i);
			return -1;
		}
	}
	if (world_apply(w, t, &all))
		return -1;
	for (i = 0; i < DISKS; i++) {
		is[i] = contents_hash(1, w->disks[i].map, w->disks[i].size);
		if (is[i] != was[i]) {
			snprintf(why, size, "the trace of disk %u is not whole",
				i);
			return -1;
		}
	}
	return 0;
}

/* Before and after are what every state is held against: sound themselves. */
static int know_both(struct run *r, struct trace *t, char *why, size_t size)
{
	struct judge *j = &r->j;

	if (judge_look(j, &j->old) || judge_files(j))
		goto bad;
	j->new = j->old;
	if (judge_world(j, NULL))
		goto bad;
	if (r->tool->run(r->w, r->m, t, why, size))
		return -1;
	if (trace_is_whole(r->w, t, why, size))
		return -1;
	if (judge_look(j, &j->new) || judge_world(j, NULL))
		goto bad;
	return world_reset(r->w);
bad:
	snprintf(why, size, "%s", j->why);
	return -1;
}

int campaign_move(struct world *w, const struct tool *tool,
	const struct move *m, const struct options *o, struct tally *t,
	char *why, size_t size)
{
	struct run r = {.w = w, .tool = tool, .m = m, .o = o, .t = t};
	struct trace trace = {0};
	size_t i;
	int rc;

	memset(t, 0, sizeof(*t));
	r.j.w = w;
	r.j.mount_every = (unsigned)o->mount;
	why[0] = '\0';
	/* nothing left of the move before */
	trace_clear(&w->objects);
	w->touched_count = 0;
	w->store_touched = true;
	rc = world_reset(w);
	if (!rc)
		rc = tool->setup(w, m, why, size);
	if (!rc)
		rc = world_snapshot(w);
	if (!rc)
		rc = know_both(&r, &trace, why, size);
	if (rc)
		goto out;
	t->moves = 1;
	for (i = 0; i < trace.count; i++) {
		t->writes += trace.events[i].kind == TRACE_WRITE;
		t->puts += trace.events[i].kind == TRACE_PUT;
	}
	r.trace = &trace;
	rc = states_all(&trace, 0, count_state, &r);
	if (!rc)
		rc = states_all(&trace, 0, try_state, &r);
	if (rc)
		snprintf(why, size, "%s", r.error);
	t->distinct = r.j.fsck_runs;
	t->mounts = r.j.mounts;
out:
	trace_clear(&trace);
	judge_free(&r.j);
	return rc ? -1 : 0;
}
