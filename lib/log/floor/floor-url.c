// SPDX-License-Identifier: LGPL-2.1-or-later
/* Put and read floors at the floor store of rj.conf. */
#include "log/floor/floor-url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/floor-record.h"
#include "log/trim.h"
#include "segment/digest.h"
#include "store/conf.h"

#define BLOCK	   1024u
#define TRIM_EVERY 64 /* writes */

struct rj_floor_url {
	char *url;
	struct rj_log_id id; /* of the floor's log */
	uint8_t journal[RJ_UUID_BYTES];
	_Atomic bool stop;
	struct rj_store *store;
	struct rj_log_writer *writer; /* NULL: claim first */
	struct rj_log_tail last; /* what was written */
	uint64_t writes;
	uint64_t over; /* a later epoch whose writer has it; 0: none was seen */
	bool damaged;  /* what was last read there */
	bool keep;     /* what is there was not seen to be a floor: no trim */
	char untrimmed[RJ_ERROR_BYTES]; /* why the old notes stay; "": they go */
	uint8_t block[BLOCK];
};

/* Another UUID, so that it is never taken for the journal's own log. By a hash: no
 * journal can be made whose floor is another journal's log. */
static int floor_id(const struct rj_log_id *of, struct rj_log_id *out,
	struct rj_error *err)
{
	static const char word[] = "RJFLOOR1";
	uint8_t hash[RJ_SEG_HASH_BYTES];
	int rc = rj_digest(word, sizeof(word) - 1, of->journal_uuid,
		RJ_UUID_BYTES, hash, err);

	*out = *of;
	if (!rc)
		memcpy(out->journal_uuid, hash, RJ_UUID_BYTES);
	return rc;
}

int rj_floor_url_find(const char *log_url, char **out, struct rj_error *err)
{
	struct rj_conf *conf = NULL;
	int rc = rj_conf_load(log_url, &conf, err);

	*out = NULL;
	if (!rc && conf->floor && (rj_conf_section_covers(log_url, conf->floor) ||
			rj_conf_section_covers(conf->floor, log_url)))
		rc = rj_fail(err, RJ_E_INVAL,
			"floor = %s: the log's own store, which would lose both: name another one",
			conf->floor);
	if (conf && conf->floor) {
		*out = strdup(conf->floor);
		if (!*out && !rc)
			rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	}
	rj_conf_release(conf);
	return rc;
}

/* ---- reading ---- */

struct reading {
	const uint8_t *journal;
	struct rj_floor_record rec;
};

static int take(void *arg, const struct rj_segment *seg, struct rj_error *err)
{
	struct reading *r = arg;
	int rc;

	if (!seg->body.run_count)
		return 0;
	if (seg->body.block_size != BLOCK || seg->block_count != 1)
		return rj_fail(err, RJ_E_FOREIGN, "segment %llu is no floor",
			(unsigned long long)seg->header.sequence);
	rc = rj_floor_record_decode(seg->blocks, &r->rec, err);
	if (!rc && !rj_uuid_equal(r->rec.journal_uuid, r->journal))
		rc = rj_fail(err, RJ_E_FOREIGN, "it is another journal's");
	return rc;
}

/* The last record of JOURNAL in the floor OWN; all zero: none was ever noted. */
static int read_last(struct rj_store *store, const struct rj_log_id *own,
	const uint8_t *journal, int retry_ms, struct rj_floor_record *out,
	struct rj_error *err)
{
	struct rj_log_read_opts o = {.retry_ms = retry_ms};
	struct reading r = {.journal = journal};
	struct rj_log_summary sum;
	int rc = rj_log_read(store, own, &o, take, &r, &sum, err);

	memset(out, 0, sizeof(*out));
	if (!rc)
		*out = r.rec;
	return rc == -RJ_E_NOTFOUND ? 0 : rc;
}

static int ask(const char *url, const struct rj_log_id *id, int retry_ms,
	struct rj_floor_record *out, struct rj_error *err)
{
	struct rj_store *store = NULL;
	struct rj_log_id own;
	int rc = floor_id(id, &own, err);

	if (!rc)
		rc = rj_store_open(url, NULL, &store, err);
	if (rc)
		return rc;
	rc = read_last(store, &own, id->journal_uuid, retry_ms, out, err);
	rj_store_close(store);
	return rc;
}

void rj_floor_url_load(const char *log_url, const struct rj_log_id *id,
	uint64_t epoch, int retry_ms, struct rj_floor_answer *out)
{
	struct rj_floor_record rec = {0};
	struct rj_error err = {0};
	char *url = NULL;
	int rc;

	memset(out, 0, sizeof(*out));
	rc = rj_floor_url_find(log_url, &url, &err);
	if (!rc && !url)
		return;
	snprintf(out->url, sizeof(out->url), "%s", url ? url : "");
	if (!rc)
		rc = ask(url, id, retry_ms, &rec, &err);
	free(url);
	if (rc)
		snprintf(out->why, sizeof(out->why), "%s", err.msg);
	if (rc || rec.epoch < epoch)
		return;
	out->saw.epoch = rec.epoch;
	out->saw.sequence = rec.sequence;
	memcpy(out->saw.chain, rec.chain, sizeof(out->saw.chain));
}

