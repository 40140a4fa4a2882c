// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The history is cut into as many parts as there are jobs, by segments. Each job reads the log
 * once, from the base to the end of its part, and stops at each commit there: a child mounts a
 * clone of that, runs the command, and ends with all that it has.
 */
#include "rjbackup/drill/every.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "history/restore.h"
#include "rjbackup/sides.h"
#include "rjbackup/drill/child.h"
#include "rjbackup/mount.h"
#include "rjbackup/print.h"
#include "tools/json.h"
#include "tools/progress.h"
#include "tools/stop-signal.h"
#include "util/environ.h"

/* A part of the history, tried by a process; shared with that. */
struct part {
	struct rj_history_place last; /* the last commit that was tried and is good */
	struct rj_history_place bad;  /* the first that is not; segment 0: there is none */
	int status;		      /* of the command there */
	uint64_t from, to;	      /* segments: the commits after FROM, up to TO */
	bool first;		      /* FROM is the base: that moment, too */
	int rc;			      /* with its error */
	struct rj_error err;
	pid_t child;
	bool ended;
};

struct shared {
	_Atomic uint64_t tried, unjudged; /* moments */
	_Atomic uint64_t bad; /* the first segment that is known to be bad; UINT64_MAX: none */
	struct part part[EVERY_JOBS_MAX];
	/* the running moment of a job has its own, as the job's child writes there */
	struct trial {
		struct result r;
		int status;
	} trial[EVERY_JOBS_MAX];
};

struct run {
	const struct options *o;
	struct options each; /* of a clone: where it is mounted, and that it is writable */
	struct shared *s;
	struct rj_history_report whole; /* of all that can be reached */
	struct rj_history_place last, bad;
	int status;
	bool restored; /* the bad moment, into o->out */
	struct rj_error err;
};

/* What a job has at hand. */
struct job {
	struct run *run;
	struct part *part;
	struct trial *trial;
	struct rj_base_facts facts;
	const struct rj_compare_side *side;
	uint64_t every, seen;
};

/* In the child. */
static int try_side(void *arg)
{
	struct job *j = arg;
	struct trial *t = j->trial;

	t->r.rc = mount_side(&t->r, j->side);
	if (t->r.rc)
		return 0;
	t->status = child_shell(j->run->o->exec, j->run->each.dir);
	return child_unmount(j->run->each.dir) && !t->status;
}

static int run_command(struct job *j, const struct rj_compare_side *side, int *status,
	struct rj_error *err)
{
	struct trial *t = j->trial;
	int rc, ended = 0;

	*t = (struct trial){.r = {.o = &j->run->each, .facts = j->facts, .rc = -RJ_E_IO}};
	j->side = side;
	rc = child_run(try_side, j, &ended, err);
	if (!rc && ended)
		return rj_fail(err, RJ_E_IO,
			"a clone of segment %" PRIu64 " could not be mounted, or not be left: see above",
			side->place.segment);
	if (!rc && t->r.rc) {
		*err = t->r.err;
		return rj_fail_prefix(err, "segment %" PRIu64, side->place.segment);
	}
	*status = t->status;
	return rc;
}

/* Each j->every-th, and the last one. */
static bool is_wanted(const struct job *j, uint32_t tid)
{
	return tid % j->every == 0 || tid == j->run->whole.reached.tid;
}

/* rj_compare_opts: the first call shows the moment before the part. */
static int step(void *arg, const struct rj_compare_side *before,
	const struct rj_compare_side *after, const uint64_t *blocks, size_t count,
	struct rj_error *err)
{
	struct job *j = arg;
	struct part *p = j->part;
	struct shared *s = j->run->s;
	int status = 0, rc;

	(void)before, (void)blocks, (void)count;
	/* what comes here is not asked for any more; what is read already comes nevertheless */
	if (p->bad.segment || after->place.segment >= s->bad || stop_signal())
		return -RJ_E_CANCELLED;
	if (j->seen++ ? !is_wanted(j, after->place.tid) : !p->first)
		return 0;
	rc = run_command(j, after, &status, err);
	if (rc)
		return rc;
	s->tried++;
	if (!status) {
		p->last = after->place;
	} else if (status == CANNOT_JUDGE) {
		s->unjudged++;
	} else {
		p->bad = after->place;
		p->status = status;
		return -RJ_E_CANCELLED;
	}
	return 0;
}

