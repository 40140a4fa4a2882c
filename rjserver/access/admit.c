// SPDX-License-Identifier: GPL-2.0-or-later
/* Decide on each PUT: order of the log, limits, reserves, free space. */
#include "admit.h"

#include <stdio.h>
#include <string.h>

#include "format/seghdr.h"
#include "rjserver/store/commit.h"
#include "util/environ.h"

/* Of a limit this much is kept for what lets a log be trimmed: a sixteenth, but
 * never less than space for some claims, nor more than for some segments. */
#define RESERVE_SHARE  16
#define RESERVE_LEAST  (64u << 10)
#define RESERVE_MOST   (2u << 20)
#define CLAIM_MOST     (64u << 10) /* bytes of an epoch claim */
#define FENCE_MOST     1024	     /* of a segment without blocks */
/* Of a base that empties a journal: two blocks of 64 KiB, and its header. */
#define BASE_MOST      (132u << 10)
#define RESERVE_COUNT  64 /* objects, above a limit of those */
/* A host whose commit is refused asks again within seconds; one that went elsewhere does not. */
#define FULL_NS	       (120 * 1000000000LL)
#define WARN_SHARE     10 /* warn when this part of a limit is left */
#define WARN_DISK      2  /* or this many times the floor of the disk */

static uint64_t reserve_of(uint64_t limit)
{
	uint64_t n = limit / RESERVE_SHARE;

	return n < RESERVE_LEAST  ? RESERVE_LEAST
	       : n > RESERVE_MOST ? RESERVE_MOST
				  : n;
}

/* Would MORE beside USED be more than LIMIT (0: none) and RESERVE? */
static bool over(
	uint64_t used, uint64_t more, uint64_t limit, uint64_t reserve)
{
	uint64_t all;

	if (!limit || __builtin_add_overflow(limit, reserve, &limit))
		return false;
	return __builtin_add_overflow(used, more, &all) || all > limit;
}

static int fail_limit(uint64_t limit, const char *unit, const char *whose,
	const char *name, struct rj_error *err)
{
	return rj_fail(err, RJ_E_NOSPACE,
		"the limit of %llu %s of %s%s is reached",
		(unsigned long long)limit, unit, whose, name);
}

static int check_volume(const struct access_control *g,
	const struct admit_ask *ask, const struct volume *v, uint64_t stored,
	struct rj_error *err)
{
	const struct volume_rule *rule =
		settings_rule(g->set, ask->okey->name);

	if (!rule)
		return 0;
	if (over(v->stored + v->reserved_stored, stored, rule->max_bytes,
		    reserve_share(ask->urgency, reserve_of(rule->max_bytes))))
		return fail_limit(
			rule->max_bytes, "bytes", "this volume", "", err);
	if (over(v->objects + v->reserved_objects, 1, rule->max_objects,
		    reserve_share(ask->urgency, RESERVE_COUNT)))
		return fail_limit(
			rule->max_objects, "objects", "this volume", "", err);
	return 0;
}

static int check_account(const struct admit_ask *ask, const struct volume *v,
	uint64_t stored, struct rj_error *err)
{
	const struct account *x = ask->who;

	if (over(x->used_bytes, stored, x->max_bytes,
		    reserve_share(ask->urgency, reserve_of(x->max_bytes))))
		return fail_limit(
			x->max_bytes, "bytes", "account ", x->name, err);
	if (over(x->used_objects, 1, x->max_objects,
		    reserve_share(ask->urgency, RESERVE_COUNT)))
		return fail_limit(
			x->max_objects, "objects", "account ", x->name, err);
	if (!usage_has_objects(v) &&
		over(x->used_volumes, 1, x->max_volumes, 0))
		return fail_limit(
			x->max_volumes, "volumes", "account ", x->name, err);
	return 0;
}

/* Count the bytes of the disk that STORED more beside the pending ones take. */
static uint64_t disk_cost(const struct access_control *g, uint64_t stored)
{
	uint64_t pending = commit_pending(g->store->commit);

	return store_cost(g->store, pending + stored) - store_cost(g->store, pending);
}

