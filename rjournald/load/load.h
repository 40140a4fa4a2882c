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
#include "mount-notes.h"
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
	/* With a fallback file: handles for the writer and for catching up, and the
	 * sink that uses them. */
	struct rj_store *put, *ship;
	struct rj_fallback_sink *fallback_sink;
	struct rj_arbiter_thread
		*arbiter_thread;    /* prefer=; with a fallback sink */
	_Atomic bool link_down;	    /* no request waits for the store */
	_Atomic bool stop_waiting;  /* nor one through STORE or SPARE */
	struct rj_mount_notes *notes; /* NULL: none are put */
	struct rj_log_id id; /* of the log, for it */
	struct rj_live live;
	struct rj_ring *ring;
	uint32_t sb_block;
	struct rj_latency_hist latency; /* of puts at the store, once it is the writer's */
	struct rj_put_throttle throttle;   /* for the same puts */
	bool left; /* rj_unload_note() has marked the volume */
};

/*
 * Do everything up to serving. The log is read and verified before an epoch is
 * claimed, so that a damaged log gets no new segment; after the claim the rest, up to
 * our own fence, is read. A volume that needs recovery is not written to: the recovery
 * would undo that.
 * RJ_E_NOTRJ, RJ_E_INVAL (no remote journal), RJ_E_BUSY (mounted, or served
 * already), RJ_E_REFUSED (rjrecover has to come first), RJ_E_UNSUPPORTED,
 * RJ_E_KEY, and
 * what rj_log_read() and rj_log_claim() report. OUT is filled only on success.
 */
int rj_load(const char *device, struct rj_loaded *out, struct rj_error *err);
/* Does STORE give the durability that L's volume wants? COUNTED: it counted as durable when the log
 * was begun there, so that a doubt is only logged. RJ_E_REFUSED. */
int rj_load_check_ack(
	const struct rj_loaded *l, struct rj_store *store, bool counted, struct rj_error *err);
/*
 * Do what rj_load() does, for a raw log: of a device that is no journal of an ext3 or
 * ext4 volume; facts.has_sbx is false. RJ_E_INVAL: there is no log, or its device has
 * another size. With XFS also what rj_xfs_look(), rj_xfs_check(), rj_xfs_check_unused()
 * and rj_xfs_log_check() report, and RJ_E_REFUSED: the log ends before its floor.
 */
struct rj_raw_want {
	const char *url;
	uint32_t size_mb; /* begin the log if there is none; 0: do not */
	const char *xfs;  /* the XFS volume whose log it is; NULL */
	const char *uuid; /* of the log, if XFS is NULL; NULL: made of the URL */
};
int rj_load_raw(const struct rj_raw_want *want, struct rj_loaded *out,
	struct rj_error *err);
/*
 * Do what rj_load() does, for a worker that takes over: all but the store, from the
 * supervisor's FDS (memory and lock, which OUT takes over). Settles what the worker
 * before left (rj_worker_shm_settle()). Sends no request.
 */
int rj_load_again(const char *device, const struct rj_worker_fds *fds,
	struct rj_loaded *out, struct rj_error *err);
/* Open the store, as the supervisor's memory names it, unless it is open. */
int rj_load_store_again(struct rj_loaded *l, struct rj_error *err);
/*
 * Claim the next epoch after rj_load_again(), as the successor of the worker before only;
 * with a fallback file see resume.h instead. May be called again after
 * RJ_E_UNREACHABLE, RJ_E_NOSPACE or RJ_E_BUSY. RJ_E_FENCED: another writer took over.
 * RJ_E_GAP: a segment that was acknowledged is missing.
 */
int rj_load_claim_again(struct rj_loaded *l, struct rj_error *err);
/*
 * Prepare CLAIM, whose retry_ms is set, to follow the worker before in the log ID at STORE, with
 * a nonce that nothing was sealed with. Errors as above.
 */
int rj_load_succeed(struct rj_loaded *l, struct rj_store *store, const struct rj_log_id *id,
	struct rj_log_claim_opts *claim, struct rj_error *err);
/*
 * Write our epoch, the floor, and the device number of JOURNAL_PATH into the volume
 * before serving, as the kernel does at mount. A volume that needs recovery is left
 * alone (0).
 */
int rj_load_note(
	struct rj_loaded *l, const char *journal_path, struct rj_error *err);
/*
 * Write the last epoch and the acknowledged floor into the volume after serving, if it
 * is not mounted and needs no recovery, and take the device number back. If that
 * fails, the numbers in the volume are only older.
 */
int rj_unload_note(struct rj_loaded *l, struct rj_error *err);
/* Count the puts through handle S in L's histogram, and delay them by L's throttle. L
 * stays where it is as long as S is used. */
void rj_load_watch(struct rj_loaded *l, struct rj_store *s);
/* Make SPARE, before the first request that is served. */
void rj_load_spare(struct rj_loaded *l);
/* Fill in ID: which log it is, and how it is sealed. */
void rj_load_log_id(const struct rj_loaded *l, struct rj_log_id *id);
/* Release everything; the runtime directory is removed last. */
void rj_unload(struct rj_loaded *l);

#endif