/* In the child, which ends the children that it has before it ends by a signal. */
static int be_job(void *arg)
{
	struct job *j = arg;
	struct part *p = j->part;
	struct rj_compare_opts opts = {
		.from = {.kind = RJ_AT_SEGMENT, .segment = p->from},
		.to = {.kind = RJ_AT_SEGMENT, .segment = p->to},
		.from_base = p->first,
		.until_break = true,
		.each_commit = true,
		.step = step,
		.arg = j,
	};
	struct rj_history_report report;
	uint64_t known;

	stop_signal_catch();
	p->rc = compare_run(j->run->o, &opts, &j->facts, &report, &p->err);
	if (p->rc == -RJ_E_CANCELLED && !stop_signal())
		p->rc = 0;
	if (p->rc) /* the others need not go on */
		j->run->s->bad = 0;
	known = j->run->s->bad;
	while (p->bad.segment && p->bad.segment < known)
		if (atomic_compare_exchange_weak(&j->run->s->bad, &known, p->bad.segment))
			break;
	return 0;
}

/* Begin the COUNT parts, and wait for all. */
static int run_parts(struct run *r, unsigned count, uint64_t of_all, uint64_t each)
{
	static const char *const passes[] = {[1] = "trying commits"};
	struct progress progress;
	struct part *p;
	const uint64_t before = r->s->tried;
	unsigned i, running = 0;
	int rc = 0, rc2, status;

	progress_init(&progress, r->o->base, -1, r->o->json, passes);
	for (i = 0; i < count && !rc; i++) {
		struct job j = {.run = r, .part = &r->s->part[i], .trial = &r->s->trial[i],
			.every = each};

		rc = child_begin(be_job, &j, &j.part->child, &r->err);
		running += !rc;
	}
	if (rc)
		r->s->bad = 0;
	count = running;
	while (running) {
		for (i = 0; i < count; i++) {
			p = &r->s->part[i];
			if (p->ended)
				continue;
			status = 0;
			rc2 = child_look(p->child, &p->ended, &status, rc ? NULL : &r->err);
			if (!rc2 && p->ended && status)
				rc2 = rj_fail(&r->err, RJ_E_IO, "a job ended with status %d", status);
			if (rc2) /* the others need not go on */
				r->s->bad = 0;
			rc = rc ? rc : rc2;
			running -= p->ended;
		}
		progress_step(&progress, 1, r->s->tried - before, of_all);
		rj_sleep_ns(CHILD_LOOK_NS);
	}
	progress_clear(&progress);
	return rc;
}

/* The first part that is bad, with what is good before it. */
static int judge(struct run *r, unsigned count)
{
	const struct part *p = r->s->part;
	unsigned i;

	for (i = 0; i < count; i++, p++) {
		if (p->rc) {
			r->err = p->err;
			return p->rc;
		}
		if (p->last.segment)
			r->last = p->last;
		if (p->bad.segment) {
			r->bad = p->bad;
			r->status = p->status;
			return 0;
		}
	}
	return 0;
}

static int try_all(struct run *r)
{
	uint64_t from = r->whole.earliest.segment, to = r->whole.reached.segment, span = to - from;
	uint64_t each = r->o->every;
	unsigned count = r->o->jobs, i;
	int rc;

	if (span < count)
		count = span ? (unsigned)span : 1;
	for (i = 0; i < count; i++)
		r->s->part[i] = (struct part){.from = from + span * i / count,
			.to = from + span * (i + 1) / count,
			.first = !i};
	rc = run_parts(r, count, r->whole.transactions / each + 1, each);
	return rc ? rc : judge(r, count);
}

/* Commits were left out before the bad one: the first bad one may be among them. */
static int try_between(struct run *r)
{
	struct part *p = r->s->part;
	int rc;

	*p = (struct part){.from = r->last.segment, .to = r->bad.segment};
	if (!p->from) /* none is good: the base is not to be judged */
		p->from = r->whole.earliest.segment;
	if (r->o->every == 1 || p->from >= p->to)
		return 0;
	r->s->bad = UINT64_MAX;
	rc = run_parts(r, 1, r->bad.tid - r->last.tid, 1);
	return rc ? rc : judge(r, 1);
}

