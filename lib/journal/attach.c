// SPDX-License-Identifier: LGPL-2.1-or-later
/* Begin a remote log, and make it the journal of a volume without one. */
#include "journal/attach.h"

#include <stdlib.h>
#include <string.h>

#include "ext4/check.h"
#include "ext4/volume.h"
#include "jbd2/jbd2.h"
#include "journal/move-priv.h"
#include "journal/others.h"
#include "log/fallback/fallback-log.h"
#include "log/log.h"
#include "log/sealing.h"
#include "store/probe.h"
#include "store/store.h"
#include "util/environ.h"
#include "util/log.h"

#define MIN_BLOCKS 1024 /* as mke2fs -J size= */
#define MAX_BLOCKS 10240000
#define DAY_NS     (24 * 3600 * 1000000000LL)

int rj_attach_blocks(const struct rj_journal_opts *opts, uint32_t block_size,
	uint64_t volume_blocks, uint32_t *out, struct rj_error *err)
{
	uint32_t standard = rj_journal_blocks_for(volume_blocks);
	uint32_t least;
	uint64_t blocks;

	if (!standard)
		return rj_fail(err, RJ_E_INVAL,
			"a volume of %llu blocks is too small for a journal; "
			"it "
			"needs 2048 blocks at least",
			(unsigned long long)volume_blocks);
	blocks = opts->size_mb ? ((uint64_t)opts->size_mb << 20) / block_size
			       : standard;
	if (blocks < MIN_BLOCKS || blocks > MAX_BLOCKS)
		return rj_fail(err, RJ_E_INVAL,
			"a journal of %u MB has %llu blocks of %u bytes; it "
			"must "
			"have between %d and %d: give a size from %llu to %llu",
			opts->size_mb, (unsigned long long)blocks, block_size,
			MIN_BLOCKS, MAX_BLOCKS,
			((unsigned long long)MIN_BLOCKS * block_size +
				(1u << 20) - 1) >>
				20,
			(unsigned long long)MAX_BLOCKS * block_size >> 20);
	/*
	 * The kernel wants the 1024 (JBD2_MIN_JOURNAL_BLOCKS) without what
	 * precedes the log on a device: journal_reset() in
	 * fs/jbd2/journal.c counts from s_first less one.
	 */
	least = rj_jbd2_device_sb_block(block_size) + MIN_BLOCKS;
	*out = blocks < least ? least : (uint32_t)blocks;
	return 0;
}

int rj_attach_features(const char *device, const struct rj_volume_facts *f,
	struct rj_error *err)
{
	if (f->inline_data)
		rj_log(RJ_LOG_WARNING,
			"warning: %s has inline_data: what fdatasync(2) says is stable of a very small file can be gone after a crash, wherever the journal is; so can what fsync(2) says is stable after mmap(2) or fallocate(2) of it",
			device);
	if (f->mmp)
		return rj_fail(err, RJ_E_REFUSED,
			"%s: has the mmp feature, and nothing serves the remote journal of such a volume, which has its own protection from a second host; take it away with tune2fs -O ^mmp",
			device);
	if (!f->fast_commit)
		return 0;
	return rj_fail(err, RJ_E_REFUSED,
		"%s: has the fast_commit feature, whose commits neither the kernel nor e2fsck brings back reliably after a crash; take it away with tune2fs -O ^fast_commit",
		device);
}

int rj_move_open_store(const struct rj_move_opts *opts, const char *url,
	struct rj_store **out, struct rj_error *err)
{
	if (opts->hooks.open_store)
		return opts->hooks.open_store(opts->hooks.arg, url, out, err);
	return rj_store_open(url, NULL, out, err);
}

int rj_attach_open_store(const char *url, bool received_will_do,
	const struct rj_move_opts *opts, struct rj_store **out,
	struct rj_error *err)
{
	int rc;

	*out = NULL;
	if (!rj_sbx_url_valid(url, err))
		return -RJ_E_INVAL;
	rc = rj_move_open_store(opts, url, out, err);
	if (rc)
		return rc;
	if (!(*out)->caps.put_new && !(*out)->caps.exclusive_container)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"%s: this kind of store has nothing that only one of "
			"several writers can do: two could not be told apart",
			(*out)->url);
	if ((*out)->caps.durability != RJ_DURABLE && !received_will_do)
		return rj_fail(err, RJ_E_REFUSED,
			"%s: it is not known that what this store acknowledges is on stable storage: add ack=received if that will do, or, if you know that it is, durable = yes to its section of rj.conf",
			(*out)->url);
	return 0;
}

static int not_empty(void *arg, uint64_t number, uint64_t bytes)
{
	return -RJ_E_EXISTS;
}

