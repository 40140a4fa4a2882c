// SPDX-License-Identifier: GPL-2.0-or-later
/* Move the log of a volume in use: seed the new one, have the volume name it, close the old one. */
#include "move.h"

#include <stdio.h>
#include <string.h>

#include "journal/others.h"
#include "log/listing.h"
#include "rjournald/commit/volume-mark.h"
#include "seed.h"
#include "store/probe.h"
#include "util/log.h"

#define RETRY_MS 5000
#define LOST_MS	 1 /* one attempt */
#define PROBE_MS 300 /* the volume's writers wait */

static const uint8_t no_key[16];

static bool same_place(const struct rj_place *from, const char *url)
{
	return !strcmp(from->url, url);
}

static void place_of(const struct rj_loaded *l, struct rj_place *out)
{
	const struct rj_sbx *sbx = &l->facts.sbx;

	*out = (struct rj_place){.epoch = l->memory.shm->epoch};
	memcpy(out->url, sbx->url, sizeof(out->url));
	memcpy(out->key_fingerprint, sbx->key_fingerprint, sizeof(out->key_fingerprint));
}

static void set_place(struct rj_volume_facts *f, const struct rj_place *p)
{
	memcpy(f->sbx.url, p->url, sizeof(f->sbx.url));
	memcpy(f->sbx.key_fingerprint, p->key_fingerprint, sizeof(f->sbx.key_fingerprint));
	f->placed = true;
	f->sbx.probed = 0;
	f->sbx.probed_day = 0;
}

/* The ring is in the new log: no segment below BASE is one of it. */
static void apply(struct rj_loaded *l, const struct rj_place *p)
{
	struct rj_worker_shm *k = l->memory.shm;
	uint32_t b;

	set_place(&l->facts, p);
	if (k->epoch < p->epoch)
		k->epoch = p->epoch;
	if (k->oldest < p->base)
		k->oldest = p->base;
	if (k->acked < p->last)
		k->acked = p->last;
	for (b = 0; b < l->ring->blocks; b++)
		if (l->ring->seq[b] && l->ring->seq[b] < p->base)
			l->ring->seq[b] = p->base;
}

void rj_move_resume(struct rj_loaded *l)
{
	struct rj_move_request r;
	struct rj_place p;

	if (rj_place_get(&l->dir, &p) &&
		!(rj_move_request_get(&l->dir, &r) && p.epoch > r.from.epoch))
		apply(l, &p);
}

int rj_move_request_from(
	const struct rj_loaded *l, struct rj_move_request *r, struct rj_error *err)
{
	const struct rj_volume_facts *f = &l->facts;

	if (!f->has_sbx)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"the log of a raw device cannot be moved while it is in use");
	place_of(l, &r->from);
	if (!rj_sbx_url_valid(r->url, err))
		return -RJ_E_INVAL;
	if (f->sbx.fallback[0] && !rj_sbx_fallback_valid(r->url, f->sbx.fallback, err))
		return -RJ_E_INVAL;
	if (!strcmp(r->url, f->sbx.url))
		return r->lost ? 0
			       : rj_fail(err, RJ_E_INVAL,
					 "the log is at %s already; rjctl reseed begins a new log there",
					 r->url);
	return rj_volume_no_mark(f)
		       ? rj_fail(err, RJ_E_UNSUPPORTED,
				 "the volume has no place to note where its log went while it is mounted: %s; rjctl reseed begins a new log at the same URL; or unmount it while its store answers, then rjtune -J remote=URL",
				 rj_volume_no_mark(f))
		       : 0;
}

/* Open the log at URL, sealed as rj.conf says it of SEALED_AS, by the key of fingerprint KEY; NULL:
 * by any. */
static int open_log(const struct rj_loaded *l, const char *url, const char *sealed_as,
	const uint8_t *key, struct rj_log_sealing *sealing, struct rj_store **store,
	struct rj_log_id *id, struct rj_error *err)
{
	int rc = rj_log_sealing_load(sealed_as, NULL, key, sealing, err);

	if (!rc)
		rc = rj_store_open(url, NULL, store, err);
	if (rc)
		return rc;
	memset(id, 0, sizeof(*id));
	memcpy(id->volume_uuid, l->facts.uuid, RJ_UUID_BYTES);
	memcpy(id->journal_uuid, l->facts.sbx.journal_uuid, RJ_UUID_BYTES);
	rj_log_sealing_use(sealing, id);
	return 0;
}

static int open_old(const struct rj_loaded *l, const struct rj_place *p,
	struct rj_log_sealing *sealing, struct rj_store **store, struct rj_log_id *id,
	struct rj_error *err)
{
	return open_log(l, p->url, p->url, p->key_fingerprint, sealing, store, id, err);
}