static int until_signal(void *arg, int pass, uint64_t done, uint64_t total)
{
	(void)arg, (void)pass, (void)done, (void)total;
	return stop_signal();
}

static int look(struct run *r, const char *out, struct rj_moment at)
{
	const struct rj_restore_opts opts = {
		.base = r->o->base,
		.out = out,
		.url = r->o->url,
		.keyfile = r->o->keyfile,
		.at = at,
		.until_break = true,
		.verify = r->o->verify,
		.progress = until_signal,
	};
	struct rj_history_report report;
	struct rj_base_facts facts;

	return rj_history_restore(&opts, &facts, out ? &report : &r->whole, &r->err);
}

/* That the file to restore into is there is known before the work. */
static int check_out(struct run *r)
{
	const char *out = r->o->out;
	struct stat st;

	return out && !stat(out, &st) && !S_ISBLK(st.st_mode)
		       ? rj_fail(&r->err, RJ_E_EXISTS, "%s: it is there already", out)
		       : 0;
}

static void print_json(const struct run *r, int rc)
{
	struct json_object *top = json_object_new_object();

	add_u64(top, "moments", r->s->tried);
	add_u64(top, "unjudged", r->s->unjudged);
	if (r->whole.break_why[0]) {
		add_u64(top, "break_segment", r->whole.break_segment);
		add_text(top, "break", r->whole.break_why);
	}
	if (r->last.segment)
		json_object_object_add(top, "last_good", place_json(&r->last));
	if (r->bad.segment) {
		json_object_object_add(top, "first_bad", place_json(&r->bad));
		add_u64(top, "status", (uint64_t)r->status);
		if (r->restored)
			add_text(top, "restored", r->o->out);
	}
	if (rc)
		add_text(top, "error", r->err.msg);
	json_show(top, JSON_C_TO_STRING_PRETTY);
}

static void print_text(const struct run *r)
{
	printf("%" PRIu64 " moments tried", r->s->tried);
	if (r->s->unjudged)
		printf(", %" PRIu64 " of them could not be judged", r->s->unjudged);
	printf("%s\n", r->bad.segment ? "" : ": the command succeeds at each");
	if (r->bad.segment)
		place_print("first bad", &r->bad);
	if (r->last.segment)
		place_print("last good", &r->last);
	if (r->restored)
		printf("the bad moment is restored in %s\n", r->o->out);
}

static int try_and_restore(struct run *r)
{
	const struct rj_moment latest = {.kind = RJ_AT_LATEST};
	struct rj_moment at = {.kind = RJ_AT_SEGMENT};
	int rc = check_out(r);

	if (!rc)
		rc = look(r, NULL, latest);
	if (!rc) {
		compare_say_break(&r->whole);
		rc = try_all(r);
	}
	if (!rc && r->bad.segment)
		rc = try_between(r);
	at.segment = r->bad.segment;
	if (!rc && r->bad.segment && r->o->out) {
		rc = look(r, r->o->out, at);
		r->restored = !rc;
	}
	if (!rc && r->bad.segment)
		rc = rj_fail(&r->err, RJ_E_CORRUPT,
			"the command ended with status %d at segment %" PRIu64 ": %s", r->status,
			r->bad.segment, r->o->exec);
	return rc;
}

int every(const struct options *o)
{
	struct run r = {.o = o, .each = *o};
	char dir[3072];
	int rc;

	r.s = mmap(NULL, sizeof(*r.s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (r.s == MAP_FAILED) {
		complain("out of memory");
		return -RJ_E_NOMEM;
	}
	r.s->bad = UINT64_MAX;
	stop_signal_catch();
	snprintf(dir, sizeof(dir), "%s/rjbackup-drill.XXXXXX", o->scratch);
	if (!mkdtemp(dir)) {
		rc = rj_fail_errno(&r.err, errno, "%s: cannot make a folder there", o->scratch);
	} else {
		r.each.dir = dir;
		r.each.writable = true;
		rc = try_and_restore(&r);
		if (rmdir(dir) && !rc)
			rc = rj_fail_errno(&r.err, errno, "%s: cannot remove", dir);
	}
	if (rc)
		complain(r.err.msg);
	if (o->json)
		print_json(&r, rc);
	else if (!rc || r.bad.segment)
		print_text(&r);
	munmap(r.s, sizeof(*r.s));
	return rc;
}
