// SPDX-License-Identifier: GPL-2.0-or-later
/* Follow a log: pass after pass, and waits in between. And promote what follows it. */
#include "follow.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "rjbackup/drill/drill.h"
#include "print.h"
#include "tools/stop-signal.h"
#include "util/environ.h"
#include "util/error-class.h"

#define NS_PER_S 1000000000LL
#define POLL_NS	 (2 * NS_PER_S) /* between two looks at the log's end */
#define MOST_NS	 (60 * NS_PER_S) /* the same after failures */
#define SLICE_NS 100000000LL

static int is_stopped(void *arg)
{
	(void)arg;
	return stop_signal();
}

/* After a signal it returns at once. */
static void nap(int64_t ns)
{
	int64_t end = rj_monotonic_ns() + ns;

	while (!stop_signal() && rj_monotonic_ns() < end)
		rj_sleep_ns(SLICE_NS);
}

static int64_t limit_ns(const struct options *o)
{
	if (o->delay_s)
		return rj_realtime_ns() - (int64_t)o->delay_s * NS_PER_S;
	if (o->until.kind != RJ_AT_TIME)
		return 0;
	return o->until.time_ns ? o->until.time_ns : 1; /* 0 would be no limit */
}

/* What passes by itself: the store is away, a reader has the base, or a mount is under way. */
static bool passes(int rc)
{
	return rj_code_away(rc) || rj_code_transient(rc) || rc == -RJ_E_BUSY;
}

static void write_metrics(const struct followed *p)
{
	struct rj_error err;

	/* a standby is worth more than its numbers */
	if (p->o->metrics && follow_metrics(p, &err))
		complain(err.msg);
}

/* For rjctl, where the base was made. */
static void note(const struct rj_follow *f, const struct followed *p)
{
	const struct rj_follow_state *s = &p->state;
	const struct rj_base_facts *facts = rj_follow_facts(f);

	if (s->break_why[0])
		note_end(p->o->base, facts, false, s->break_why);
	if (!p->rc && s->whole)
		note_place(p->o->base, facts, &s->at, p->hold);
}

/* The base must not have been later than fold --until already. */
static int check_until(struct followed *p)
{
	const struct rj_follow_state *s = &p->state;
	const struct rj_moment *until = &p->o->until;
	int64_t at = s->at.time_ns ? s->at.time_ns : s->at.sealed_ns;
	char text[RJ_WHEN_TEXT];

	if (until->kind != RJ_AT_TIME || (s->whole && at <= until->time_ns))
		return 0;
	return rj_fail(&p->err, RJ_E_REFUSED,
		"%s: is whole at segment %llu, as of %s, which is later than --until: use an older base",
		p->o->base, (unsigned long long)s->at.segment, rj_place_text(&s->at, text));
}

/* Print what is new: a later place, or another failure than before. UPTO as of rj_follow_pass(). */
static int pass(struct rj_follow *f, struct followed *p, uint64_t upto)
{
	const uint64_t at = p->state.at.segment;
	const struct followed was = *p;

	p->rc = rj_follow_pass(f, limit_ns(p->o), upto, &p->state, &p->err);
	if (p->rc == -RJ_E_CANCELLED && p->o->command == COMMAND_FOLLOW)
		p->rc = 0;
	if (!p->rc)
		p->rc = check_until(p);
	if (!p->rc)
		p->good_ns = rj_realtime_ns();
	if (p->rc ? !was.rc || strcmp(was.err.msg, p->err.msg) != 0
		  : was.rc || p->state.at.segment != at || !was.good_ns ||
			    p->hold->number != was.told_hold)
		follow_print(p);
	write_metrics(p);
	if (!p->o->dry_run)
		note(f, p);
	return p->rc;
}

/* Until there may be something to apply, or for a while. */
static int wait_for_news(struct rj_follow *f, struct followed *p, int64_t *pause)
{
	int64_t later = p->state.later_ns, since = rj_monotonic_ns();
	struct rj_error err;
	bool news = false;
	int rc = p->rc;

	while (!stop_signal() && !news) {
		*pause = !rc ? POLL_NS : *pause * 2 < MOST_NS ? *pause * 2 : MOST_NS;
		nap(*pause);
		if (p->rc || stop_signal())
			break; /* the next pass tells */
		if (later)
			news = limit_ns(p->o) >= later;
		else
			rc = rj_follow_news(f, &news, &err);
		if (rc || rj_monotonic_ns() > since + MOST_NS)
			break;
	}
	return rc;
}

static int loop(struct rj_follow *f, struct followed *p)
{
	int64_t pause = POLL_NS;
	int rc;

	for (;;) {
		rc = pass(f, p, 0);
		if (p->o->once || stop_signal() || (rc && !passes(rc)))
			return rc;
		if (!rc)
			follow_print_wait(p);
		wait_for_news(f, p, &pause);
		if (stop_signal())
			return 0;
	}
}

static int fold(struct rj_follow *f, struct followed *p)
{
	const struct rj_base_log *log = rj_follow_log(f);
	struct rj_moment at = p->o->until;
	uint64_t last;

	p->rc = rj_history_resolve(log->store, &log->id, &rj_follow_facts(f)->record, 0, &at,
		&last, &p->err);
	if (!p->rc)
		return pass(f, p, at.kind == RJ_AT_SEGMENT ? at.segment : 0);
	follow_print(p);
	return p->rc;
}

int follow(const struct options *o)
{
	const struct rj_follow_opts opts = {
		.base = o->base,
		.url = o->url,
		.keyfile = o->keyfile,
		.dry_run = o->dry_run,
		.hold_s = o->hold,
		.goes_on = o->command == COMMAND_FOLLOW,
		.stop = is_stopped,
	};
	struct followed p = {.o = o};
	struct rj_follow *f = NULL;

	stop_signal_catch();
	p.rc = rj_follow_open(&opts, &f, &p.err);
	if (p.rc) {
		follow_print(&p);
		return p.rc;
	}
	p.hold = rj_follow_hold(f);
	if (o->command == COMMAND_FOLD)
		fold(f, &p);
	else
		loop(f, &p);
	rj_follow_close(f);
	return p.rc;
}

static void say(void *arg, const char *line)
{
	(void)arg;
	complain(line);
}

int promote(const struct options *o)
{
	const struct rj_promote_opts opts = {
		.base = o->base,
		.keyfile = o->keyfile,
		.dry_run = o->dry_run,
		.accept_loss = o->accept_loss,
		.stop = is_stopped,
		.say = say,
	};
	struct rj_promote_report report;
	struct rj_error err = {0};
	int rc;

	stop_signal_catch();
	rc = rj_promote(&opts, &report, &err);
	promote_print(o, &report, rc, &err);
	return rc;
}
