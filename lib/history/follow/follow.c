// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A base that is changed in place. Before blocks are written that are complete with a segment,
 * the base says that it is whole there, and not before; when all of them are on the disk it
 * says that the log is read from there on. In between it is read from where it was read before,
 * and each block's last copy wins.
 */
#include "history/follow/follow.h"

#include <stdlib.h>
#include <string.h>

#include "ext4/renew.h"
#include "history/base/target.h"
#include "history/follow/follow-hold.h"
#include "history/history-priv.h"
#include "log/hold.h"
#include "os/fileio.h"
#include "util/environ.h"

#define SUPER_AT    1024u
#define SUPER_BYTES 1024u
/* A place is made durable after that many bytes of the log, or that time. */
#define PLACE_BYTES (256u << 20)
#define PLACE_NS    10000000000LL
#define HOLD_NS	    60000000000LL

struct rj_follow {
	struct rj_follow_opts opts;
	struct rj_base_facts facts;
	struct rj_base_log log;
	struct rj_hist walk; /* with RING: it goes on */
	struct rj_history_opts how;
	struct rj_history_report report;
	struct rj_hold hold;
	int64_t hold_ns; /* when it was looked at, monotonic */
	/* during a pass: */
	struct rj_history_report before;
	int fd; /* the base; else -1 */
	uint8_t super[SUPER_BYTES];  /* as it is in the base */
	uint8_t logged[SUPER_BYTES]; /* the last one in the log */
	bool have_logged;	     /* since the last place */
	bool last;		     /* rj_follow_is_last() */
	/* All up to there is applied, and where that is; SEGMENT 0: nothing yet. */
	struct rj_history_place settled;
	uint64_t settled_chain; /* of its segment, as in the base's record */
	uint64_t place_bytes; /* when a place was made durable */
	int64_t place_ns;
};

static int write_super(struct rj_follow *f, uint8_t raw[SUPER_BYTES], struct rj_error *err)
{
	int rc = rj_pwrite_all(f->fd, raw, SUPER_BYTES, SUPER_AT, f->opts.base, err);

	if (!rc)
		rc = rj_fsync(f->fd, f->opts.base, err);
	if (!rc)
		memcpy(f->super, raw, SUPER_BYTES);
	return rc;
}

/* Only the second sector changes, with the checksum: no cut tears it. */
static int will_apply(void *arg, uint64_t segment, struct rj_error *err)
{
	struct rj_follow *f = arg;
	uint8_t raw[SUPER_BYTES], sbx[RJ_SBX_BYTES];
	struct rj_base_record r = f->facts.record;
	int rc;

	if (segment <= r.whole)
		return 0;
	r.whole = segment;
	r.chain = f->walk.chain;
	memcpy(raw, f->super, sizeof(raw));
	memcpy(sbx, raw + RJ_SBX_OFFSET, sizeof(sbx));
	rj_sbx_base_put(sbx, &r);
	rj_super_extend(raw, sbx);
	rc = write_super(f, raw, err);
	if (!rc)
		f->facts.record = r;
	return rc;
}

/* The extension for a new place: the logged superblock's, which a mount since may have
 * changed, if it is one of this journal. */
static void extension(const struct rj_follow *f, const struct rj_base_record *r,
	uint8_t out[RJ_SBX_BYTES])
{
	struct rj_sbx sbx;

	memcpy(out, f->super + RJ_SBX_OFFSET, RJ_SBX_BYTES);
	if (f->have_logged && !rj_sbx_decode(f->logged + RJ_SBX_OFFSET, &sbx, NULL) &&
		!sbx.intent_op &&
		rj_uuid_equal(sbx.journal_uuid, f->facts.sbx.journal_uuid))
		memcpy(out, f->logged + RJ_SBX_OFFSET, RJ_SBX_BYTES);
	rj_sbx_base_put(out, r);
}

