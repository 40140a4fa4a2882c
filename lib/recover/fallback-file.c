// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A remote log that was continued in a fallback file: bring that to the store
 * first; or, without the store, recover from the file alone if it has all that
 * is needed. The rules are in doc/fallback.md.
 */
#include <string.h>

#include "log/listing.h"
#include "recover/session.h"
#include "util/error-class.h"

/* The command that gives it up: an older copy needs -f as well. */
static const char *giving_up(const struct rj_recovery *r)
{
	return r->opts->force ? "rjrecover -f --accept-loss" : "rjrecover --accept-loss";
}

/* What the file may have held is given up, because the user said so. */
static int give_up(struct rj_recovery *r, const char *why)
{
	size_t n = strlen(r->device);

	/* an error begins with the device, and so does what is said */
	if (!strncmp(why, r->device, n) && !strncmp(why + n, ": ", 2))
		why += n + 2;
	rj_recovery_say(r, "%s; giving that up (--accept-loss)", why);
	r->fallback_lost = true;
	return 0;
}

/* There is no file that could be used; RC and ERR say why. */
static int no_file(struct rj_recovery *r, int rc, struct rj_error *err)
{
	const struct rj_sbx *sbx = &r->facts.sbx;
	bool spoilt = rc == -RJ_E_CORRUPT || rc == -RJ_E_NOTRJ;
	bool taken = rc == -RJ_E_FOREIGN && err->cause == RJ_CAUSE_TAKEN;
	bool elsewhere = rc == -RJ_E_NOTFOUND || taken;
	char kept[RJ_FALLBACK_ASIDE_BYTES];
	struct rj_error why;

	if (spoilt && !r->opts->dry_run && (sbx->fallback_empty || r->opts->accept_loss) &&
		rj_fallback_file_put_away(
			sbx->fallback, &r->id, r->device, sbx->epoch, kept))
		rj_recovery_say(r, "%s; it is kept as %s", err->msg, kept);
	if ((elsewhere || spoilt) && sbx->fallback_empty)
		return 0;
	if (elsewhere)
		rj_fail(&why, RJ_E_REFUSED,
			"%s: its fallback file %s%s is not there: it may hold segments that were acknowledged after the end of the log at %s",
			r->device, sbx->fallback, taken ? " (there is one of another journal)" : "",
			r->report->url);
	else
		why = *err;
	/* one that is in use is not lost */
	if (r->opts->accept_loss && rc != -RJ_E_BUSY && rc != -RJ_E_NOMEM)
		return give_up(r, why.msg);
	*err = why;
	if (elsewhere)
		rj_fail_suffix(err, "; recover where that file is, or %s goes on without",
			giving_up(r));
	return -(int)err->code;
}

/* It is idle, and yet not the one that the volume was last served with. */
static int not_that_one(struct rj_recovery *r, uint64_t epoch, struct rj_error *err)
{
	struct rj_fallback_facts f;

	rj_fallback_facts(r->fallback.log, &f);
	rj_fail(err, RJ_E_REFUSED,
		"%s: its fallback file %s is not the one that it was last served with (in epoch %llu, this one is of %llu): the right file, on another host, may hold segments that were acknowledged",
		r->device, r->fallback.path, (unsigned long long)epoch,
		(unsigned long long)f.epoch);
	if (r->opts->accept_loss)
		return give_up(r, err->msg);
	rj_fail_suffix(err, "; recover there, or %s goes on without", giving_up(r));
	return -RJ_E_REFUSED;
}

/* Others went on without what the file holds. */
static int overtaken(
	struct rj_recovery *r, const char *who, struct rj_error *err)
{
	char kept[RJ_FALLBACK_ASIDE_BYTES];
	struct rj_fallback_facts f;
	int rc;

	rj_fallback_facts(r->fallback.log, &f);
	if (!r->opts->accept_loss)
		return rj_fail(err, RJ_E_REFUSED,
			"%s: %s without segments %llu to %llu, which were acknowledged here and are in %s; %s gives them up, and keeps the file",
			r->device, who, (unsigned long long)f.next,
			(unsigned long long)f.last, r->fallback.path, giving_up(r));
	if (r->opts->dry_run)
		return give_up(r, "segments that only the fallback file has");
	rc = rj_fallback_file_give_up(&r->fallback, kept, err);
	rj_fallback_file_close(&r->fallback);
	if (rc)
		return rc;
	rj_recovery_say(r, "segments %llu to %llu are kept in %s",
		(unsigned long long)f.next, (unsigned long long)f.last, kept);
	return give_up(r, "they will never be part of the log");
}

static int show_both(struct rj_recovery *r, bool alone, struct rj_error *err)
{
	r->alone = alone;
	return rj_fallback_store(r->fallback.log, alone ? NULL : r->store,
		&r->id, &r->merged, err);
}

static int look_only(struct rj_recovery *r, struct rj_error *err)
{
	struct rj_fallback_facts f;
	struct rj_seghdr there;
	uint64_t highest = 0;
	int rc;

	rc = rj_listing_epoch(
		r->store, &r->id, r->opts->retry_ms, &highest, err);
	if (rc && !rj_code_away(rc))
		return rc;
	rj_fallback_facts(r->fallback.log, &f);
	/* as bring() would find out when it puts the first one */
	if (!rc && f.last >= f.next &&
		!rj_log_fetch_header(r->store, &r->id, f.next, &there, NULL) &&
		there.epoch > f.epoch)
		return overtaken(r, "the log went on", err);
	if (f.last >= f.next)
		rj_recovery_say(r,
			"segments %llu to %llu, which only %s has, would be put into the store first",
			(unsigned long long)f.next, (unsigned long long)f.last,
			r->fallback.path);
	return show_both(r, rc != 0, err);
}

