// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A base of a volume. The order is what counts (doc/history.md): the end of the
 * log is noted, then the device is read, past the page cache, then all is committed and
 * shipped, and that end of the log is noted. The superblock is first one of an unfinished
 * base, which nothing takes, and made that of a base last. Of a volume that is not mounted
 * both ends are the note of its unmount.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ext4/check.h"
#include "ext4/in-use.h"
#include "ext4/renew.h"
#include "history/base.h"
#include "history/base/copy.h"
#include "history/base/source.h"
#include "history/base/target.h"
#include "history/hold.h"
#include "log/hold.h"
#include "os/fileio.h"
#include "store/conf.h"
#include "util/environ.h"

#define SUPER_AT    1024u
#define SUPER_BYTES 1024u
#define HEAD        4096u /* of the device: the superblock is in it, however it is read */

struct making {
	const char *out;
	const struct rj_base_opts *opts;
	struct rj_base_facts *facts;
	struct rj_source from;
	int to; /* a descriptor; -1 */
	bool begun;   /* OUT was changed */
	struct rj_upload *up; /* OUT is a URL; else NULL */
	uint8_t super[SUPER_BYTES]; /* the last one of the log up to record.whole */
	bool have_super;
	_Alignas(HEAD) uint8_t head[HEAD]; /* of the base */
	struct rj_base_log log;
};

static int check_volume(struct making *m, struct rj_error *err)
{
	const struct rj_volume_facts *f;
	struct rj_volume *v = NULL;
	int rc = rj_volume_open(m->from.device, 0, NULL, &v, err);

	if (rc)
		return rc;
	f = rj_volume_facts(v);
	if (!f->has_sbx || f->sbx.placement != RJ_PLACE_REMOTE)
		rc = rj_fail(err, RJ_E_REFUSED,
			"%s: its journal is not remote: rjtune -J remote=URL moves it",
			m->from.device);
	else if (!m->from.mounted && rj_volume_verdict(f) == RJ_VERDICT_REPLAY)
		rc = rj_fail(err, RJ_E_REFUSED,
			"%s: needs recovery: run rjrecover -p %s, and mount it once, as type rj with data=journal",
			m->from.given, m->from.given);
	else if (f->fast_commit)
		rc = rj_fail(err, RJ_E_REFUSED,
			"%s: the feature fast_commit leaves out of the log what a history needs",
			m->from.device);
	else if (f->inline_data)
		rc = rj_fail(err, RJ_E_REFUSED,
			"%s: with the feature inline_data the kernel logs two copies of a block in one transaction, an older one last (mmap): move the files to a volume without it",
			m->from.device);
	memcpy(m->facts->uuid, f->uuid, RJ_UUID_BYTES);
	m->facts->sbx = f->sbx;
	m->facts->block_size = f->block_size;
	m->facts->blocks = f->blocks;
	rj_volume_close(v, NULL); /* it was only read */
	return rc;
}

static int check_kept(const struct making *m, struct rj_error *err)
{
	struct rj_conf *conf = NULL;
	int rc = rj_conf_load(m->facts->sbx.url, &conf, err);

	if (!rc && !conf->retain_s)
		rc = rj_fail(err, RJ_E_REFUSED,
			"%s: the log would be deleted as the kernel needs it no more: give --hold=TIME, or set \"retain\" for it in rj.conf, and run rjctl restart",
			m->facts->sbx.url);
	rj_conf_release(conf);
	return rc;
}

static int log_end(struct making *m, uint64_t *last, struct rj_error *err)
{
	struct rj_listing l = {0};
	int rc = rj_listing_end(m->log.store, &m->log.id, false, 0, &l, err);

	*last = l.last;
	rj_listing_free(&l);
	return rc;
}

/*
 * The volume is not mounted. Is the log's last word the note of its unmount, and is the volume
 * as that left it? *AT is that segment.
 */
static int find_unmount(struct making *m, uint64_t *at, struct rj_error *err)
{
	struct rj_history_opts walk = {.at.kind = RJ_AT_SEGMENT};
	struct rj_history_report report;
	int rc = log_end(m, at, err);

	if (rc)
		return rc;
	walk.base = (struct rj_base_record){.from = *at, .whole = *at};
	walk.at.segment = *at;
	rc = rj_history_walk(m->log.store, &m->log.id, &walk, &report, err);
	/* in mode B a segment need not belong to the log if a newer epoch is claimed */
	if (!rc && (!report.unmounted || report.claimed))
		rc = rj_fail(err, RJ_E_REFUSED,
			"%s: its log does not end with the note of an unmount (never mounted as type rj, or recovered and not mounted since): mount and unmount it once, as type rj with data=journal, or make a base of the mounted volume",
			m->from.given);
	return rc ? rc : rj_source_is_left(&m->from, report.left, err);
}