/* All that is complete up to f->settled is on the disk: the log is read from there on. */
static int put_place(struct rj_follow *f, struct rj_error *err)
{
	uint64_t at = f->settled.segment;
	const struct rj_base_record r = {
		.from = at,
		.whole = at,
		.id = f->facts.record.id,
		.hold = f->facts.record.hold,
		.chain = f->settled_chain,
	};
	uint8_t raw[SUPER_BYTES], sbx[RJ_SBX_BYTES];
	int rc;

	if (at < f->facts.record.whole || at == f->facts.record.from || f->opts.dry_run)
		return 0;
	/* a base has nothing beyond its end: what a resize has set up is read again */
	if (f->walk.end > f->report.blocks && !f->last)
		return 0;
	/* the kernel may have been changing it: the next one will be whole */
	if (f->have_logged && !rj_super_whole(f->logged))
		return 0;
	extension(f, &r, sbx);
	memcpy(raw, f->have_logged ? f->logged : f->super, sizeof(raw));
	if (f->have_logged)
		rj_super_make_base(raw, sbx);
	else
		rj_super_extend(raw, sbx);
	rc = write_super(f, raw, err);
	if (rc)
		return rc;
	f->facts.record = r;
	f->have_logged = false;
	f->place_bytes = f->report.bytes;
	f->place_ns = rj_monotonic_ns();
	return 0;
}

/* Where the base is now: also if it is not whole there, it needs the log from there on. */
static int move_hold(struct rj_follow *f, struct rj_error *err)
{
	int64_t now = rj_monotonic_ns();
	int rc;

	if (!f->opts.hold_s || f->opts.dry_run ||
		(f->hold.number && now < f->hold_ns + HOLD_NS))
		return 0;
	rc = rj_follow_move_hold(&f->log, f->opts.base, &f->facts.record, f->opts.hold_s,
		&f->hold, err);
	if (!rc)
		f->hold_ns = now;
	return rc;
}

static int settled(void *arg, uint64_t segment, struct rj_error *err)
{
	struct rj_follow *f = arg;
	int rc;

	f->settled = f->report.reached;
	f->settled.segment = segment;
	f->settled_chain = f->walk.chain;
	if (f->report.bytes < f->place_bytes + PLACE_BYTES &&
		rj_monotonic_ns() < f->place_ns + PLACE_NS)
		return 0;
	rc = put_place(f, err);
	if (!rc && f->facts.record.from == segment) /* a failure is told when the pass ends */
		move_hold(f, NULL);
	return rc;
}

static int grow(void *arg, uint64_t end, uint64_t to, struct rj_error *err)
{
	struct rj_follow *f = arg;
	uint64_t bs = f->facts.block_size;

	return rj_target_grow(f->how.fs, f->fd, f->opts.base, end * bs, to * bs, err);
}

static int progress(void *arg, uint64_t done, uint64_t total)
{
	const struct rj_follow *f = arg;

	(void)done, (void)total;
	return f->opts.stop ? f->opts.stop(f->opts.arg) : 0;
}

static void forget_walk(struct rj_follow *f)
{
	rj_hist_close(&f->walk);
	memset(&f->walk, 0, sizeof(f->walk));
	memset(&f->settled, 0, sizeof(f->settled));
	f->have_logged = false;
}

/* The walk begins where the base says, which is not always where the last pass ended. */
static int begin(struct rj_follow *f, struct rj_error *err)
{
	int rc;

	forget_walk(f);
	f->walk.store = f->log.store;
	f->walk.id = &f->log.id;
	f->walk.opts = &f->how;
	f->walk.report = &f->report;
	f->place_bytes = 0;
	f->place_ns = rj_monotonic_ns();
	f->how.base = f->facts.record;
	f->how.fs_blocks = f->facts.blocks;
	rc = rj_hist_open(&f->walk, err);
	/* of an unmounted volume no later place may be settled until the next mount */
	if (!rc && f->walk.whole && f->how.base.from == f->how.base.whole)
		f->settled = f->report.reached;
	return rc;
}

