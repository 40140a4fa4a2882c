/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Serve a FUSE file system with one file, "journal", whose bytes are the ring, below a loop
 * device. The thread that reads a request runs the pipeline itself: handing it to another
 * thread would cost more than it gains.
 *
 * The mount outlives the worker that made it: a process with /dev/fuse open continues
 * it. The kernel sends FUSE_INIT only once, so the next worker reads it from
 * rj_worker_shm, and asks for the requests that were read and never answered
 * (FUSE_NOTIFY_RESEND).
 *
 * fuse-front.c has what the contract asks for; fuse-session.c mounts the file system and
 * resumes the kernel's session; fuse-threads.c has the threads that read requests,
 * fuse-ops.c the answers.
 */
#ifndef RJ_JOURNALD_FUSE_PRIV_H
#define RJ_JOURNALD_FUSE_PRIV_H

#define FUSE_USE_VERSION 35

#include <fuse_lowlevel.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rjournald/front/front-priv.h"

#define RJ_FUSE_FILE "journal"

/*
 * One request at a time is what a commit needs. The others are for the time
 * when a write waits for a store that is lost: reads of the device must be
 * answered while it waits, or every blkid and e2fsck on the machine, which look
 * at each block device there is, would wait with it. Reads and all else that
 * does not wait for the store always find 4 of them (fuse-threads.c).
 */
#define RJ_FUSE_THREADS 16
/* A request with the longest write. */
#define RJ_FUSE_BUFFER (RJ_PIPELINE_WRITE_BYTES + 4096u)

struct rj_fuse {
	struct rj_front front; /* first */
	struct fuse_session *session;
	pthread_t threads[RJ_FUSE_THREADS];
	unsigned running;
	int connection; /* /dev/fuse, also the supervisor's; -1: none yet */
	int fuse_fd;	/* the same, the session's own; -1: none yet */
	uint8_t *buffers; /* one for each thread */
	atomic_uint threads_begun;
	atomic_uint reading; /* threads in read(2), or on their way there */
	/* The other threads wait aside: the last to come is the first to be called,
	 * as its stack and its buffer are still in the cache. */
	pthread_mutex_t aside;
	unsigned waiting[RJ_FUSE_THREADS], waiting_count;
	sem_t called[RJ_FUSE_THREADS];
	/* Requests that wait for the pipeline: as many threads as WAITERS, and
	 * the rest parked, first come first served. */
	pthread_mutex_t waiters_lock;
	unsigned waiters;
	struct rj_fuse_parked *parked, **parked_end;
	char mountpoint[256];
};

/* ---- fuse-session.c ---- */
/* Open /dev/fuse as *FD, and mount it at MOUNTPOINT. SOURCE is shown in the
 * mount table. RJ_E_IO. */
int rj_fuse_mount(const char *mountpoint, const char *source, int *fd,
	struct rj_error *err);
/* Make F's session and bring it to life; RESUMED: as another worker left it. RJ_E_IO,
 * RJ_E_PROTOCOL. */
int rj_fuse_meet(struct rj_fuse *f, bool resumed, struct rj_error *err);
/* Can this kernel send again what a dead worker has read (Linux 6.9)? */
bool rj_fuse_can_resume(const struct rj_front *f);
/* Answer the request of SIZE bytes in MEM. */
void rj_fuse_process(struct rj_fuse *f, uint8_t *mem, size_t size);

/* ---- fuse-threads.c ---- */
/* Memory for requests, one buffer a thread. RJ_E_NOMEM. */
int rj_fuse_get_buffers(struct rj_fuse *f, struct rj_error *err);
/* Begin to read. RJ_E_IO; some may run then. */
int rj_fuse_start_threads(struct rj_fuse *f, struct rj_error *err);
/* Wait until each has answered what it has read, and has ended: also while another mount
 * namespace has a copy of the mount, with which read(2) waits for ever. */
void rj_fuse_join_threads(struct rj_fuse *f);

/* ---- fuse-ops.c ---- */
extern const struct fuse_lowlevel_ops rj_fuse_ops;
/* Count the openers of the file. */
unsigned rj_fuse_users(const struct rj_fuse *f);
/* The number of the request that this thread answers. */
extern _Thread_local uint64_t rj_fuse_current;

#endif