int rj_attach_probe(struct rj_store *store, struct rj_error *err)
{
	struct rj_key key = {.kind = RJ_KEY_EPOCH};
	int rc;

	/* a log that does not exist: an empty list says that the store answers */
	if (rj_uuid_random(key.journal_uuid))
		return rj_fail(err, RJ_E_IO, "cannot get random bytes");
	rc = rj_store_list(store, &key, 0, not_empty, NULL, err);
	if (rc == -RJ_E_EXISTS)
		rc = rj_fail(err, RJ_E_PROTOCOL,
			"%s: lists objects of a log that does not exist",
			store->url);
	return rc;
}

static int load_sealing(const struct rj_journal_opts *opts,
	struct rj_log_sealing *out, struct rj_error *err)
{
	return rj_log_sealing_load(opts->url,
		opts->key_file[0] ? opts->key_file : NULL, NULL, out, err);
}

uint64_t rj_attach_fallback_bytes(const struct rj_journal_opts *opts,
	uint32_t block_size, uint32_t blocks)
{
	if (opts && opts->fallback_mb)
		return (uint64_t)opts->fallback_mb << 20;
	/* space for all that a replay may need, twice, and some more */
	return 2 * (uint64_t)blocks * block_size + RJ_FALLBACK_MIN_BYTES;
}

int rj_attach_check_fallback(const struct rj_journal_opts *opts,
	uint32_t block_size, uint32_t blocks, struct rj_error *err)
{
	const struct rj_log_id nobody = {0};

	if (!opts->fallback[0])
		return 0;
	return rj_fallback_check(opts->fallback, &nobody, NULL, NULL,
		rj_attach_fallback_bytes(opts, block_size, blocks), err);
}

int rj_attach_check(const struct rj_journal_opts *opts, bool force, struct rj_error *err)
{
	const struct rj_move_opts plain = {0};
	struct rj_log_sealing sealing = {0};
	struct rj_store *store = NULL;
	int rc;

	rc = load_sealing(opts, &sealing, err);
	rj_log_sealing_free(&sealing); /* it was only to be seen */
	if (rc)
		return rc;
	rc = rj_attach_open_store(
		opts->url, opts->ack_received, &plain, &store, err);
	if (!rc)
		rc = rj_attach_probe(store, err);
	if (!rc)
		rc = rj_log_others_check(store, NULL, force, "-F", err);
	rj_store_close(store);
	/* its size is not known yet: the least there can be */
	return rc ? rc : rj_attach_check_fallback(opts, 0, 0, err);
}

int rj_journal_put_empty(struct rj_log_writer *w, uint32_t block_size,
	uint32_t blocks, const uint8_t journal_uuid[RJ_UUID_BYTES],
	const uint8_t volume_uuid[RJ_UUID_BYTES], uint32_t next_tid,
	struct rj_error *err)
{
	uint32_t sb_block = rj_jbd2_device_sb_block(block_size);
	struct rj_seg_run run = {.block = 0, .count = sb_block + 1};
	struct rj_log_append a = {
		.body = {.block_size = block_size, .journal_blocks = blocks},
		.runs = &run,
		.run_count = 1,
		.base = true,
		/* after a fence that is the log's first segment there is
		 * nothing that could have been recovered */
		.recovered = rj_log_writer_tail(w)->sequence > 1,
	};
	uint8_t *ring = calloc(sb_block + 1, block_size);
	int rc;

	if (!ring)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	rj_journal_device_super(ring + 1024, block_size, blocks, journal_uuid);
	rj_jbd2_sb_format_external(ring + (size_t)sb_block * block_size,
		block_size, blocks, journal_uuid, volume_uuid, next_tid);
	a.ring = ring;
	rc = rj_log_append_within(w, &a, 0, err);
	free(ring);
	return rc;
}

static int check_volume(const struct rj_volume *v, struct rj_error *err)
{
	const struct rj_volume_facts *f = rj_volume_facts(v);

	if (f->has_journal)
		return rj_fail(err, RJ_E_EXISTS,
			"%s: has a journal already (%s)", rj_volume_path(v),
			f->journal_inode ? "internal"
			: f->has_sbx && f->sbx.placement == RJ_PLACE_REMOTE
				? f->sbx.url
				: "external");
	if (rj_volume_verdict(f) != RJ_VERDICT_CLEAN)
		return rj_fail(err, RJ_E_REFUSED,
			"%s: not cleanly unmounted, or with errors; run e2fsck "
			"-f on it first",
			rj_volume_path(v));
	if (!f->has_sbx && f->sbx_error.code == RJ_E_UNSUPPORTED)
		return rj_fail(err, RJ_E_UNSUPPORTED, "%s: %s",
			rj_volume_path(v), f->sbx_error.msg);
	return rj_attach_features(rj_volume_path(v), f, err);
}