/* Would there be LEAST bytes left with STORED more? */
static bool disk_has(struct access_control *g, uint64_t least, uint64_t stored)
{
	access_look_at_disk(g);
	if (g->free_bytes < least + disk_cost(g, stored)) {
		g->space_ns = 0; /* not by what was seen before */
		access_look_at_disk(g);
	}
	return !g->disk_bytes || g->free_bytes >= least + disk_cost(g, stored);
}

static int fail_disk(struct rj_error *err)
{
	return rj_fail(err, RJ_E_NOSPACE,
		"the disk of the store is almost full: nothing new is taken");
}

/* The lower half of the floor is for what is urgent. */
static int check_disk(struct access_control *g, const struct volume *v,
	struct admission *out, struct rj_error *err)
{
	uint64_t floor = access_min_free(g);
	uint64_t share = reserve_share(out->asked, floor / 2);

	out->least = floor;
	if (disk_has(g, floor, out->stored)) {
		if (out->stored >= g->wanted)
			g->wanted = 0;
		return 0;
	}
	/* what is half empty is cleaned until there is space for this */
	g->wanted = out->stored;
	g->store->tight = true;
	out->least -= share;
	if (!out->asked || !disk_has(g, out->least, out->stored) ||
		!reserve_allows(&g->reserve, out->taker, v, out->asked,
			out->stored, share))
		return fail_disk(err);
	out->urgency = out->asked;
	return 0;
}

/* A commit of V was refused for want of WHOSE space; NULL: one was accepted. */
static void note_full(struct volume *v, const char *whose)
{
	v->full = whose;
	v->full_ns = rj_monotonic_ns();
}

static void take_reserve(
	struct access_control *g, struct volume *v, struct admission *a)
{
	if (a->urgency)
		reserve_take(&g->reserve, a->taker, v, a->urgency, a->stored);
}

int admit_body(
	struct access_control *g, struct admission *a, struct rj_error *err)
{
	uint64_t cost;

	if (!a->volume)
		return 0;
	if (!disk_has(g, a->least, a->stored)) {
		if (a->urgency || check_disk(g, a->volume, a, err)) {
			if (a->commit)
				note_full(a->volume, "disk");
			return fail_disk(err);
		}
		take_reserve(g, a->volume, a);
	}
	/* until the disk is looked at again */
	cost = disk_cost(g, a->stored);
	g->free_bytes -= cost < g->free_bytes ? cost : g->free_bytes;
	return 0;
}

/* Segments come one after the other. One far ahead is a mistake, or is put
 * there to be taken for the newest. */
static int check_order(struct access_control *g, const struct admit_ask *ask,
	struct rj_error *err)
{
	struct okey okey = *ask->okey;
	const struct idx_entry *e;

	if (okey.key.kind != RJ_KEY_LOG || ask->who->rights & RIGHT_ADMIN)
		return 0;
	okey.key.number = 0;
	e = idx_last(g->store->index, &okey);
	if (!e || ask->okey->key.number - 1 <= e->number)
		return 0;
	okey.key.number = e->number;
	return rj_fail(err, RJ_E_REFUSED,
		"the last segment here is %llu: only an admin may leave a gap "
		"after it",
		(unsigned long long)okey.key.number);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

/* Tell a client that claims an epoch which limit its volume has. */
static void tell(const struct access_control *g, const struct admit_ask *ask,
	struct admission *out)
{
	const struct volume_rule *rule =
		settings_rule(g->set, ask->okey->name);
	const char *warning = admit_warning(g, out->volume);
	uint64_t limit = smaller(
		ask->who->max_bytes, rule ? rule->max_bytes : 0);
	int n = 0;

