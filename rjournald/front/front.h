/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Show the ring to the kernel as a block device, and take its writes: the contract of
 * the front ends, rjournald/fuse and rjournald/ublk, of which one is chosen at the start by
 * its struct rj_front_ops.
 *
 * The device outlives the worker that made it: the next one goes on where that was
 * killed (RESUMED), if rj_front_can_resume().
 */
#ifndef RJ_JOURNALD_FRONT_H
#define RJ_JOURNALD_FRONT_H

#include <stdbool.h>
#include <stdint.h>

#include "log/ring.h"
#include "rjournald/commit/pipeline.h"
#include "rjournald/handover/supervisor.h"
#include "rjournald/handover/worker-shm.h"
#include "util/error.h"

struct rj_front;
struct rj_front_ops;

extern const struct rj_front_ops rj_front_fuse, rj_front_ublk;

struct rj_front_opts {
	const struct rj_front_ops *ops;
	const char *mountpoint;       /* a directory of this daemon's */
	const char *volume;           /* for volume-flush.h */
	struct rj_worker_shm *shm;    /* stays the caller's */
	struct rj_ring *ring;         /* read from; stays the caller's */
	struct rj_pipeline *pipeline; /* stays the caller's */
	bool raw; /* nothing of ext4's is mounted with it: no fs-shutdown.h */
	int held; /* of rj_front_prepare(): taken over */
	uint64_t owner; /* os/ublk/ublkdev.h */
	/* Of the worker before, which was killed: taken over. NULL: there was none. */
	const struct rj_worker_fds *resumed;
	int event_fd; /* an eventfd, written to when the last user may have let go of the
		       * device, and when the kernel has ended it */
};

/* Prepare the first start for VOLUME (NULL: raw), in a process without threads. *HELD is for
 * rj_front_start(). RJ_E_IO, RJ_E_UNSUPPORTED: this kernel does not have what OPS needs. */
int rj_front_prepare(const struct rj_front_ops *ops, const char *volume, int *held,
	struct rj_error *err);
/*
 * Make the device, and start answering requests. RESUMED: only those that need no
 * pipeline (reads); the others wait for rj_front_release(). RJ_E_IO, RJ_E_NOMEM,
 * RJ_E_PROTOCOL.
 */
int rj_front_start(const struct rj_front_opts *opts, struct rj_front **out,
	struct rj_error *err);
/* The device's path. */
const char *rj_front_path(const struct rj_front *f);
/* Fill in what the supervisor is to hold for the next worker. */
void rj_front_fds(const struct rj_front *f, struct rj_worker_fds *fds);
/* Can this kernel send again the requests that a dead worker has read? */
bool rj_front_can_resume(const struct rj_front *f);
/* Let requests into the pipeline: it is ready. */
void rj_front_release(struct rj_front *f);
/* Lock requests out of the pipeline, after waiting at most MS milliseconds for the
 * one that is in it. False: it still is. */
bool rj_front_lock_for(struct rj_front *f, int ms);
/* Is the device the journal of a mounted file system right now? NULL: no. */
bool rj_front_mounted(const struct rj_front *f);
/* Has another opener (a mount, mke2fs, ...) opened it exclusively? NULL: no. */
bool rj_front_exclusive(const struct rj_front *f);
/* Let the device go with its last user. NULL-safe. */
void rj_front_let_go(struct rj_front *f);
/* After rj_front_let_go(): has it a user, so that writes may come? */
bool rj_front_used(struct rj_front *f);
/* In how many milliseconds to ask that again; -1: the event descriptor tells. */
int rj_front_look_ms(const struct rj_front *f);
/* Has the kernel ended it, by an unmount or abort from outside? */
bool rj_front_ended(const struct rj_front *f);
/* Ship all that is pending, from another thread. */
int rj_front_drain(struct rj_front *f, struct rj_error *err);
/* Shut the file system down before the process ends with the journal (fs-shutdown.h). */
void rj_front_last_word(struct rj_front *f);
/* Take the device away, wait for the threads to end, and free F. NULL-safe. */
void rj_front_stop(struct rj_front *f);

#endif
