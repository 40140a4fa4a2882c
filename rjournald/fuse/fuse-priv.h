/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the FUSE file system share. fuse-fs.c has what the daemon calls;
 * fuse-session.c mounts it and resumes the kernel's session; fuse-threads.c has the threads
 * that read requests, fuse-ops.c the answers, fuse-lock.c the lock between threads and
 * daemon.
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

#include "volume-flush.h"
#include "fuse-fs.h"
#include "fs-shutdown.h"

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
	struct fuse_session *session;
	struct rj_worker_shm *shm;
	struct rj_ring *ring;
	struct rj_pipeline *pipeline;
	struct rj_volume_flush volume_flush;
	struct rj_fs_shutdown *fs_shutdown; /* NULL: raw */
	sem_t lock; /* the pipeline; another thread may give it back */
	pthread_t threads[RJ_FUSE_THREADS];
	unsigned running;
	int fuse_fd; /* the session's own; -1: none yet */
	int event_fd;
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
	atomic_bool ended;
	char mountpoint[256];
};

/* ---- fuse-lock.c ---- */
void rj_fuse_lock(struct rj_fuse *f);
/* Wake the thread that waits at the event descriptor. */
void rj_fuse_wake(const struct rj_fuse *f);

/* ---- fuse-session.c ---- */
/* Make F's session and bring it to life, as OPTS say. RJ_E_IO, RJ_E_PROTOCOL. */
int rj_fuse_meet(struct rj_fuse *f, const struct rj_fuse_opts *opts,
	struct rj_error *err);
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
/* The number of the request that this thread answers. */
extern _Thread_local uint64_t rj_fuse_current;

#endif