/* ---- writing ---- */

int rj_floor_url_new(const char *url, const struct rj_log_id *id,
	struct rj_floor_url **out, struct rj_error *err)
{
	struct rj_floor_url *f = calloc(1, sizeof(*f));
	int rc;

	*out = NULL;
	if (f)
		f->url = strdup(url);
	rc = f && f->url ? floor_id(id, &f->id, err)
			 : rj_fail(err, RJ_E_NOMEM, "out of memory");
	if (rc) {
		rj_floor_url_free(f);
		return rc;
	}
	memcpy(f->journal, id->journal_uuid, RJ_UUID_BYTES);
	*out = f;
	return 0;
}

static int fail_over(const struct rj_floor_url *f, struct rj_error *err)
{
	return rj_fail(err, RJ_E_FENCED,
		"%s: a later writer, of epoch %llu, keeps the floor there",
		f->url, (unsigned long long)f->over);
}

static void drop(struct rj_floor_url *f)
{
	rj_log_writer_free(f->writer);
	f->writer = NULL;
	rj_store_close(f->store);
	f->store = NULL;
}

/* Has a writer of a later epoch than EPOCH noted something? Then this one is over. A
 * damaged floor does not say it. */
static int judge(struct rj_floor_url *f, uint64_t epoch, struct rj_error *err)
{
	struct rj_floor_record rec;
	int rc = read_last(f->store, &f->id, f->journal, 1, &rec, err);

	f->damaged = rc == -RJ_E_CORRUPT || rc == -RJ_E_GAP;
	if (rc || rec.epoch <= epoch)
		return f->damaged ? 0 : rc;
	f->over = rec.epoch;
	return fail_over(f, err);
}

/* A damaged floor is continued: it is of no use. Another's log is not touched. */
static int claim(struct rj_floor_url *f, uint64_t epoch, struct rj_error *err)
{
	struct rj_store_opts so = {.give_up = &f->stop};
	struct rj_log_claim_opts o = {.retry_ms = 1};
	int rc = rj_store_open(f->url, &so, &f->store, err);

	if (!rc)
		rc = judge(f, epoch, err);
	o.allow_break = f->damaged;
	f->keep = f->damaged;
	if (!rc)
		rc = rj_log_claim(f->store, &f->id, &o, &f->writer, err);
	if (!rc) /* what arrived since */
		rc = judge(f, epoch, err);
	if (rc)
		drop(f);
	return rc;
}

static int append(struct rj_floor_url *f, const struct rj_log_tail *tail,
	struct rj_error *err)
{
	static const struct rj_seg_run run = {0, 1};
	const struct rj_log_append a = {
		.body = {.block_size = BLOCK, .journal_blocks = 1},
		.runs = &run,
		.run_count = 1,
		.ring = f->block,
		.base = true,
	};
	struct rj_floor_record rec = {
		.generation = f->writes + 1,
		.epoch = tail->epoch,
		.sequence = tail->sequence,
	};

	memcpy(rec.journal_uuid, f->journal, RJ_UUID_BYTES);
	memcpy(rec.chain, tail->chain, sizeof(rec.chain));
	rj_floor_record_encode(&rec, f->block);
	return rj_log_append(f->writer, &a, err);
}

/* What stays there is only a little more. */
static void trim(struct rj_floor_url *f)
{
	struct rj_log_trim_opts o = {
		.below = rj_log_writer_tail(f->writer)->sequence,
		.epoch = rj_log_writer_epoch(f->writer),
		.retry_ms = 1,
	};
	struct rj_log_trim_report report;
	struct rj_error err;
	int rc = rj_log_trim(f->store, &f->id, &o, &report, &err);

	snprintf(f->untrimmed, sizeof(f->untrimmed), "%s", rc ? err.msg : "");
}

int rj_floor_url_write(struct rj_floor_url *f, const struct rj_log_tail *tail,
	struct rj_error *err)
{
	struct rj_error own;
	int rc = 0;

	if (!err)
		err = &own;
	if (tail->sequence == f->last.sequence && tail->epoch == f->last.epoch)
		return 0;
	if (f->over)
		return fail_over(f, err);
	if (!f->writer)
		rc = claim(f, tail->epoch, err);
	else if (rj_log_pending(f->writer))
		rc = rj_log_retry(f->writer, err);
	if (!rc)
		rc = append(f, tail, err);
	if (!rc) {
		f->last = *tail;
		if (f->writes++ % TRIM_EVERY == 0 && !f->keep)
			trim(f);
	} else if (f->writer && (!rj_log_pending(f->writer) ||
			err->cause == RJ_CAUSE_MISSING)) {
		/* a store that lost what it had never takes what follows */
		drop(f);
	}
	return rc;
}

const char *rj_floor_url_untrimmed(const struct rj_floor_url *f)
{
	return f->untrimmed;
}

void rj_floor_url_stop(struct rj_floor_url *f)
{
	f->stop = true;
}

void rj_floor_url_free(struct rj_floor_url *f)
{
	if (!f)
		return;
	drop(f);
	free(f->url);
	free(f);
}
