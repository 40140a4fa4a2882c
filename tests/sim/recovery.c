// SPDX-License-Identifier: GPL-2.0-or-later
#include "recovery.h"

#include <stdlib.h>
#include <string.h>

#include "format/fallback-hdr.h"
#include "jbd2/jbd2.h"
#include "util/bytes.h"
#include "util/environ.h"

#define RETRY_MS 3000

void sim_new_fallback(int host)
{
	struct rj_bio *disk = sim_disk(host);
	uint8_t slot[RJ_FALLBACK_ALIGN] = {0};
	struct rj_fallback_header h = {
		.generation = 2,
		.area_bytes = disk->size_bytes - RJ_FALLBACK_AREA,
	};
	int i;

	memcpy(h.volume_uuid, shared.id.volume_uuid, RJ_UUID_BYTES);
	memcpy(h.journal_uuid, shared.id.journal_uuid, RJ_UUID_BYTES);
	for (i = 0; i < 2; i++, h.generation++) {
		rj_fallback_header_encode(&h, slot);
		disk->write(disk, slot, sizeof(slot),
			h.generation % 2 * RJ_FALLBACK_ALIGN, NULL);
	}
	disk->flush(disk, NULL);
	if (world.broken == SIM_NO_MARK || world.broken == SIM_NO_FLUSH) {
		/* the rule is about what comes later */
		enum sim_rule broken = world.broken;

		world.broken = SIM_ALL_KEPT;
		disk->flush(disk, NULL);
		world.broken = broken;
	}
	rj_bio_free(disk);
}

/* An empty journal whose first transaction is TID, as a base. */
static int put_base(struct sim_host *h, uint32_t tid, bool recovered,
	struct rj_error *err)
{
	struct rj_seg_run run = {0, TK_SB + 1};
	struct rj_log_append a = {
		.body = {.block_size = TK_SIZE, .journal_blocks = TK_BLOCKS},
		.runs = &run,
		.run_count = 1,
		.base = true,
		.recovered = recovered,
	};
	uint8_t uuid[RJ_UUID_BYTES] = {1};
	int rc, tries;
	uint32_t b;

	rj_ring_free(h->ring);
	h->ring = NULL;
	rc = rj_ring_new(TK_SIZE, TK_BLOCKS, &h->ring, err);
	if (rc)
		return rc;
	rj_jbd2_sb_format_external(h->ring->data + TK_SB * TK_SIZE, TK_SIZE,
		TK_BLOCKS, uuid, uuid, tid);
	a.ring = h->ring->data;
	rc = rj_log_append(h->writer, &a, err);
	for (tries = 0; rc == -RJ_E_UNREACHABLE && tries < 10; tries++) {
		rj_sleep_ns(200 * SIM_MS);
		rc = rj_log_retry(h->writer, err);
	}
	for (b = 0; b <= TK_SB; b++)
		h->ring->seq[b] = rj_log_writer_tail(h->writer)->sequence;
	return rc;
}

int sim_new_log(struct rj_error *err)
{
	struct rj_log_claim_opts o = {.new_log = true};
	struct sim_host *h = &hosts[0];
	int rc;

	h->store = sim_store(0);
	rc = rj_log_claim(h->store, &shared.id, &o, &h->writer, err);
	if (!rc)
		rc = put_base(h, shared.next_tid, false, err);
	if (!rc) {
		shared.epoch = rj_log_writer_epoch(h->writer);
		shared.floor = rj_log_writer_tail(h->writer)->sequence;
	}
	rj_log_writer_free(h->writer);
	rj_store_close(h->store);
	rj_ring_free(h->ring);
	h->writer = NULL;
	h->store = NULL;
	h->ring = NULL;
	return rc;
}

/* ---- replay, into the model's volume ---- */

static uint32_t advance(uint32_t b)
{
	return b + 1 == TK_BLOCKS ? TK_FIRST : b + 1;
}

/* The data blocks after a descriptor; returns the life that wrote them, 0 if
 * they are not of one piece. */
static uint32_t walk_data(
	const uint8_t *ring, uint32_t *b, uint32_t n, uint32_t tid, uint32_t life)
{
	const uint8_t *data;
	uint32_t i;

	for (i = 0; i < n; i++, *b = advance(*b)) {
		data = ring + (size_t)*b * TK_SIZE;
		if (rj_get_be32(data + 16) != tid ||
			rj_get_be32(data + 20) != i ||
			rj_get_be32(data + 24) != life)
			life = 0;
	}
	return life;
}

static void replayed(uint32_t life, uint32_t tid)
{
	struct sim_life *l = &shared.lives[life];

	if (!life || life > shared.life_count || tid < l->first ||
		tid > l->issued) {
		sim_bad("transaction %u in the log is damaged, or nobody's",
			tid);
		return;
	}
	if (tid > l->applied)
		l->applied = tid;
}

static int replay(const struct rj_ring *r, struct rj_error *err)
{
	enum rj_jbd2_block_type type;
	struct rj_jbd2_sb sb;
	uint32_t b, tid, want, life = 0, laps, n;
	const uint8_t *block;
	int rc;

	rc = rj_jbd2_sb_decode(r->data + TK_SB * TK_SIZE, &sb, err);
	if (rc)
		return rc;
	want = sb.sequence;
	for (b = sb.start, laps = 0; b && laps < TK_BLOCKS; laps++) {
		block = r->data + (size_t)b * TK_SIZE;
		if (!rj_jbd2_block_header(block, &type, &tid) || tid != want)
			break;
		b = advance(b);
		if (type == RJ_JBD2_COMMIT) {
			replayed(life, want++);
		} else if (type == RJ_JBD2_DESCRIPTOR) {
			n = rj_get_be32(block + 12) & (TK_BLOCKS - 1);
			life = walk_data(r->data, &b, n, want,
				rj_get_be32(block + 24));
		}
	}
	sim_say("replayed transactions %u to %u", sb.sequence, want - 1);
	return 0;
}

