// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Follow to the end, fence the old writer, follow to the fence: the log is then what it will
 * ever be, and all of it is in the base. Then one write makes the base a volume that needs
 * recovery, and the rest is a recovery like any other.
 */
#include "history/follow/promote.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ext4/renew.h"
#include "ext4/volume.h"
#include "log/fallback/fallback-log.h"
#include "os/fileio.h"
#include "os/rundir.h"

#define SUPER_AT    1024u
#define SUPER_BYTES 1024u

struct promoting {
	const struct rj_promote_opts *opts;
	struct rj_promote_report *report;
	struct rj_follow *follow;
	bool no_fallback; /* this host does not have the file of the last mount, */
	char why[RJ_ERROR_BYTES]; /* which is known by this */
	bool idle;	  /* it has one, with nothing that the store lacks, of this epoch: */
	uint64_t idle_epoch;
};

static void say(const struct promoting *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void say(const struct promoting *p, const char *fmt, ...)
{
	char line[512];
	va_list args;

	if (!p->opts->say)
		return;
	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	p->opts->say(p->opts->arg, line);
}

/* What the fallback file has, and the store has not, belongs to the log. */
static int bring_fallback(struct promoting *p, struct rj_error *err)
{
	const struct rj_sbx *sbx = &rj_follow_facts(p->follow)->sbx;
	const struct rj_base_log *log = rj_follow_log(p->follow);
	struct rj_fallback_file file = {0};
	struct rj_fallback_facts f = {0};
	struct rj_error why;
	int rc;

	if (!sbx->fallback[0])
		return 0;
	rc = rj_fallback_file_open(
		sbx->fallback, &log->id, p->opts->base, p->opts->dry_run, &file, &why);
	p->no_fallback = rc == -RJ_E_NOTFOUND || rc == -RJ_E_REFUSED;
	if (p->no_fallback) {
		snprintf(p->why, sizeof(p->why), "%s", why.msg);
		return 0;
	}
	if (rc)
		return rj_fail(err, why.code, "%s", why.msg);
	rj_fallback_facts(file.log, &f);
	p->idle = f.state == RJ_FALLBACK_IDLE;
	p->idle_epoch = f.epoch;
	if (f.state == RJ_FALLBACK_GIVEN_UP)
		rc = rj_fail(err, RJ_E_REFUSED,
			"%s: its segments %llu to %llu were given up, as others went on without them",
			file.path, (unsigned long long)f.next, (unsigned long long)f.last);
	else if (f.state != RJ_FALLBACK_IDLE && !p->opts->dry_run)
		rc = rj_fallback_ship(file.log, log->store, &log->id, 0, NULL, NULL, err);
	else if (f.state != RJ_FALLBACK_IDLE)
		say(p, "segments that only %s has would be put into the store first", file.path);
	rj_fallback_file_close(&file);
	return rc;
}

/* The log was applied: is the idle file that of its last mount? Each host has its own. */
static int judge_idle(struct promoting *p, struct rj_error *err)
{
	const struct rj_base_log *log = rj_follow_log(p->follow);
	uint64_t since;
	int rc;

	if (!p->idle)
		return 0;
	rc = rj_log_served_since(
		log->store, &log->id, rj_follow_tail(p->follow)->epoch, 0, &since, err);
	p->no_fallback = !rc && p->idle_epoch < since;
	if (p->no_fallback)
		snprintf(p->why, sizeof(p->why),
			"the file of this host is of epoch %llu, the last mount was in epoch %llu",
			(unsigned long long)p->idle_epoch, (unsigned long long)since);
	return rc;
}

/* The log was applied. What the old host acknowledged into its fallback file, which is not here,
 * would be lost; after an unmount that is in the log, and no mount since, there is nothing. */
static int judge_fallback(struct promoting *p, struct rj_error *err)
{
	const char *file = rj_follow_facts(p->follow)->sbx.fallback;
	uint64_t last = rj_follow_tail(p->follow)->sequence;
	int rc = judge_idle(p, err);

	if (rc || !p->no_fallback || rj_follow_unmounted(p->follow))
		return rc;
	if (!p->opts->accept_loss)
		return rj_fail(err, RJ_E_REFUSED,
			"%s: the fallback file %s of the old host is not here (%s), and may hold segments that were acknowledged after segment %llu, with which the log ends: copy that file to this host, where rj.conf allows fallback files, and promote again; rjbackup promote --accept-loss gives up what it holds",
			p->opts->base, file, p->why, (unsigned long long)last);
	say(p, "%s: given up (--accept-loss): what the fallback file %s of the old host holds after segment %llu: %s",
		p->opts->base, file, (unsigned long long)last, p->why);
	return 0;
}

/* Before the old writer is stopped: does the log have all that was seen acknowledged? */
static int judge_end(struct promoting *p, struct rj_error *err)
{
	int rc = rj_base_log_check_end(rj_follow_facts(p->follow), rj_follow_log(p->follow),
		"; put the store's end back, or rjbackup promote --accept-loss goes on without", err);

	if (rc != -RJ_E_REFUSED || !p->opts->accept_loss)
		return rc;
	say(p, "given up (--accept-loss): %s", err->msg);
	return 0;
}

static int pass(struct promoting *p, uint64_t upto, struct rj_error *err)
{
	struct rj_follow_state *s = &p->report->state;
	int rc = rj_follow_pass(p->follow, 0, upto, s, err);

	if (rc == -RJ_E_REFUSED && s->break_why[0])
		return rj_fail(err, RJ_E_REFUSED,
			"%s: is not what the volume is now: its history ends with segment %llu: %s; rjbackup restore makes a volume of its own of it",
			p->opts->base, (unsigned long long)s->break_segment, s->break_why);
	if (!rc && !s->whole)
		rc = rj_fail(err, RJ_E_GAP, "%s: the log ends before segment %llu, where the base is whole",
			p->opts->base, (unsigned long long)s->at.segment);
	return rc;
}

/* After that no other writer can put a segment before the fence. */
static int take_over(struct promoting *p, struct rj_error *err)
{
	const struct rj_base_log *log = rj_follow_log(p->follow);
	const struct rj_log_claim_opts o = {
		.min_epoch = rj_follow_facts(p->follow)->sbx.epoch,
		/* what was applied was acknowledged, and must be in the log that goes on */
		.reaches = rj_follow_tail(p->follow)->sequence,
	};
	struct rj_log_writer *w = NULL;
	int rc = rj_log_claim(log->store, &log->id, &o, &w, err);

	if (!rc)
		p->report->fence = rj_log_writer_tail(w)->sequence;
	rj_log_writer_free(w);
	return rc;
}

/* The extension of the volume: that of the mount whose log was applied, all of it. */
static int extension(const struct promoting *p, const struct rj_base_facts *now,
	uint8_t out[RJ_SBX_BYTES], struct rj_error *err)
{
	const struct rj_base_log *log = rj_follow_log(p->follow);
	struct rj_sbx sbx = now->sbx;
	uint64_t since;
	int rc = rj_log_served_since(log->store, &log->id, rj_follow_tail(p->follow)->epoch, 0,
		&since, err);

	if (rc)
		return rc;
	if (since > sbx.epoch)
		sbx.epoch = since;
	sbx.floor = p->report->fence - 1;
	if (p->no_fallback) {
		memset(sbx.fallback, 0, sizeof(sbx.fallback));
		sbx.incompat &= ~(uint32_t)RJ_SBX_INCOMPAT_FALLBACK;
		sbx.fallback_empty = false;
		if (sbx.on_loss == RJ_LOSS_LOCAL)
			sbx.on_loss = RJ_LOSS_BLOCK;
	} else if (sbx.fallback[0]) {
		sbx.fallback_empty = true;
	}
	return rj_sbx_encode(&sbx, out, err);
}

/* All that the log held below the fence is in the volume's blocks. */
static int put_mark(const struct promoting *p, int fd, const struct rj_base_facts *now,
	struct rj_error *err)
{
	struct rj_volume_facts f;
	struct rj_volume *v = NULL;
	struct rj_error why;
	int rc = rj_volume_open(p->opts->base, 0, NULL, &v, err);

	if (rc)
		return rc;
	f = *rj_volume_facts(v);
	rc = rj_volume_close(v, err);
	if (rc || !f.mark_at)
		return rc;
	memcpy(f.journal_uuid, now->sbx.journal_uuid, RJ_UUID_BYTES);
	rc = rj_volume_mark_put(fd, fd, p->opts->base, &f, p->report->fence, &why);
	/* where there is no superblock there is no older mark either */
	if (rc && rc != -RJ_E_CORRUPT)
		return rj_fail(err, why.code, "%s", why.msg);
	return rj_fsync(fd, p->opts->base, err);
}

/* One write: before it this is a base, after it the volume. */
static int make_volume(struct promoting *p, struct rj_error *err)
{
	const struct rj_base_facts *was = rj_follow_facts(p->follow);
	uint8_t raw[SUPER_BYTES], sbx[RJ_SBX_BYTES];
	struct rj_base_facts now = {0};
	int fd, rc, rc2;

	rc = rj_base_open(p->opts->base, true, &fd, err);
	if (rc)
		return rc;
	rc = rj_base_look(p->opts->base, &now, err);
	if (!rc && (now.record.from != was->record.from ||
			   now.record.whole != was->record.whole))
		rc = rj_fail(err, RJ_E_BUSY, "%s: another rjbackup has changed this base: try again",
			p->opts->base);
	if (!rc)
		rc = rj_pread_all(fd, raw, sizeof(raw), SUPER_AT, p->opts->base, err);
	if (!rc)
		rc = extension(p, &now, sbx, err);
	if (!rc)
		rc = put_mark(p, fd, &now, err);
	if (!rc) {
		rj_super_promote(raw, now.sbx.journal_uuid, sbx);
		rc = rj_pwrite_all(fd, raw, sizeof(raw), SUPER_AT, p->opts->base, err);
	}
	if (!rc)
		rc = rj_fsync(fd, p->opts->base, err);
	rc2 = rj_close(&fd, p->opts->base, rc ? NULL : err);
	p->report->volume = !rc;
	return rc ? rc : rc2;
}

static int recover(struct promoting *p, struct rj_error *err)
{
	const struct rj_recover_opts o = {
		.preen = true,
		.quiet = true,
		.accept_loss = p->opts->accept_loss,
		.keyfile = p->opts->keyfile,
		.say = p->opts->say,
		.arg = p->opts->arg,
	};
	int rc = rj_recover(p->opts->base, &o, &p->report->recovery, err);

	if (rc)
		rj_fail_suffix(err, "; %s is a volume that needs recovery now, no base: rjrecover -p %s goes on",
			p->opts->base, p->opts->base);
	return rc;
}

static int served_here(const uint8_t uuid[RJ_UUID_BYTES], const char *base, struct rj_error *err)
{
	char device[PATH_MAX];
	long pid;

	if (!rj_rundir_left(uuid, &pid, device, sizeof(device)))
		snprintf(device, sizeof(device), "DEVICE");
	return rj_fail(err, RJ_E_BUSY,
		"%s: an rjournald of this host serves the volume that this is a copy of, %s: unmount that first (rjctl stop --force %s, if its disk is gone)",
		base, device, device);
}

static int promote(struct promoting *p, struct rj_error *err)
{
	const struct rj_promote_opts *o = p->opts;
	const struct rj_base_facts *f = rj_follow_facts(p->follow);
	int rc;

	if (rj_rundir_served(f->uuid))
		return served_here(f->uuid, o->base, err);
	rc = judge_end(p, err);
	if (!rc)
		rc = bring_fallback(p, err);
	/* most of it while the old writer, if it lives, goes on */
	if (!rc)
		rc = pass(p, 0, err);
	if (!rc)
		rc = judge_fallback(p, err);
	if (rc || o->dry_run)
		return rc;
	rc = take_over(p, err);
	rj_follow_is_last(p->follow);
	if (!rc)
		rc = pass(p, p->report->fence - 1, err);
	if (rc)
		return rj_fail_suffix(err, "; %s is a base still", o->base);
	rc = make_volume(p, err);
	return rc;
}

/* Is it to be refused? Then the base keeps its first moments: following moves them. */
static int look(const struct rj_promote_opts *opts, struct rj_promote_report *report,
	struct rj_error *err)
{
	struct rj_promote_opts only_look = *opts;

	only_look.dry_run = true;
	only_look.say = NULL;
	return rj_promote(&only_look, report, err);
}

int rj_promote(const struct rj_promote_opts *opts, struct rj_promote_report *report,
	struct rj_error *err)
{
	struct promoting p = {.opts = opts, .report = report};
	const struct rj_follow_opts follow = {
		.base = opts->base,
		.keyfile = opts->keyfile,
		.dry_run = opts->dry_run,
		.stop = opts->stop,
		.arg = opts->arg,
	};
	int rc;

	rc = opts->dry_run ? 0 : look(opts, report, err);
	if (rc)
		return rc;
	memset(report, 0, sizeof(*report));
	rc = rj_follow_open(&follow, &p.follow, err);
	if (rc == -RJ_E_INVAL)
		rj_fail_suffix(err, "; rjrecover -p goes on where a promotion was cut off");
	if (!rc)
		rc = promote(&p, err);
	rj_follow_close(p.follow);
	if (!rc && !opts->dry_run)
		rc = recover(&p, err);
	return rc;
}
