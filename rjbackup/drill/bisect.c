// SPDX-License-Identifier: GPL-2.0-or-later
#include "rjbackup/drill/bisect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "history/restore.h"
#include "rjbackup/drill/child.h"
#include "rjbackup/mount.h"
#include "rjbackup/print.h"
#include "text/when.h"
#include "tools/json.h"
#include "tools/stop-signal.h"

/* One moment, tried in a child; shared with that. */
struct trial {
	struct options o;
	uint32_t good_tid, bad_tid; /* 0: not known; these need no command */
	struct result r;
	int status; /* of the command, as in a shell */
};

struct search {
	const struct options *o;
	struct trial *trial;
	struct rj_history_place good, bad;
	unsigned steps; /* commands that were run */
	struct rj_error err;
};

/* In the child. */
static int try_moment(void *arg)
{
	struct trial *t = arg;
	uint32_t tid;

	t->r = (struct result){.o = &t->o};
	t->r.rc = mount_moment(&t->r);
	if (t->r.rc)
		return 0;
	tid = t->r.report.reached.tid;
	if (tid && (tid == t->good_tid || tid == t->bad_tid))
		t->status = tid == t->bad_tid;
	else
		t->status = child_shell(t->o.exec, t->o.dir);
	return child_unmount(t->o.dir);
}

/* Run the command at AT. *STATUS: 0 good, CANNOT_JUDGE, else bad; PLACE: where it was run. */
static int run_at(struct search *s, struct rj_moment at, int *status,
	struct rj_history_place *place)
{
	struct trial *t = s->trial;
	char when[RJ_WHEN_TEXT];
	int rc, ended = 0;

	t->o.at = at;
	t->good_tid = s->good.tid;
	t->bad_tid = s->bad.tid;
	t->r.rc = -RJ_E_IO;
	rc = child_run(try_moment, t, &ended, &s->err);
	if (!rc && !ended && t->r.rc) {
		s->err = t->r.err;
		return t->r.rc;
	}
	if (!rc && ended)
		rc = rj_fail(&s->err, RJ_E_IO, "a clone could not be mounted, or not be left: see above");
	if (rc)
		return rc;
	*status = t->status;
	*place = t->r.report.reached;
	if (place->tid && (place->tid == s->good.tid || place->tid == s->bad.tid))
		return 0;
	s->steps++;
	if (!s->o->json)
		fprintf(stderr, "segment %llu, as of %s: %s\n",
			(unsigned long long)place->segment, rj_place_text(place, when),
			!t->status ? "good" : t->status == CANNOT_JUDGE ? "cannot be judged" : "bad");
	return 0;
}

/* The ends are tried, too: a command that says nothing finds nothing. */
static int try_ends(struct search *s)
{
	struct rj_history_place good, bad;
	int status, rc = run_at(s, s->o->good, &status, &good);

	if (!rc && status)
		rc = rj_fail(&s->err, RJ_E_REFUSED,
			"the command ends with status %d at the good moment: name an earlier one with --good",
			status);
	if (!rc)
		rc = run_at(s, s->o->bad, &status, &bad);
	if (!rc && (!status || status == CANNOT_JUDGE))
		rc = rj_fail(&s->err, RJ_E_REFUSED,
			"the command ends with status %d at the bad moment: name a later one with --bad",
			status);
	if (!rc && good.segment >= bad.segment)
		rc = rj_fail(&s->err, RJ_E_INVAL,
			"the good moment, segment %llu, is not before the bad one, segment %llu",
			(unsigned long long)good.segment, (unsigned long long)bad.segment);
	if (!rc) {
		s->good = good;
		s->bad = bad;
	}
	return rc;
}

/* Try a moment near the middle: of those that cannot be judged the next ones. *DONE: there is none
 * between the two. */
static int halve(struct search *s, bool *done)
{
	uint64_t low = s->good.segment, high = s->bad.segment, span = high - low, shift, i;
	struct rj_history_place place;
	struct rj_moment at = {.kind = RJ_AT_SEGMENT};
	int status, rc;

	for (i = 0; i + 1 < span; i++) {
		/* the middle, one after it, one before it, two after it, ... */
		shift = i % 2 ? i / 2 + 1 : span - 1 - i / 2;
		at.segment = low + 1 + (span / 2 - 1 + shift) % (span - 1);
		rc = run_at(s, at, &status, &place);
		if (rc)
			return rc;
		if (status == CANNOT_JUDGE)
			continue;
		/* up to there it was read, whatever is committed there */
		place.segment = at.segment;
		*(status ? &s->bad : &s->good) = place;
		return 0;
	}
	*done = true;
	return span == 1 ? 0
			 : rj_fail(&s->err, RJ_E_REFUSED,
				   "no moment after segment %llu and before segment %llu can be judged (status %d)",
				   (unsigned long long)low, (unsigned long long)high, CANNOT_JUDGE);
}

static struct json_object *json_place(const struct rj_history_place *p)
{
	struct json_object *o = json_object_new_object();
	char when[RJ_WHEN_TEXT];

	add_u64(o, "segment", p->segment);
	add_u64(o, "tid", p->tid);
	if (p->time_ns)
		add_text(o, "time", rj_when_rfc3339(p->time_ns, when));
	return o;
}

static void print(const struct search *s, int rc)
{
	struct json_object *top;

	if (rc)
		complain(s->err.msg);
	if (s->o->json) {
		top = json_object_new_object();
		if (!rc) {
			json_object_object_add(top, "good", json_place(&s->good));
			json_object_object_add(top, "bad", json_place(&s->bad));
		}
		add_u64(top, "steps", s->steps);
		if (rc)
			add_text(top, "error", s->err.msg);
		json_show(top, JSON_C_TO_STRING_PRETTY);
	} else if (!rc) {
		place_print("first bad", &s->bad);
		place_print("last good", &s->good);
	}
}

int bisect(const struct options *o)
{
	struct search s = {.o = o};
	char dir[3072];
	bool done = false;
	int rc = 0;

	s.trial = mmap(NULL, sizeof(*s.trial), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		-1, 0);
	snprintf(dir, sizeof(dir), "%s/rjbackup-bisect.XXXXXX", o->scratch);
	if (s.trial == MAP_FAILED) {
		complain("out of memory");
		return -RJ_E_NOMEM;
	}
	stop_signal_catch();
	if (!mkdtemp(dir)) {
		rc = rj_fail_errno(&s.err, errno, "%s: cannot make a folder there",
			o->scratch);
	} else {
		s.trial->o = *o;
		s.trial->o.dir = dir;
		s.trial->o.writable = true;
		rc = try_ends(&s);
		while (!rc && !done)
			rc = halve(&s, &done);
		if (rmdir(dir) && !rc)
			rc = rj_fail_errno(&s.err, errno, "%s: cannot remove", dir);
	}
	print(&s, rc);
	munmap(s.trial, sizeof(*s.trial));
	return rc;
}