/* The superblocks, last of all: from here on the volume has its journal. */
static int write_superblocks(struct rj_volume *v,
	const struct rj_journal_opts *opts, const struct rj_log_writer *w,
	const struct rj_log_id *id, uint32_t blocks, const struct rj_sbx *seen,
	struct rj_error *err)
{
	struct rj_volume_patch p = {
		.set_sbx = true,
		.sbx = {.placement = RJ_PLACE_REMOTE,
			.on_loss = opts->on_loss,
			.ack_received = opts->ack_received,
			.epoch = rj_log_writer_epoch(w),
			.floor = rj_log_writer_tail(w)->sequence,
			.journal_blocks = blocks,
			.probed = seen->probed,
			.probed_day = seen->probed_day},
		.set_journal = true,
		.has_journal = true,
		.journal_device = RJ_JOURNAL_DEVICE_REMOTE,
	};

	strcpy(p.sbx.url, opts->url); /* open_store() measured it */
	strcpy(p.sbx.fallback, opts->fallback);
	p.sbx.fallback_empty = true;
	memcpy(p.sbx.journal_uuid, id->journal_uuid, RJ_UUID_BYTES);
	memcpy(p.journal_uuid, id->journal_uuid, RJ_UUID_BYTES);
	if (id->key)
		memcpy(p.sbx.key_fingerprint, rj_sealkey_fingerprint(id->key),
			sizeof(p.sbx.key_fingerprint));
	return rj_volume_patch(v, &p, err);
}

int rj_attach_try(struct rj_store *store, const uint8_t journal_uuid[RJ_UUID_BYTES],
	struct rj_sbx *seen, struct rj_error *err)
{
	seen->probed_day = (uint16_t)(rj_realtime_ns() / DAY_NS);
	return rj_store_probe_brief(store, journal_uuid, 0, &seen->probed, err);
}

int rj_attach_begin_log(struct rj_store *store, const struct rj_log_id *id,
	uint32_t block_size, uint32_t blocks, int retry_ms,
	struct rj_log_writer **out, struct rj_error *err)
{
	struct rj_log_claim_opts o = {.new_log = true, .retry_ms = retry_ms};
	int rc = rj_log_claim(store, id, &o, out, err);

	return rc ? rc
		  : rj_journal_put_empty(*out, block_size, blocks,
			    id->journal_uuid, id->volume_uuid, 1, err);
}

static int race(struct rj_store *store, struct rj_sbx *seen, struct rj_error *err)
{
	if (rj_uuid_random(seen->journal_uuid))
		return rj_fail(err, RJ_E_IO, "cannot get random bytes");
	return rj_attach_try(store, seen->journal_uuid, seen, err);
}

int rj_attach_race(const struct rj_journal_opts *opts, struct rj_sbx *seen, struct rj_error *err)
{
	const struct rj_move_opts plain = {0};
	struct rj_store *store = NULL;
	int rc = rj_attach_open_store(opts->url, opts->ack_received, &plain, &store, err);

	if (!rc)
		rc = race(store, seen, err);
	rj_store_close(store);
	return rc;
}

int rj_attach_remote(const char *device, const struct rj_journal_opts *opts,
	const struct rj_sbx *seen, struct rj_error *err)
{
	const struct rj_move_opts plain = {0};
	const struct rj_volume_facts *f;
	struct rj_log_writer *w = NULL;
	struct rj_store *store = NULL;
	struct rj_volume *v = NULL;
	struct rj_log_sealing sealing = {0};
	struct rj_log_id id = {0};
	struct rj_sbx own = {0};
	uint32_t blocks;
	int rc, rc2;

	rc = rj_attach_open_store(
		opts->url, opts->ack_received, &plain, &store, err);
	if (rc)
		goto out;
	rc = rj_volume_open(device, RJ_VOLUME_WRITE, NULL, &v, err);
	if (rc)
		goto out;
	rc = check_volume(v, err);
	if (rc)
		goto out;
	f = rj_volume_facts(v);
	rc = rj_attach_blocks(opts, f->block_size, f->blocks, &blocks, err);
	if (rc) {
		rj_fail_prefix(err, "%s", device);
		goto out;
	}
	memcpy(id.volume_uuid, f->uuid, sizeof(id.volume_uuid));
	rc = load_sealing(opts, &sealing, err);
	if (rc)
		goto out;
	if (!seen) {
		rc = race(store, &own, err);
		seen = &own;
	}
	if (rc)
		goto out;
	memcpy(id.journal_uuid, seen->journal_uuid, sizeof(id.journal_uuid));
	rj_log_sealing_use(&sealing, &id);
	rc = rj_attach_begin_log(store, &id, f->block_size, blocks, 0, &w, err);
	if (!rc && opts->fallback[0])
		rc = rj_fallback_make(opts->fallback, &id, NULL, device,
			rj_attach_fallback_bytes(opts, f->block_size, blocks),
			err);
	if (rc)
		goto out;
	rc = write_superblocks(v, opts, w, &id, blocks, seen, err);
out:
	rc2 = rj_volume_close(v, rc ? NULL : err);
	rj_log_writer_free(w);
	rj_store_close(store);
	rj_log_sealing_free(&sealing);
	return rc ? rc : rc2;
}