/* The store that is left answers, and no other writer has the log. One that is lost is asked as
 * well, not for long: all that counts of it is that another writer has the log. */
static int check_old(
	const struct rj_loaded *l, const struct rj_move_request *r, struct rj_error *err)
{
	const struct rj_worker_shm *k = l->memory.shm;
	struct rj_log_sealing sealing = {0};
	struct rj_store *store = NULL;
	struct rj_log_id id;
	uint64_t newest;
	int rc;

	if (r->lost && same_place(&r->from, r->url))
		return 0;
	rc = open_old(l, &r->from, &sealing, &store, &id, err);
	if (!rc)
		rc = rj_log_successor(store, &id, k->epoch, k->nonce,
			k->begun == (uint32_t)k->epoch + 1, r->lost ? LOST_MS : RETRY_MS, &newest,
			err);
	rj_store_close(store);
	rj_log_sealing_free(&sealing);
	if (r->lost && rc != -RJ_E_FENCED)
		return 0;
	if (rc == -RJ_E_UNREACHABLE)
		rj_fail_suffix(err, "; if it is lost for good, rjctl reseed --to=%s", r->url);
	return rc;
}

/* Keep others off the old log, and mark it as left: an older copy of the volume is then told. */
static int close_old(
	const struct rj_loaded *l, const struct rj_move_request *r, struct rj_error *err)
{
	struct rj_log_claim_opts claim = {
		.clean = true, .wrote = r->from.epoch, .retry_ms = RETRY_MS};
	const struct rj_worker_shm *k = l->memory.shm;
	struct rj_log_sealing sealing = {0};
	struct rj_log_writer *w = NULL;
	struct rj_store *store = NULL;
	struct rj_log_id id;
	int rc;

	if (r->lost || same_place(&r->from, r->url) || rj_move_noted(&l->dir, "closing"))
		return 0;
	rc = rj_move_note(&l->dir, "closing", err);
	if (rc)
		return rc;
	rc = open_old(l, &r->from, &sealing, &store, &id, err);
	if (!rc)
		rc = rj_log_successor(store, &id, r->from.epoch, k->nonce, false, RETRY_MS,
			&claim.successor_of, err);
	claim.min_epoch = claim.successor_of;
	if (!rc)
		rc = rj_log_claim(store, &id, &claim, &w, err);
	rj_log_writer_free(w);
	rj_store_close(store);
	rj_log_sealing_free(&sealing);
	if (!rc || rc == -RJ_E_FENCED)
		return rc;
	rj_log(RJ_LOG_WARNING,
		"the log that was left is not marked so: %s; rjlog rm removes it", err->msg);
	return 0;
}

/* At another place the number is not known to be ours before all is there. */
static void claimed_there(void *arg, uint64_t epoch)
{
	struct rj_worker_shm *k = arg;

	k->begun = 0;
}

static int check_key(
	const struct rj_move_request *r, const struct rj_sealkey *key, struct rj_error *err)
{
	return key || !memcmp(r->from.key_fingerprint, no_key, sizeof(no_key))
		       ? 0
		       : rj_fail(err, RJ_E_KEY,
				 "%s: the log is encrypted, and rj.conf names no keyfile for it there",
				 r->url);
}

/* A log that is there already was begun after a probe, whose objects it would be in the way of. */
static int check_store(const struct rj_loaded *l, const struct rj_move_request *r,
	struct rj_store *store, const struct rj_log_id *id, struct rj_error *err)
{
	uint64_t claimed;
	uint8_t probed;
	int rc;

	rc = rj_load_check_ack(l, store, same_place(&r->from, r->url), err);
	if (rc)
		return rc;
	if (r->save || same_place(&r->from, r->url))
		return 0;
	rc = rj_listing_epoch(store, id, RETRY_MS, &claimed, err);
	if (rc || claimed)
		return rc;
	rc = rj_log_others_check(store, id, false, NULL, err);
	return rc ? rc : rj_store_probe_brief(store, id->journal_uuid, PROBE_MS, &probed, err);
}

/* The ring into a new log; *OUT says where it is. */
static int seed(struct rj_loaded *l, const struct rj_move_request *r, struct rj_place *out,
	struct rj_error *err)
{
	struct rj_worker_shm *k = l->memory.shm;
	bool same = same_place(&r->from, r->url);
	struct rj_log_claim_opts claim = {
		.begin_at = k->acked + 1,
		.allow_break = same,
		.claimed = same ? NULL : claimed_there,
		.arg = k,
		.retry_ms = RETRY_MS,
	};
	struct rj_log_sealing sealing = {0};
	struct rj_log_writer *w = NULL;
	struct rj_store *store = NULL;
	struct rj_log_id id;
	int rc;

