// SPDX-License-Identifier: GPL-2.0-or-later
/* Moves, and what may have to come first: recovery, or giving a journal up. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "recover/recover.h"
#include "rjtune.h"
#include "util/error-class.h"

#define STATE_DIR "/var/lib/rjprogs"

struct context {
	const struct options *o;
	const char *devices[2];
};

static struct rj_move_opts move_opts(
	struct context *c, const struct options *o)
{
	*c = (struct context){.o = o, .devices = {o->old_device, NULL}};
	return (struct rj_move_opts){
		.to = o->journal,
		.dry_run = o->dry_run,
		.force = o->force,
		.devices = c->devices,
		.old_key = o->old_key,
		.say = say_step,
		.arg = (void *)o,
	};
}

static void done(struct result *r, int rc)
{
	r->moved = true;
	r->failed = rc != 0;
	r->status = move_status(&r->move, rc);
}

void change_resume(const struct options *o, struct result *r)
{
	struct context c;
	struct rj_move_opts mo = move_opts(&c, o);

	done(r, rj_move_resume(o->device, &mo, &r->move, &r->err));
}

static int recover(const struct options *o, struct result *r)
{
	struct rj_recover_opts ro = {
		.quiet = true,
		.journal_device = o->old_device,
		.keyfile = o->old_key,
		.accept_loss = o->accept_loss,
		.say = say_step,
		.arg = (void *)o,
	};
	struct rj_recover_report report;
	int rc;

	say_step((void *)o, "replay the journal");
	rc = rj_recover(o->device, &ro, &report, &r->err);
	/* something newer can replay it; or it was, and the check failed */
	r->advised = rc == -RJ_E_UNSUPPORTED ||
		     report.outcome != RJ_OUTCOME_FAILED;
	return rc;
}

int run_recovered(const struct options *o, struct result *r,
	int (*step)(const struct options *o, struct result *r))
{
	int rc = step(o, r);

	if (!rc || !r->move.needs_recovery || !o->yes || o->dry_run)
		return rc;
	rc = recover(o, r);
	if (rc)
		return rc;
	r->move.needs_recovery = false;
	return step(o, r);
}

static int move_uuid(const struct options *o, struct result *r)
{
	struct context c;
	struct rj_move_opts mo = move_opts(&c, o);

	mo.journal_stays = true;
	mo.new_uuid = o->uuid;
	return rj_move(o->device, &mo, &r->move, &r->err);
}

void change_uuid(const struct options *o, struct result *r)
{
	done(r, run_recovered(o, r, move_uuid));
}

/* If the undo file was not named: where there is space, and not on the volume. */
static const char *undo_name(const struct options *o, char *out, size_t size)
{
	if (o->undo_file)
		return o->undo_file;
	mkdir(STATE_DIR, 0700); /* if that fails, the undo file says so */
	snprintf(out, size, STATE_DIR "/rjtune-%lld-%d.e2undo",
		(long long)time(NULL), (int)getpid());
	return out;
}

struct giving_up {
	const struct options *o;
	bool refused; /* the new journal, not the old one, is what failed */
};

static void say_giving_up(void *arg, const char *line)
{
	const struct giving_up *g = arg;

	say_step((void *)g->o, line);
}

/* Is there space for the new journal on the volume, now that it has none? */
static int check_new(
	void *arg, const struct rj_log_id *old, const char *fallback, struct rj_error *err)
{
	struct giving_up *g = arg;
	struct rj_move_report report;
	struct context c;
	struct rj_move_opts mo = move_opts(&c, g->o);

	if (g->o->journal.placement == RJ_PLACE_NONE)
		return 0;
	mo.dry_run = true;
	mo.say = NULL;
	mo.given_up = old;
	mo.given_up_fallback = fallback;
	g->refused = rj_move(g->o->device, &mo, &report, err) != 0;
	return g->refused ? -(int)err->code : 0;
}

/* --accept-loss: without the journal that is lost. */
static int give_up(const struct options *o, const char *undo_file, struct result *r)
{
	struct giving_up g = {.o = o};
	struct rj_recover_opts ro = {
		.quiet = true,
		.undo_file = undo_file,
		.say = say_giving_up,
		.dropped = check_new,
		.arg = &g,
	};
	struct rj_recover_report report;
	char line[4200];
	int rc;

	snprintf(line, sizeof(line), "give up the lost journal; what is overwritten goes to %s", ro.undo_file);
	say_step((void *)o, line);
	if (o->dry_run)
		return 0;
	rc = rj_recover_drop_journal(o->device, &ro, &report, &r->err);
	if (!rc)
		r->move.outcome = RJ_MOVED_DONE;
	if (!rc || g.refused)
		r->move.journal_lost = r->move.needs_recovery =
			r->move.pending = false;
	return rc;
}

static int move(const struct options *o, const char *undo_file, struct result *r)
{
	struct context c;
	struct rj_move_opts mo = move_opts(&c, o);

	mo.undo_file = undo_file;
	return rj_move(o->device, &mo, &r->move, &r->err);
}

void change_journal(const struct options *o, struct result *r)
{
	struct rj_move_end from;
	bool lost = false;
	char name[128];
	const char *undo_file;
	int rc = move(o, NULL, r);

	if (rc && r->move.pending && o->accept_loss) {
		change_resume(o, r);
		rc = r->failed ? -(int)r->err.code : move(o, NULL, r);
	}
	if (rc && r->move.needs_recovery && o->yes && o->dry_run)
		rj_fail(&r->err, r->err.code,
			"%s: its journal would be replayed first (-y); what follows can be told only then",
			o->device);
	/* a log that can be replayed is not lost: always tried first */
	if (rc && r->move.needs_recovery && (o->yes || o->accept_loss) &&
		!o->dry_run) {
		rc = recover(o, r);
		if (!rc) {
			rc = move(o, NULL, r);
			/* its store is away: nothing had to be replayed, but
			 * that is no log to go on with */
			lost = r->advised = rc && r->move.needs_recovery;
		} else {
			/* with the right key, more memory, or a working volume
			 * it would have gone on: then it is not lost */
			lost = rj_error_log_lost(&r->err);
			/* the status is that of what is to be mended here */
			if (r->err.cause == RJ_CAUSE_SETTINGS)
				r->move.needs_recovery = false;
		}
	}
	if (lost) {
		r->move.needs_recovery = false;
		r->move.journal_lost = true;
	}
	if (rc && o->accept_loss &&
		(r->move.journal_lost || r->move.contradicts ||
			(o->dry_run && r->move.needs_recovery))) {
		from = r->move.from;
		undo_file = undo_name(o, name, sizeof(name));
		rc = give_up(o, undo_file, r);
		if (!rc && o->journal.placement != RJ_PLACE_NONE &&
			!o->dry_run)
			rc = move(o, undo_file, r);
		r->move.from = from;
		if (!rc && o->dry_run)
			r->move.outcome = RJ_MOVED_WOULD;
	}
	done(r, rc);
}