/* Everything that was acknowledged is in the volume. */
static void check_model(void)
{
	const struct sim_life *l;
	uint32_t must;
	unsigned i;

	for (i = 1; i <= shared.life_count; i++) {
		l = &shared.lives[i];
		must = l->given_up ? l->acked_remote : l->acked;
		if (l->applied < must)
			sim_bad("life %u of host %d: acknowledged up to transaction %u, recovered up to %u",
				i, l->host, must, l->applied);
	}
}

/* --accept-loss: what a host's fallback file alone holds is given up. */
static void give_up(int host)
{
	unsigned i;

	for (i = 1; i <= shared.life_count; i++)
		if (shared.lives[i].host == host)
			shared.lives[i].given_up = true;
}

/* ---- the steps ---- */

struct reading {
	struct rj_ring *ring;
};

static int take(void *arg, const struct rj_segment *seg, struct rj_error *err)
{
	struct reading *r = arg;

	return seg->body.run_count ? rj_ring_apply(r->ring, seg, err) : 0;
}

static int new_ring(struct sim_host *h, struct rj_error *err)
{
	rj_ring_free(h->ring);
	h->ring = NULL;
	return rj_ring_new(TK_SIZE, TK_BLOCKS, &h->ring, err);
}

/* What the fallback file holds goes to the store first. */
static int bring(struct sim_host *h, bool accept, struct rj_error *err)
{
	struct rj_fallback_facts f;
	bool taken = false;
	int rc;

	if (shared.on_loss != RJ_LOSS_LOCAL)
		return 0;
	rc = rj_fallback_open(h->disk, &shared.id, &h->fallback, err);
	if (rc)
		return rc;
	rj_fallback_facts(h->fallback, &f);
	sim_say("host %d: fallback file: state %d, segments %llu to %llu", h->n,
		(int)f.state, (unsigned long long)f.next,
		(unsigned long long)f.last);
	if (shared.last_host != h->n && !accept &&
		world.broken != SIM_NO_REFUSAL)
		return rj_fail(err, RJ_E_REFUSED,
			"the fallback file is on another host");
	if (world.broken == SIM_NO_SHIP)
		rj_fallback_give_up(h->fallback, NULL);
	else if (f.state == RJ_FALLBACK_LOCAL)
		rc = rj_fallback_ship(h->fallback, h->store, &shared.id,
			RETRY_MS, NULL, &taken, err);
	if (taken && accept) {
		give_up(h->n);
		rc = rj_fallback_give_up(h->fallback, err);
	}
	rj_fallback_facts(h->fallback, &f);
	if (!rc && f.state == RJ_FALLBACK_GIVEN_UP) { /* it is put aside */
		rj_fallback_close(h->fallback);
		h->fallback = NULL;
		sim_new_fallback(h->n);
		rc = rj_fallback_open(h->disk, &shared.id, &h->fallback, err);
	}
	return rc;
}

/* What came between the reading and our fence. */
static int read_rest(struct sim_host *h, struct rj_log_read_opts *o,
	const struct rj_log_summary *sum, struct rj_error *err)
{
	struct reading r = {0};
	struct rj_log_summary more;
	bool holds;
	int rc;

	rc = rj_log_still_contains(
		h->store, &shared.id, &sum->tail, h->writer,
		RETRY_MS, &holds, err);
	if (rc)
		return rc;
	if (holds)
		o->resume = &sum->tail;
	else
		rc = new_ring(h, err);
	r.ring = h->ring;
	if (!rc)
		rc = rj_log_read(
			h->store, &shared.id, o, take, &r, &more, err);
	if (!rc && more.tail.sequence != rj_log_writer_tail(h->writer)->sequence)
		rc = rj_fail(err, RJ_E_FENCED, "another writer took over");
	return rc;
}

static int gather_and_claim(
	struct sim_host *h, bool accept, struct rj_error *err)
{
	struct rj_log_read_opts o = {
		.floor = shared.floor, .retry_ms = RETRY_MS};
	struct rj_log_claim_opts c = {
		.min_epoch = shared.epoch, .retry_ms = RETRY_MS};
	struct rj_log_summary sum;
	struct reading r;
	int i, rc;

	rc = new_ring(h, err);
	r.ring = h->ring;
	if (!rc)
		rc = rj_log_read(
			h->store, &shared.id, &o, take, &r, &sum, err);
	for (i = 0; i < SIM_HOSTS; i++)
		hosts[i].challenged |= hosts[i].up && i != h->n;
	if (accept && shared.last_host != h->n) /* our fence may do it */
		give_up(shared.last_host);
	if (!rc)
		rc = rj_log_claim(h->store, &shared.id, &c, &h->writer, err);
	if (rc)
		return rc;
	h->fence = rj_log_writer_tail(h->writer)->sequence;
	for (i = 0; i < SIM_HOSTS; i++)
		hosts[i].over |= hosts[i].up && i != h->n;
	if (world.broken == SIM_NO_REREAD)
		return 0;
	return read_rest(h, &o, &sum, err);
}

int sim_recover(struct sim_host *h, bool accept, struct rj_error *err)
{
	int rc;

	rc = bring(h, accept, err);
	if (!rc)
		rc = gather_and_claim(h, accept, err);
	if (rc)
		return rc;
	rc = replay(h->ring, err);
	if (rc)
		return rc;
	check_model();
	rc = put_base(h, shared.next_tid, true, err);
	if (rc)
		return rc;
	shared.epoch = rj_log_writer_epoch(h->writer);
	shared.floor = rj_log_writer_tail(h->writer)->sequence;
	return 0;
}
