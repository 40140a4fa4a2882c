// SPDX-License-Identifier: GPL-2.0-or-later
/* What the threads that answer requests share with the daemon. */
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "fuse-priv.h"

void rj_fuse_wake(const struct rj_fuse *f)
{
	uint64_t one = 1;

	/* fails only when it is about to overflow: then it is set already */
	if (write(f->event_fd, &one, sizeof(one)) != sizeof(one))
		return;
}

void rj_fuse_lock(struct rj_fuse *f)
{
	while (sem_wait(&f->lock) == -1) /* EINTR */
		;
}

void rj_fuse_release(struct rj_fuse *f)
{
	sem_post(&f->lock);
}

bool rj_fuse_lock_for(struct rj_fuse *f, int ms)
{
	struct timespec until;
	int rc;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += ms % 1000 * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000L;
	}
	do {
		rc = sem_clockwait(&f->lock, CLOCK_MONOTONIC, &until);
	} while (rc == -1 && errno == EINTR);
	return rc == 0;
}

int rj_fuse_drain(struct rj_fuse *f, struct rj_error *err)
{
	int rc;

	rj_fuse_lock(f);
	rc = rj_pipeline_drain(f->pipeline, err);
	sem_post(&f->lock);
	return rc;
}

unsigned rj_fuse_users(const struct rj_fuse *f)
{
	unsigned i, n = 0;

	for (i = 0; i < RJ_WORKER_SHM_OPENS; i++)
		n += f->shm->opens[i] != 0;
	return n;
}