/* What the record says of segment NUMBER. */
static int note_chain(struct making *m, uint64_t number, struct rj_error *err)
{
	struct rj_log_tail at;
	int rc = rj_log_fetch_place(m->log.store, &m->log.id, number, 0, &at, err);

	m->facts->record.chain = rc ? 0 : rj_base_chain(at.chain);
	return rc;
}

/*
 * Where the log begins. A walk must not begin with an empty journal, if that is not by an
 * unmount: it cannot know whether a number is skipped next, as after a mount, or not, as after
 * a freeze, and would go on over an unmount.
 */
static int begin_at(struct making *m, struct rj_error *err)
{
	int rc;

	if (!m->from.mounted)
		return find_unmount(m, &m->facts->record.from, err);
	rj_source_fill_journal(&m->from);
	rc = m->opts->shipped(m->opts->arg, m->facts->uuid, err);
	return rc ? rc : log_end(m, &m->facts->record.from, err);
}

/* From here on the log is kept, and here it begins: in this order. */
static int begin_log(struct making *m, struct rj_error *err)
{
	int rc = 0;

	if (m->up)
		rc = rj_base_resume(m->up, &m->log, m->opts->hold_s, m->facts, err);
	if (rc || m->facts->record.from)
		return rc;
	if (m->opts->hold_s)
		rc = rj_hold_put(m->log.store, &m->log.id, "rjbackup",
			m->opts->hold_s, &m->facts->hold, err);
	if (rc)
		return rc;
	rc = begin_at(m, err);
	if (!rc && m->up)
		rc = note_chain(m, m->facts->record.from, err);
	if (!rc && m->up)
		rc = rj_upload_begin(
			m->up, &m->facts->record, m->facts->hold.number, err);
	return rc;
}

/* A base that is written to the volume that it copies is lost with that. */
static int check_elsewhere(const struct making *m, struct rj_error *err)
{
	struct stat to, dir;

	if (!m->from.mounted)
		return 0;
	if (fstat(m->to, &to) || fstat(m->from.dir_fd, &dir))
		return rj_fail_errno(err, errno, "%s", m->out);
	if (to.st_dev == dir.st_dev)
		return rj_fail(err, RJ_E_REFUSED,
			"%s: is on the volume that it is to be a base of: make it on another disk",
			m->out);
	return 0;
}

static int open_files(struct making *m, struct rj_error *err)
{
	uint64_t bytes = m->facts->blocks * m->facts->block_size;
	int rc;

	if (rj_base_is_url(m->out))
		return rj_upload_open(m->out, &m->log.id, m->facts->block_size,
			m->facts->blocks, &m->up, err);
	rc = rj_base_create(m->out, bytes, &m->to, err);
	m->begun = !rc || !rj_target_is_device(m->out);
	return rc ? rc : check_elsewhere(m, err);
}

/* A base has one size, from the beginning to record.whole. */
static int check_size(const struct making *m, uint64_t blocks, struct rj_error *err)
{
	if (blocks == m->facts->blocks)
		return 0;
	return rj_fail(err, RJ_E_REFUSED,
		"%s: is being grown: make the base when that is done", m->from.given);
}

/* What is in use by SUPER, and by the log up to record.from, whose last superblock goes into
 * m->super. */
static int look(struct making *m, const uint8_t super[SUPER_BYTES], struct rj_in_use **used,
	struct rj_history_report *report, struct rj_error *err)
{
	struct rj_history_opts walk = {
		.base = {.from = m->facts->record.from, .whole = m->facts->record.from},
		.at = {.kind = RJ_AT_SEGMENT, .segment = m->facts->record.from},
		.super = m->super,
		.have_super = &m->have_super,
	};
	int rc = rj_in_use_new(m->from.fd, m->from.device, super, used, err);

	if (rc)
		return rc;
	walk.fs = rj_in_use_bio(*used);
	return rj_history_walk(m->log.store, &m->log.id, &walk, report, err);
}

/*
 * What is in use: RAW was the superblock a moment ago. The bitmaps on the device can be older
 * than the journal, so those that it holds up to record.from replace them. So can the superblock
 * be, from before a resize whose other blocks are all on the device.
 */
