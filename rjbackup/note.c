// SPDX-License-Identifier: GPL-2.0-or-later
/* What rjctl and Prometheus are told of bases and drills. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rjbackup/drill/drill.h"
#include "log/past/drill.h"
#include "os/fileio.h"
#include "print.h"
#include "tools/drill-note.h"
#include "util/environ.h"

#define NS_PER_S 1000000000LL
#define NOTE_S	 60 /* how old the noted place of a base that follows its log may be */

struct change {
	char base[PATH_MAX];
	int64_t now_s;
	const struct drill *drill; /* one has ended, */
	const struct rj_base_facts *made; /* or a base was made, */
	const char *ended; /* or the log of a base was read, and why its history ends, */
	const struct rj_hold *hold; /* or a base is later, with that hold (number 0: none), */
	int64_t place_ns; /* and whole as of that time; 0: not known */
};

/* Without realpath(): the base may be gone, and its name has to be that of before. NUMBER: of the
 * base at the store BASE, if that does not say it; or 0. */
static void begin(struct change *c, const char *base, uint64_t number)
{
	size_t n = 0;

	c->now_s = rj_realtime_ns() / NS_PER_S;
	if (number && !strchr(base, '#')) {
		snprintf(c->base, sizeof(c->base), "%s#%llu", base, (unsigned long long)number);
		return;
	}
	if (base[0] != '/' && !rj_base_is_url(base) && getcwd(c->base, sizeof(c->base) - 1)) {
		n = strlen(c->base);
		c->base[n++] = '/';
	}
	snprintf(c->base + n, sizeof(c->base) - n, "%s", base);
}

static void set_hold(const struct rj_hold *h, struct drill_note *n)
{
	n->hold = (int64_t)h->number;
	n->hold_s = h->number ? h->time : 0;
	n->until_s = h->number ? h->until : 0;
}

static void change_made(void *arg, struct drill_note *n)
{
	const struct change *c = arg;

	memcpy(n->base, c->base, sizeof(n->base));
	memcpy(n->own, c->base, sizeof(n->own));
	n->base_s = n->place_s = c->now_s;
	n->url[0] = 0;
	n->ended_s = 0;
	n->ended_why[0] = 0;
	set_hold(&c->made->hold, n);
}

static void change_end(void *arg, struct drill_note *n)
{
	const struct change *c = arg;

	n->ended_s = c->ended ? c->now_s : 0;
	snprintf(n->ended_why, sizeof(n->ended_why), "%s", c->ended ? c->ended : "");
}

static void change_place(void *arg, struct drill_note *n)
{
	const struct change *c = arg;

	if (c->place_ns)
		n->place_s = c->place_ns / NS_PER_S;
	/* an older one that lasts longer keeps it, too */
	if (c->hold->number && c->hold->until > n->until_s)
		set_hold(c->hold, n);
}

static void change(void *arg, struct drill_note *n)
{
	const struct change *c = arg;
	const struct drill *d = c->drill;

	memcpy(n->base, c->base, sizeof(n->base));
	snprintf(n->url, sizeof(n->url), "%s", d->o->url ? d->o->url : d->facts.sbx.url);
	n->attempt_s = c->now_s;
	snprintf(n->error, sizeof(n->error), "%s", d->rc ? d->err.msg : "");
	if (d->rc)
		return;
	n->success_s = c->now_s;
	n->segment = (int64_t)d->report.reached.segment;
	n->commit_ns = d->report.reached.time_ns;
	n->earliest_ns = d->report.earliest.time_ns;
	n->latest_ns = d->latest_ns;
	n->rpo_ns = d->rpo_ns < 0 ? 0 : d->rpo_ns;
	n->rto_ns = d->rto_ns;
	n->bytes = (int64_t)d->bytes;
}

/* What fails here is no reason to forget what failed before. */
static void blame(struct drill *d, int rc, const struct rj_error *err)
{
	if (!rc)
		return;
	if (d->rc) {
		complain(err->msg);
		return;
	}
	d->rc = rc;
	d->err = *err;
}

/* For the page of rjserver: that the store cannot be told is no failure of the drill. */
static void tell_store(const struct drill *d)
{
	struct rj_base_log log;
	struct rj_error err;
	int rc = rj_base_log_open(&d->facts, d->o->url, d->o->keyfile, &log, &err);

	if (!rc)
		rc = rj_drill_put(log.store, &log.id, (uint64_t)(rj_realtime_ns() / NS_PER_S),
			d->report.reached.segment, &err);
	rj_base_log_close(&log);
	if (rc) {
		rj_fail_prefix(&err, "the log's store is not told of this drill");
		complain(err.msg);
	}
}

void note_drill(struct drill *d)
{
	struct change c = {.drill = d};
	struct drill_note n = {.base = ""};
	uint8_t volume[RJ_UUID_BYTES];
	char uuid[RJ_UUID_TEXT] = "";
	struct rj_error err;
	int rc = 0;

	begin(&c, d->o->base, d->facts.number);
	memcpy(volume, d->facts.uuid, sizeof(volume));
	/* of a base that cannot be read the note knows the volume */
	if (d->facts.record.whole || drill_note_find(c.base, volume)) {
		rj_uuid_text(volume, uuid);
		rc = drill_note_change(volume, change, &c, &n, &err);
	}
	if (rc || !uuid[0])
		change(&c, &n);
	blame(d, rc, &err);
	if (!d->rc)
		tell_store(d);
	if (d->o->metrics)
		blame(d, drill_metrics(d->o->metrics, &n, uuid, &err), &err);
}

void note_base(const char *base, const struct rj_base_facts *facts)
{
	struct change c = {.made = facts};
	struct rj_error err;

	begin(&c, base, facts->number);
	if (drill_note_change(facts->uuid, change_made, &c, NULL, &err)) {
		rj_fail_prefix(&err, "rjctl will not know of this base");
		complain(err.msg);
	}
}

/* Is there a note of VOLUME, N, that says that C's base was made here? */
static bool own(const struct change *c, const uint8_t volume[RJ_UUID_BYTES],
	struct drill_note *n)
{
	return !drill_note_load(volume, n, NULL) && !strcmp(n->own, c->base);
}

void note_end(const char *base, const struct rj_base_facts *facts, bool to_end, const char *ended)
{
	struct change c = {.ended = ended};
	struct drill_note n;

	begin(&c, base, facts->number);
	if ((ended || to_end) && own(&c, facts->uuid, &n) && !ended == !!n.ended_s)
		drill_note_change(facts->uuid, change_end, &c, NULL, NULL);
}

void note_place(const char *base, const struct rj_base_facts *facts,
	const struct rj_history_place *at, const struct rj_hold *hold)
{
	struct change c = {.hold = hold, .place_ns = at->time_ns};
	struct drill_note n;

	begin(&c, base, 0);
	if (own(&c, facts->uuid, &n) && (n.place_s + NOTE_S <= at->time_ns / NS_PER_S ||
						(hold->number && hold->until > n.until_s)))
		drill_note_change(facts->uuid, change_place, &c, NULL, NULL);
}
