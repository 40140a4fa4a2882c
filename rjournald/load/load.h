/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Before serving: look at the volume, read its log back into the ring, become
 * the log's writer. After serving: leave the volume's facts up to date.
 */
#ifndef RJ_JOURNALD_LOAD_H
#define RJ_JOURNALD_LOAD_H

#include "ext4/volume.h"
#include "log/fallback/fallback-log.h"
#include "log/log.h"
#include "log/ring.h"
#include "log/sealing.h"
#include "rjournald/fallback/arbiter-thread.h"
#include "rjournald/fallback/fallback-sink.h"
#include "rjournald/fallback/state.h"
#include "rjournald/handover/supervisor.h"
#include "rjournald/handover/worker-shm.h"
#include "rundir.h"
#include "store/latency-hist.h"
#include "store/put-throttle.h"
#include "util/error.h"

struct rj_loaded {
	const char *device;
	struct rj_volume_facts facts;
	struct rj_claimed_dir dir; /* locked */
	struct rj_store *store;
	/* A handle that nothing uses but to make more of them while STORE is in
	 * use: a request may read rj.conf again and change what a copy takes.
	 * NULL: this kind of store has but one handle. */
	struct rj_store *spare;
	struct rj_log_sealing sealing;
	struct rj_log_writer *writer;
	struct rj_worker_map memory; /* the ring is in it */
	struct rj_fallback_file
		fallback; /* the fallback; .fallback NULL: none */
	/* With one: handles for the writer and for catching up, and who uses
	 * them. */
	struct rj_store *put, *ship;
	struct rj_fallback_sink *fallback_sink;
	struct rj_arbiter_thread
		*arbiter_thread;    /* prefer=; with a fallback sink */
	_Atomic bool link_down;	    /* no request waits for the store */
	struct rj_log_id id; /* of the log, for it */
	struct rj_live live;
	struct rj_ring *ring;
	uint32_t sb_block;
	struct rj_latency_hist latency; /* of puts at the store, once it is the writer's */
	struct rj_put_throttle throttle;   /* for the same puts */
	bool left; /* rj_unload_note() has marked the volume */
};

/*
 * Everything up to serving. The log is read and verified before an epoch is
 * claimed, so that a damaged log gets no new segment; then once more after
 * that place, up to our own fence. A volume that needs recovery is not
 * written to: the recovery would undo it.
 * RJ_E_NOTRJ, RJ_E_INVAL (no remote journal), RJ_E_BUSY (mounted, or served
 * already), RJ_E_REFUSED (rjrecover has to come first), RJ_E_UNSUPPORTED,
 * RJ_E_KEY, and
 * what rj_log_read() and rj_log_claim() report. OUT is filled only on success.
 */
int rj_load(const char *device, struct rj_loaded *out, struct rj_error *err);
/*
 * The same for a raw log, of a device that is no journal of an ext3 or ext4
 * volume: facts.has_sbx is false. SIZE_MB: begin the log if there is none (0:
 * do not). RJ_E_INVAL: there is none; it is of another size.
 */
int rj_load_raw(const char *url, uint32_t size_mb, struct rj_loaded *out,
	struct rj_error *err);
/*
 * The same for a worker that takes over: all but the store, out of what the
 * supervisor HELD (memory and lock, which OUT takes over). What the worker
 * before us left is settled. Sends no request.
 */
int rj_load_again(const char *device, const struct rj_worker_fds *fds,
	struct rj_loaded *out, struct rj_error *err);
/* Open the store, as the supervisor's memory names it, unless it is open. */
int rj_load_store_again(struct rj_loaded *l, struct rj_error *err);
/*
 * Then, without a fallback file (with one: resume.h), this: claim the next
 * epoch, as the successor of the worker before us only. May be
 * called again after RJ_E_UNREACHABLE, RJ_E_NOSPACE or RJ_E_BUSY. RJ_E_FENCED:
 * another writer took over meanwhile. RJ_E_GAP: what was acknowledged is not
 * there.
 */
int rj_load_claim_again(struct rj_loaded *l, struct rj_error *err);
/*
 * Before serving: mark the volume with our epoch, the floor, and the device
 * number of JOURNAL_PATH, as the kernel does at mount. A volume that needs
 * recovery is left alone (0).
 */
int rj_load_note(
	struct rj_loaded *l, const char *journal_path, struct rj_error *err);
/*
 * After serving: write the last epoch and the acknowledged floor into the
 * volume, if it is not mounted and needs no recovery, and take the device
 * number back. Without that the numbers are only older.
 */
int rj_unload_note(struct rj_loaded *l, struct rj_error *err);
/* What goes through handle S is counted by L's latency, and held up by its
 * throttle. L stays where it is as long as S is used. */
void rj_load_watch(struct rj_loaded *l, struct rj_store *s);
/* Make SPARE, before the first request that is served. */
void rj_load_spare(struct rj_loaded *l);
/* Whose log it is and how it is sealed, for other readers of it. */
void rj_load_log_id(const struct rj_loaded *l, struct rj_log_id *id);
/* Releases all; the runtime directory goes last. */
void rj_unload(struct rj_loaded *l);

#endif