	*out = (struct rj_place){0};
	memcpy(out->url, r->url, sizeof(out->url));
	rc = open_log(l, r->url, r->save ? r->from.url : r->url,
		same || r->save ? r->from.key_fingerprint : NULL, &sealing, &store, &id, err);
	if (!rc)
		rc = check_key(r, sealing.key, err);
	if (!rc && sealing.key)
		memcpy(out->key_fingerprint, rj_sealkey_fingerprint(sealing.key),
			sizeof(out->key_fingerprint));
	if (!rc)
		rc = check_store(l, r, store, &id, err);
	if (!rc)
		rc = rj_load_succeed(l, store, &id, &claim, err);
	if (!rc && same)
		rc = rj_move_note(&l->dir, "broken", err);
	if (!rc) {
		store->copying = true;
		rc = rj_log_claim(store, &id, &claim, &w, err);
	}
	if (!rc)
		rc = rj_seed_ring(l, w, &out->base, err);
	if (!rc) {
		out->epoch = rj_log_writer_epoch(w);
		out->last = rj_log_writer_tail(w)->sequence;
	}
	rj_log_writer_free(w);
	rj_store_close(store);
	rj_log_sealing_free(&sealing);
	return rc;
}

/* Have the volume name place P. */
static int note_place(const struct rj_loaded *l, const struct rj_place *p, struct rj_error *err)
{
	struct rj_volume_facts f = l->facts;

	set_place(&f, p);
	return rj_volume_no_mark(&f) ? 0 : rj_mark_place(l->device, &f, err);
}

/* The place is not noted: have it be the one before, for certain. */
static int undo_place(struct rj_loaded *l, const struct rj_move_request *r, struct rj_error *err)
{
	bool unwritten = err->code == RJ_E_BUSY || err->code == RJ_E_CORRUPT;
	struct rj_error why = *err;
	int rc = unwritten ? 0 : note_place(l, &r->from, err);

	if (!rc)
		rc = rj_place_put(&l->dir, &r->from, err);
	if (rc)
		err->code = RJ_E_CANCELLED; /* final: the volume may name either place */
	else
		*err = why;
	return rc ? -RJ_E_CANCELLED : 0;
}

static int move_out(struct rj_loaded *l, const struct rj_move_request *r, struct rj_place *out,
	struct rj_error *err)
{
	int rc = check_old(l, r, err);

	if (!rc)
		rc = seed(l, r, out, err);
	return rc ? rc : rj_place_put(&l->dir, out, err);
}

int rj_move_save(struct rj_loaded *l, const char *url, struct rj_error *err)
{
	struct rj_move_request r = {.lost = true, .save = true};
	struct rj_place saved;

	place_of(l, &r.from);
	snprintf(r.url, sizeof(r.url), "%s", url);
	return seed(l, &r, &saved, err);
}

/* After a failure before the volume names the new place. */
static int give_up(struct rj_loaded *l, const struct rj_move_request *r, struct rj_error *err)
{
	struct rj_worker_shm *k = l->memory.shm;

	/* for a store that is lost the volume waits in any case */
	if (rj_move_noted(&l->dir, "broken") || (r->lost && err->code == RJ_E_UNREACHABLE))
		return -(int)err->code;
	rj_log(RJ_LOG_ERROR, "the log stays at %s: %s", r->from.url, err->msg);
	k->begun = 0; /* the nonce may have sealed something */
	rj_move_request_end(&l->dir, err->msg);
	return 0;
}

void rj_move_over(const struct rj_loaded *l, const struct rj_error *why)
{
	struct rj_move_request r;

	if (rj_move_request_get(&l->dir, &r))
		rj_move_request_end(&l->dir, why->msg);
}

int rj_move(struct rj_loaded *l, struct rj_error *err)
{
	struct rj_move_request r;
	struct rj_place p;
	int rc;

	if (!rj_move_request_get(&l->dir, &r))
		return 0;
	if (!rj_place_get(&l->dir, &p) || p.epoch <= r.from.epoch) {
		rc = move_out(l, &r, &p, err);
		if (rc)
			return give_up(l, &r, err);
	}
	/* the volume names it already; a superblock that the kernel changes may wait for this */
	rc = same_place(&r.from, p.url) ? 0 : note_place(l, &p, err);
	if (rc == -RJ_E_BUSY && r.lost)
		rj_fail_suffix(err,
			", when the store is back; or rjctl stop --force saves the journal, for rjrecover --from=");
	if (rc) {
		rc = undo_place(l, &r, err);
		return rc ? rc : give_up(l, &r, err);
	}
	apply(l, &p);
	rc = close_old(l, &r, err);
	if (rc)
		return rc;
	rj_log(RJ_LOG_NOTICE, "the log of %s goes on at %s, from segment %llu", l->device, p.url,
		(unsigned long long)p.base);
	rj_move_request_end(&l->dir, NULL);
	return 0;
}