static int look_used(struct making *m, const uint8_t raw[SUPER_BYTES], struct rj_in_use **used,
	struct rj_error *err)
{
	uint8_t logged[SUPER_BYTES];
	uint64_t blocks = rj_super_blocks(raw);
	struct rj_history_report report;
	int rc = look(m, raw, used, &report, err);

	if (!rc && m->have_super && rj_super_blocks(m->super) != blocks) {
		memcpy(logged, m->super, sizeof(logged));
		blocks = rj_super_blocks(logged);
		rj_in_use_free(*used);
		*used = NULL;
		rc = look(m, logged, used, &report, err);
	}
	if (!rc && report.emptied && !report.unmounted)
		rc = rj_fail(err, RJ_E_REFUSED,
			"%s: its journal is empty, so that the log could not tell this mount from another one: write something there, and try again",
			m->from.dir);
	return rc ? rc : check_size(m, blocks, err);
}

static int copy_progress(void *arg, uint64_t done, uint64_t total)
{
	const struct rj_base_opts *o = ((struct making *)arg)->opts;

	return o->progress ? o->progress(o->arg, 1, done, total) : 0;
}

static int log_progress(void *arg, uint64_t done, uint64_t total)
{
	const struct rj_base_opts *o = ((struct making *)arg)->opts;

	return o->progress ? o->progress(o->arg, 2, done, total) : 0;
}

/* All blocks in use but the superblock. */
static int copy(struct making *m, const uint8_t raw[SUPER_BYTES], struct rj_error *err)
{
	struct rj_copy c = {
		.from = m->from.device,
		.to = m->out,
		.from_fd = m->from.fd,
		.to_fd = m->to,
		.begin = HEAD,
		.bytes = m->facts->blocks * m->facts->block_size,
		.rate = m->opts->rate,
		.progress = copy_progress,
		.arg = m,
	};
	int rc = look_used(m, raw, &c.used, err);

	if (!rc)
		rc = m->up ? rj_upload_copy(m->up, &c, &m->facts->copied, err)
			   : rj_copy_sparse(&c, &m->facts->copied, err);
	rj_in_use_free(c.used);
	if (!rc)
		rc = rj_pread_all(m->from.fd, m->head, HEAD, 0, m->from.device, err);
	if (rc || m->up)
		return rc;
	rc = rj_pwrite_all(m->to, m->head, SUPER_AT, 0, m->out, err);
	return rc ? rc : rj_pwrite_all(m->to, m->head + SUPER_AT + SUPER_BYTES,
				 HEAD - SUPER_AT - SUPER_BYTES, SUPER_AT + SUPER_BYTES,
				 m->out, err);
}

static int put_super(struct making *m, const struct rj_base_record *record,
	struct rj_error *err)
{
	uint8_t raw[SUPER_BYTES], sbx[RJ_SBX_BYTES];
	int rc = rj_source_super(&m->from, raw, err);

	/* as in look_used() */
	if (!rc && record->from && m->have_super && rj_super_whole(m->super) &&
		rj_super_blocks(raw) < rj_super_blocks(m->super))
		memcpy(raw, m->super, sizeof(raw));
	if (!rc && record->from)
		rc = check_size(m, rj_super_blocks(raw), err);
	if (rc)
		return rc;
	memcpy(sbx, raw + RJ_SBX_OFFSET, sizeof(sbx));
	rj_sbx_base_put(sbx, record);
	rj_super_make_base(raw, sbx);
	if (m->up) {
		memcpy(m->head + SUPER_AT, raw, SUPER_BYTES);
		return rj_upload_finish(m->up, m->head, record, err);
	}
	rc = rj_fsync(m->to, m->out, err);
	if (!rc)
		rc = rj_pwrite_all(
			m->to, raw, sizeof(raw), SUPER_AT, m->out, err);
	return rc ? rc : rj_fsync(m->to, m->out, err);
}

/* All is committed, and at the store; where does that end? */
static int finish_log(struct making *m, struct rj_error *err)
{
	int rc;

	if (!m->from.mounted)
		return find_unmount(m, &m->facts->record.whole, err);
	if (syncfs(m->from.dir_fd))
		return rj_fail_errno(err, errno, "%s: syncfs", m->from.dir);
	rc = m->opts->shipped(m->opts->arg, m->facts->uuid, err);
	if (!rc)
		rc = log_end(m, &m->facts->record.whole, err);
	/* it is the same mount still, and was all the time: the folder is open */
	return rc ? rc : rj_source_check_mount(&m->from, err);
}