	if (warning) {
		out->more[n++] = "RJ-Nearly-Full";
		out->more[n++] = warning;
	}
	if (limit && ask->okey->key.kind == RJ_KEY_EPOCH) {
		snprintf(out->limit, sizeof(out->limit), "%llu",
			(unsigned long long)limit);
		out->more[n++] = "RJ-Max-Bytes";
		out->more[n++] = out->limit;
	}
}

static enum urgency urgency_of(const struct admit_ask *ask)
{
	if (ask->okey->key.kind == RJ_KEY_EPOCH && ask->body_bytes <= CLAIM_MOST)
		return URGENCY_CLAIM;
	if (!ask->progress)
		return URGENCY_NONE;
	return ask->body_bytes <= FENCE_MOST ? URGENCY_CLAIM : URGENCY_PROGRESS;
}

/* Is there space within all limits? OUT->why, and WHOSE limit it is: of a refusal. */
static int check_space(struct access_control *g, const struct admit_ask *ask,
	const struct volume *v, struct admission *out, const char **whose, struct rj_error *err)
{
	int rc = check_volume(g, ask, v, out->stored, err);

	*whose = "volume";
	out->why = REFUSED_LIMIT;
	if (rc)
		return rc;
	*whose = "account";
	rc = check_account(ask, v, out->stored, err);
	if (rc)
		return rc;
	*whose = "disk";
	out->why = REFUSED_SPACE;
	out->asked = ask->urgency;
	return check_disk(g, v, out, err);
}

int admit_put(struct access_control *g, const struct admit_ask *given,
	struct admission *out, struct rj_error *err)
{
	struct admit_ask ask = *given;
	struct volume none = {0}, *v;
	const char *whose = NULL;
	int rc;

	*out = (struct admission){.why = REFUSED_LIMIT};
	if (commit_entry(g->store->commit, ask.okey))
		return 0;
	if (ask.body_bytes > RJ_SEG_MAX_BYTES)
		return 0; /* the handler says so */
	ask.urgency = urgency_of(&ask);
	out->stored = rec_total((uint32_t)ask.body_bytes);
	/* whose share of the disk's reserve it is */
	snprintf(out->taker, sizeof(out->taker), "%s",
		ask.who->name[0] ? ask.who->name : ask.okey->name);
	/* this may write what is pending, whose answer may forget a volume */
	rc = check_order(g, &ask, err);
	v = usage_find(&g->usage, ask.okey);
	if (!v)
		v = &none; /* a PUT that is refused leaves nothing behind */
	rc = rc ? rc : check_space(g, &ask, v, out, &whose, err);
	if (rc == -RJ_E_NOSPACE && ask.urgency == URGENCY_PROGRESS &&
		ask.body_bytes <= BASE_MOST) {
		ask.urgency = URGENCY_BASE;
		rc = check_space(g, &ask, v, out, &whose, err);
	}
	out->commit = ask.okey->key.kind == RJ_KEY_LOG;
	if (out->commit && (!rc || rc == -RJ_E_NOSPACE))
		note_full(v, rc ? whose : NULL);
	if (rc)
		return rc;
	if (v == &none)
		v = usage_volume(&g->usage, ask.okey);
	if (!v)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	take_reserve(g, v, out);
	usage_reserve(&g->usage, v, out->stored);
	out->volume = v;
	tell(g, &ask, out);
	return 0;
}

void admit_done(
	struct access_control *g, const struct admission *a, bool stored)
{
	struct volume *v = a->volume;

	if (!v)
		return;
	if (!stored && a->urgency)
		reserve_give(&g->reserve, a->taker, v, a->urgency, a->stored);
	usage_release(&g->usage, v, a->stored);
}

static bool nearly(uint64_t used, uint64_t limit)
{
	return limit && used >= limit - limit / WARN_SHARE;
}

bool admit_disk_full(const struct access_control *g)
{
	return g->store->full ||
	       (g->disk_bytes && g->free_bytes < access_min_free(g));
}

bool admit_disk_low(const struct access_control *g)
{
	return admit_disk_full(g) ||
	       (g->disk_bytes &&
		       g->free_bytes < access_min_free(g) * WARN_DISK);
}

const char *admit_full(const struct volume *v)
{
	return v->full && rj_monotonic_ns() - v->full_ns < FULL_NS ? v->full : NULL;
}

const char *admit_warning(
	const struct access_control *g, const struct volume *v)
{
	const struct volume_rule *rule = settings_rule(g->set, v->name);
	unsigned i;

	if (admit_disk_low(g))
		return "disk";
	if (rule && (nearly(v->stored + v->reserved_stored, rule->max_bytes) ||
			    nearly(v->objects + v->reserved_objects,
				    rule->max_objects)))
		return "volume";
	for (i = 0; i < v->owner_count; i++) {
		const struct account *x = &g->accounts.list[v->owners[i]];

		if (nearly(x->used_bytes, x->max_bytes) ||
			nearly(x->used_objects, x->max_objects))
			return "account";
	}
	return NULL;
}
