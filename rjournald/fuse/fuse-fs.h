/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Serve a FUSE file system with one file, "journal", whose bytes are the ring. The
 * thread that reads a request runs the pipeline itself: handing it to another thread
 * would cost more than it gains.
 *
 * The mount outlives the worker that made it: a process with /dev/fuse open continues
 * it. The kernel sends FUSE_INIT only once, so the next worker reads it from
 * rj_worker_shm, and asks for the requests that were read and never answered
 * (FUSE_NOTIFY_RESEND).
 */
#ifndef RJ_JOURNALD_FUSE_FS_H
#define RJ_JOURNALD_FUSE_FS_H

#include <stdbool.h>
#include <stdint.h>

#include "log/ring.h"
#include "rjournald/commit/pipeline.h"
#include "rjournald/handover/worker-shm.h"
#include "util/error.h"

#define RJ_FUSE_FILE "journal"

struct rj_fuse;

/* Open /dev/fuse as *FD, and mount it at MOUNTPOINT. SOURCE is shown in the
 * mount table. RJ_E_IO. */
int rj_fuse_mount(const char *mountpoint, const char *source, int *fd,
	struct rj_error *err);

struct rj_fuse_opts {
	const char *mountpoint;
	const char *volume;           /* for volume-flush.h */
	int fuse_fd;                  /* of rj_fuse_mount(); stays the caller's */
	struct rj_worker_shm *shm;         /* stays the caller's */
	struct rj_ring *ring;         /* read from; stays the caller's */
	struct rj_pipeline *pipeline; /* stays the caller's */
	bool raw; /* nothing of ext4's is mounted with it: no fs-shutdown.h */
	bool resumed;                 /* go on where another worker was killed */
	int event_fd; /* an eventfd, written to when the file was closed by its
		       * last user, and when the session has ended */
};

/*
 * Start answering requests. RESUMED: only those that need no pipeline (reads, stat);
 * the others wait for rj_fuse_release(). RJ_E_IO, RJ_E_NOMEM, RJ_E_PROTOCOL.
 */
int rj_fuse_start(const struct rj_fuse_opts *opts, struct rj_fuse **out,
	struct rj_error *err);
/* Can this kernel send again the requests that a dead worker has read (Linux 6.9)? */
bool rj_fuse_can_resume(const struct rj_fuse *f);
/* Let requests into the pipeline: it is ready. */
void rj_fuse_release(struct rj_fuse *f);
/* Lock requests out of the pipeline, after waiting at most MS milliseconds for the
 * one that is in it. False: it still is. */
bool rj_fuse_lock_for(struct rj_fuse *f, int ms);
/* Count the openers of the file. */
unsigned rj_fuse_users(const struct rj_fuse *f);
/* Has the session ended, by an unmount or abort from outside? */
bool rj_fuse_ended(const struct rj_fuse *f);
/* Ship all that is pending, from another thread. */
int rj_fuse_drain(struct rj_fuse *f, struct rj_error *err);
/* Shut the file system down before the process ends with the journal (fs-shutdown.h). */
void rj_fuse_last_word(struct rj_fuse *f);
/* Unmount, wait for the threads to end, and free F. NULL-safe. */
void rj_fuse_stop(struct rj_fuse *f);

#endif