static int make(struct making *m, struct rj_history_report *report,
	struct rj_error *err)
{
	struct rj_history_opts walk = {
		.fs_blocks = m->facts->blocks,
		.super = m->super,
		.have_super = &m->have_super,
		.progress = log_progress,
		.arg = m,
	};
	uint8_t raw[SUPER_BYTES];
	int rc;

	rc = rj_random_bytes(&m->facts->record.id, sizeof(m->facts->record.id));
	if (rc)
		return rj_fail(err, (enum rj_code)-rc, "no random bytes");
	rc = open_files(m, err); /* so that a mistyped name makes no hold */
	if (!rc && !m->up) /* at once: what a cut leaves is known as unfinished */
		rc = put_super(m, &RJ_BASE_UNFINISHED, err);
	if (!rc)
		rc = begin_log(m, err);
	if (!rc)
		rc = rj_source_super(&m->from, raw, err);
	if (!rc)
		rc = copy(m, raw, err);
	if (!rc)
		rc = finish_log(m, err);
	if (!rc)
		rc = note_chain(m, m->facts->record.whole, err);
	walk.base = m->facts->record;
	walk.at.kind = RJ_AT_SEGMENT;
	walk.at.segment = m->facts->record.whole;
	if (!rc)
		rc = rj_history_walk(
			m->log.store, &m->log.id, &walk, report, err);
	if (!rc)
		rc = check_size(m, report->blocks, err);
	if (!rc)
		rc = rj_base_hold_check(&m->log, m->facts, err);
	m->facts->record.hold = m->facts->hold.number;
	return rc ? rc : put_super(m, &m->facts->record, err);
}

static int check(struct making *m, const char *given, struct rj_error *err)
{
	uint64_t at;
	int rc = rj_source_open(given, &m->from, err);

	if (!rc)
		rc = rj_source_check_mount(&m->from, err);
	if (!rc)
		rc = check_volume(m, err);
	if (!rc && !m->opts->hold_s)
		rc = check_kept(m, err);
	if (!rc)
		rc = rj_base_log_open(
			m->facts, NULL, m->opts->keyfile, &m->log, err);
	/* so that a refusal makes no hold */
	if (!rc)
		rc = rj_base_log_check_end(m->facts, &m->log,
			"; put the store's end back first", err);
	if (!rc && !m->from.mounted)
		rc = find_unmount(m, &at, err);
	return rc;
}

/* A base at a store that was only cut off stays, with its hold, to be gone on with. */
static void give_up(struct making *m, int rc, struct rj_error *err)
{
	bool lost = rc == -RJ_E_REFUSED || rc == -RJ_E_GAP || rc == -RJ_E_CORRUPT ||
		    rc == -RJ_E_EXISTS;
	uint64_t number = m->up ? rj_upload_number(m->up) : 0;

	if (number && !lost) {
		rj_fail_suffix(err, "; the same command goes on with base %llu",
			(unsigned long long)number);
		return;
	}
	if (m->up && rj_upload_drop(m->up, NULL) == -RJ_E_EXISTS) {
		rj_fail_suffix(err, "; base %llu, which another rjbackup has finished, stays",
			(unsigned long long)number);
		return;
	}
	rj_base_hold_drop(&m->log, m->facts, err);
	if (m->begun)
		rj_base_discard(m->out, err);
}

int rj_base_make(const char *given, const char *out,
	const struct rj_base_opts *opts, struct rj_base_facts *facts,
	struct rj_history_report *report, struct rj_error *err)
{
	struct making m = {.out = out, .opts = opts, .facts = facts, .to = -1};
	int rc, rc2;

	memset(facts, 0, sizeof(*facts));
	memset(report, 0, sizeof(*report));
	rc = check(&m, given, err);
	if (!rc && !opts->dry_run)
		rc = make(&m, report, err);
	m.begun = m.begun && m.to >= 0;
	rc2 = rj_close(&m.to, out, rc ? NULL : err);
	rj_source_close(&m.from);
	if (!rc)
		rc = rc2;
	if (rc)
		give_up(&m, rc, err);
	facts->number = m.up ? rj_upload_number(m.up) : 0;
	rj_upload_free(m.up);
	rj_base_log_close(&m.log);
	return rc;
}