/*
 * In mode B a segment can be read that its writer never got acknowledged, and that the log
 * then goes on without: the last one is left out until another follows.
 */
static int find_end(struct rj_follow *f, uint64_t *upto, struct rj_error *err)
{
	struct rj_listing l = {0};
	int rc;

	if (*upto || f->log.store->caps.put_new)
		return 0;
	rc = rj_listing_end(f->log.store, &f->log.id, false, 0, &l, err);
	*upto = l.last > f->walk.tail.sequence ? l.last - 1 : f->walk.tail.sequence;
	rj_listing_free(&l);
	return rc;
}

/* Lock the base, and see whether it is as the last pass left it. */
static int take_base(struct rj_follow *f, struct rj_error *err)
{
	const struct rj_base_record was = f->facts.record;
	uint8_t volume[RJ_UUID_BYTES];
	int rc;

	memcpy(volume, f->facts.uuid, sizeof(volume));
	rc = rj_base_open(f->opts.base, !f->opts.dry_run, &f->fd, err);
	if (!rc)
		rc = rj_base_look(f->opts.base, &f->facts, err);
	if (!rc && f->log.store && !rj_uuid_equal(volume, f->facts.uuid))
		rc = rj_fail(err, RJ_E_FOREIGN, "%s: is a base of another volume now",
			f->opts.base);
	if (!rc)
		rc = rj_pread_all(f->fd, f->super, SUPER_BYTES, SUPER_AT, f->opts.base, err);
	if (!rc && (was.from != f->facts.record.from || was.whole != f->facts.record.whole))
		forget_walk(f);
	return rc;
}

static int advance(struct rj_follow *f, uint64_t upto, struct rj_error *err)
{
	int rc = 0, rc2;

	if (!f->walk.ring) {
		rc = begin(f, err);
		f->before.transactions = f->report.transactions; /* they were there already */
	}
	if (!rc)
		rc = find_end(f, &upto, err);
	if (!rc)
		rc = rj_hist_advance(&f->walk, upto, err);
	rc2 = put_place(f, rc ? NULL : err);
	rc = rc ? rc : rc2;
	if (rc && rc != -RJ_E_UNREACHABLE && rc != -RJ_E_CANCELLED && rc != -RJ_E_BUSY)
		rj_hist_close(&f->walk); /* what it reached is still told */
	return rc;
}

/* What is in the log and was not read. */
static int look_behind(struct rj_follow *f, struct rj_follow_state *out, struct rj_error *err)
{
	uint64_t read = f->walk.tail.sequence;
	struct rj_listing l = {0};
	int rc;

	if (read < out->at.segment)
		read = out->at.segment;
	rc = rj_listing_log(f->log.store, &f->log.id, read, 0, &l, err);
	if (!rc && l.last > read) {
		out->behind_segments = l.last - read;
		out->behind_bytes = rj_hold_bytes(&l, read + 1, UINT64_MAX);
	}
	rj_listing_free(&l);
	return rc;
}

static void tell(const struct rj_follow *f, struct rj_follow_state *out)
{
	const struct rj_history_report *r = &f->report, *before = &f->before;
	const struct rj_history_place *reached = &r->reached;

	out->whole = f->walk.whole;
	out->at.segment = f->facts.record.whole;
	if (f->settled.segment >= f->facts.record.whole) {
		out->at = f->settled;
	} else if (out->whole) { /* the journal is empty there */
		out->at = *reached;
		out->at.segment = f->facts.record.whole;
	}
	out->transactions = r->transactions - before->transactions;
	out->segments = r->segments - before->segments;
	out->bytes = r->bytes - before->bytes;
	out->later_ns = f->walk.later_ns;
	out->break_segment = r->break_segment;
	memcpy(out->break_why, r->break_why, sizeof(out->break_why));
}

/* Where the base is whole; the walk has not come to there. */
static struct rj_history_place whole(const struct rj_follow *f)
{
	struct rj_history_place p = {.segment = f->facts.record.whole};
	struct rj_seghdr h;

