/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the front ends share: for them alone. */
#ifndef RJ_JOURNALD_FRONT_PRIV_H
#define RJ_JOURNALD_FRONT_PRIV_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>

#include "front.h"
#include "fs-shutdown.h"
#include "os/loopdev.h"
#include "volume-flush.h"

/* A front end; what is said of the functions in front.h holds. */
struct rj_front_ops {
	const char *name;
	int (*prepare)(const char *volume, int *held, struct rj_error *err);
	/* Allocate one, all 0 but for F, its first member. NULL: no memory. */
	struct rj_front *(*make)(void);
	/* F is filled in; stop() is called if this fails. */
	int (*start)(struct rj_front *f, const struct rj_front_opts *opts,
		struct rj_error *err);
	void (*fds)(const struct rj_front *f, struct rj_worker_fds *fds);
	bool (*can_resume)(const struct rj_front *f);
	bool (*used)(struct rj_front *f);
	int (*look_ms)(const struct rj_front *f); /* NULL: -1 */
	void (*stop)(struct rj_front *f); /* undo start() and make(); F is freed after it */
};

struct rj_front {
	const struct rj_front_ops *ops;
	struct rj_worker_shm *shm;
	struct rj_ring *ring;
	struct rj_pipeline *pipeline;
	struct rj_volume_flush volume_flush;
	struct rj_fs_shutdown *fs_shutdown; /* NULL: raw */
	sem_t lock; /* the pipeline; another thread may give it back */
	int event_fd;
	atomic_bool ended;
	struct rj_loop device; /* its path, and a loop device's descriptor */
	int claim; /* the device, opened exclusively by us when it had no user; -1 */
};

/* Wake the thread that waits at the event descriptor. */
void rj_front_wake(const struct rj_front *f);
/* Put a write into the pipeline. Returns 0 or an errno, which the kernel may be told: if it
 * gives the journal up for that, the file system is shut down. */
int rj_front_write(
	struct rj_front *f, const void *data, size_t len, uint64_t off);
/* The same for a flush. */
int rj_front_flush(struct rj_front *f);
/* What the kernel may be told of RC, as rj_front_write(). */
int rj_front_errno(struct rj_front *f, int rc);

#endif