/* The file is this journal's, and says that it is ahead of the store. */
static int bring(struct rj_recovery *r, struct rj_error *err)
{
	uint64_t count = 0;
	bool taken = false;
	int rc;

	rc = rj_fallback_ship(r->fallback.log, r->store, &r->id,
		r->opts->retry_ms, &count, &taken, err);
	if (count)
		rj_recovery_say(r, "the store got %llu segment%s that only %s had",
			(unsigned long long)count, count == 1 ? "" : "s", r->fallback.path);
	if (rc && (taken || (rj_code_damage(rc) && r->opts->accept_loss)))
		return overtaken(r, "the log went on", err);
	if (rj_code_away(rc)) {
		rj_recovery_say(r, "%s", err->msg);
		return show_both(r, true, err);
	}
	return rc;
}

static int use_fallback(struct rj_recovery *r, struct rj_error *err)
{
	const struct rj_sbx *sbx = &r->facts.sbx;
	uint64_t epoch = sbx->epoch;
	struct rj_fallback_facts f;
	int rc;

	if (!sbx->fallback[0])
		return 0;
	/* a backup's extension is as old as the last move or recovery */
	if (r->facts.super == RJ_SUPER_LOST || r->facts.super == RJ_SUPER_GONE)
		rj_listing_epoch(r->store, &r->id, r->opts->retry_ms, &epoch, NULL);
	do
		rc = rj_fallback_file_open(sbx->fallback, &r->id, r->device,
			r->opts->dry_run, &r->fallback, err);
	while (rc == -RJ_E_FOREIGN && rj_log_renamed(r->store, &r->id, r->opts->retry_ms));
	if (rc)
		return no_file(r, rc, err);
	rj_recovery_floor_of_fallback(r);
	rj_fallback_facts(r->fallback.log, &f);
	if (!r->report->log_void && !sbx->fallback_empty &&
		rj_fallback_was_elsewhere(r->fallback.log, epoch))
		return not_that_one(r, epoch, err);
	if (f.state == RJ_FALLBACK_IDLE)
		return 0;
	/* a check of the whole volume, or a replay, took its place */
	if (r->report->log_void)
		return r->opts->dry_run ? 0 : rj_fallback_idle(r->fallback.log, err);
	if (f.state == RJ_FALLBACK_GIVEN_UP)
		return overtaken(r, "others went on", err);
	if (epoch > f.epoch)
		return overtaken(r, "the volume went on in a later epoch", err);
	return r->opts->dry_run ? look_only(r, err) : bring(r, err);
}

int rj_recovery_open_fallback(struct rj_recovery *r, struct rj_error *err)
{
	int rc = use_fallback(r, err);
	struct rj_error why;

	if (!rc || !rj_error_log_lost(err))
		return rc;
	/* of the log that says nothing: -y must not give it up */
	why = *err;
	return rj_fail(err, RJ_E_REFUSED,
		"%s; %s goes on without that file", why.msg, giving_up(r));
}

int rj_recovery_claimed(struct rj_recovery *r, struct rj_error *err)
{
	r->report->epoch = rj_log_writer_epoch(r->writer);
	return r->fallback.log ? rj_fallback_serve(
					 r->fallback.log, r->report->epoch, err)
			       : 0;
}

uint64_t rj_recovery_file_last(const struct rj_recovery *r)
{
	struct rj_fallback_facts f = {0};

	if (r->fallback.log)
		rj_fallback_facts(r->fallback.log, &f);
	return f.last;
}

int rj_recovery_not_alone(struct rj_recovery *r, int rc, struct rj_error *err)
{
	if (!r->alone || (rc != -RJ_E_GAP && rc != -RJ_E_NOTFOUND))
		return rc;
	return rj_fail(err, RJ_E_UNREACHABLE,
		"%s: the store does not answer, and the fallback file %s alone is not enough: what a replay needs begins before it",
		r->facts.sbx.url, r->fallback.path);
}

int rj_recovery_settle_fallback(struct rj_recovery *r, struct rj_error *err)
{
	struct rj_volume_patch p = {
		.set_sbx = true,
		.primary_only = true,
	};
	struct rj_volume *v = NULL;
	const struct rj_volume_facts *f;
	int rc = 0;

	if (!r->facts.sbx.fallback[0] || r->opts->dry_run)
		return 0;
	/* nothing was replayed, and the store's log is still the one that goes
	 * on: it needs what only the file has */
	if (r->alone && r->report->outcome == RJ_OUTCOME_CLEAN)
		return 0;
	if (r->fallback.log)
		rc = rj_fallback_idle(r->fallback.log, err);
	if (!rc)
		rc = rj_volume_open(r->device, RJ_VOLUME_WRITE, NULL, &v, err);
	if (rc)
		return rc;
	f = rj_volume_facts(v);
	p.sbx = f->sbx;
	p.sbx.fallback_empty = true;
	if (f->has_sbx && f->sbx.fallback[0] && !f->sbx.fallback_empty) {
		rj_recovery_leaves_again(r, v);
		rc = rj_volume_patch(v, &p, err);
		rj_recovery_left(r, v);
	}
	return rj_recovery_close(r, v, rc, err);
}

void rj_recovery_close_fallback(struct rj_recovery *r)
{
	rj_store_close(r->merged);
	r->merged = NULL;
	rj_fallback_file_close(&r->fallback);
}