	if (!rj_log_fetch_header(f->log.store, &f->log.id, p.segment, &h, NULL))
		p.sealed_ns = (int64_t)h.time_ns;
	return p;
}

int rj_follow_pass(struct rj_follow *f, int64_t not_after_ns, uint64_t upto,
	struct rj_follow_state *out, struct rj_error *err)
{
	struct rj_bio *fs = NULL;
	int rc, rc2;

	memset(out, 0, sizeof(*out));
	rc = take_base(f, err);
	if (!rc && !f->opts.dry_run) {
		fs = rj_bio_new_fd(f->fd, f->opts.base, err);
		if (fs)
			rj_bio_use_direct(fs);
		else
			rc = err ? -(int)err->code : -RJ_E_NOMEM;
	}
	memset(&f->before, 0, sizeof(f->before));
	if (f->walk.ring)
		f->before = f->report;
	f->how.fs = fs;
	f->how.not_after_ns = not_after_ns;
	if (!rc)
		rc = advance(f, upto, err);
	f->how.fs = NULL;
	rj_bio_free(fs);
	tell(f, out);
	if (!rc && !out->whole)
		out->at = whole(f);
	rc2 = rj_close(&f->fd, f->opts.base, rc || f->opts.dry_run ? NULL : err);
	if (!rc && !f->opts.dry_run)
		rc = rc2;
	rc2 = look_behind(f, out, rc ? NULL : err);
	if (!rc)
		rc = rc2;
	if (rc && rc != -RJ_E_BUSY) /* who reads the base needs the hold, too */
		return rc;
	rc2 = move_hold(f, rc ? NULL : err);
	return rc ? rc : rc2;
}

int rj_follow_news(struct rj_follow *f, bool *news, struct rj_error *err)
{
	struct rj_listing l = {0};
	int rc = rj_listing_end(f->log.store, &f->log.id, false, 0, &l, err);

	/* an earlier end: the next pass tells what that is */
	*news = !rc && (!f->walk.ring || l.last < f->walk.tail.sequence ||
			l.last > f->walk.tail.sequence + !f->log.store->caps.put_new);
	rj_listing_free(&l);
	return rc;
}

int rj_follow_open(const struct rj_follow_opts *opts, struct rj_follow **out,
	struct rj_error *err)
{
	struct rj_follow *f = calloc(1, sizeof(*f));
	int rc;

	*out = NULL;
	if (!f)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	f->opts = *opts;
	f->fd = -1;
	f->how = (struct rj_history_opts){.super = f->logged,
		.have_super = &f->have_logged,
		.grow = grow,
		.progress = progress,
		.settled = settled,
		.goes_on = opts->goes_on,
		.arg = f};
	if (!opts->dry_run)
		f->how.will_apply = will_apply;
	rc = take_base(f, err);
	rj_close(&f->fd, opts->base, NULL); /* only read */
	if (!rc)
		rc = rj_base_log_open(&f->facts, opts->url, opts->keyfile, &f->log, err);
	if (rc)
		rj_follow_close(f);
	else
		*out = f;
	return rc;
}

const struct rj_base_facts *rj_follow_facts(const struct rj_follow *f)
{
	return &f->facts;
}

bool rj_follow_unmounted(const struct rj_follow *f)
{
	uint32_t tid;

	return f->walk.ring && rj_hist_unmounted(&f->walk, &tid);
}

const struct rj_hold *rj_follow_hold(const struct rj_follow *f)
{
	return &f->hold;
}

const struct rj_base_log *rj_follow_log(const struct rj_follow *f)
{
	return &f->log;
}

void rj_follow_is_last(struct rj_follow *f)
{
	f->last = true;
}

const struct rj_log_tail *rj_follow_tail(const struct rj_follow *f)
{
	return &f->walk.tail;
}

void rj_follow_close(struct rj_follow *f)
{
	if (!f)
		return;
	forget_walk(f);
	rj_base_log_close(&f->log);
	free(f);
}
