// SPDX-License-Identifier: GPL-2.0-or-later
/* What is the same for each front end: the way into the pipeline, its lock, the device. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "front-priv.h"
#include "os/fileio.h"
#include "util/log.h"

int rj_front_prepare(const struct rj_front_ops *ops, const char *volume, int *held,
	struct rj_error *err)
{
	return ops->prepare(volume, held, err);
}

int rj_front_start(const struct rj_front_opts *opts, struct rj_front **out,
	struct rj_error *err)
{
	struct rj_front *f = opts->ops->make();
	int rc = 0;

	*out = NULL;
	if (!f)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	f->ops = opts->ops;
	f->shm = opts->shm;
	f->ring = opts->ring;
	f->pipeline = opts->pipeline;
	f->event_fd = opts->event_fd;
	sem_init(&f->lock, 0, opts->resumed ? 0 : 1);
	f->device.fd = f->claim = -1;
	if (opts->resumed)
		snprintf(f->device.path, sizeof(f->device.path), "%s",
			f->shm->device_path);
	f->volume_flush.fd = -1; /* a raw log has no volume */
	if (!opts->raw)
		rc = rj_volume_flush_open(
			&f->volume_flush, opts->volume, f->ring->block_size, err);
	if (!rc && !opts->raw && !opts->resumed)
		rj_take_old_error(f->volume_flush.fd, opts->volume);
	if (!rc && !opts->raw)
		rc = rj_fs_shutdown_new(opts->volume, &f->fs_shutdown, err);
	if (!rc)
		rc = f->ops->start(f, opts, err);
	if (rc) {
		rj_front_stop(f);
		return rc;
	}
	snprintf(f->shm->device_path, sizeof(f->shm->device_path), "%s",
		f->device.path);
	*out = f;
	return 0;
}

const char *rj_front_path(const struct rj_front *f)
{
	return f->device.path;
}

void rj_front_fds(const struct rj_front *f, struct rj_worker_fds *fds)
{
	f->ops->fds(f, fds);
}

bool rj_front_can_resume(const struct rj_front *f)
{
	return f->ops->can_resume(f);
}

void rj_front_wake(const struct rj_front *f)
{
	uint64_t one = 1;

	/* fails only when it is about to overflow: then it is set already */
	if (write(f->event_fd, &one, sizeof(one)) != sizeof(one))
		return;
}

static void lock_pipeline(struct rj_front *f)
{
	while (sem_wait(&f->lock) == -1) /* EINTR */
		;
}

void rj_front_release(struct rj_front *f)
{
	sem_post(&f->lock);
}

bool rj_front_lock_for(struct rj_front *f, int ms)
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

bool rj_front_mounted(const struct rj_front *f)
{
	return f && rj_loop_mounted(&f->device);
}

bool rj_front_exclusive(const struct rj_front *f)
{
	return f && rj_loop_exclusive(&f->device);
}

void rj_front_let_go(struct rj_front *f)
{
	if (f)
		rj_loop_let_go(&f->device);
}

bool rj_front_used(struct rj_front *f)
{
	return f->ops->used(f);
}

int rj_front_look_ms(const struct rj_front *f)
{
	return f->ops->look_ms ? f->ops->look_ms(f) : -1;
}

bool rj_front_ended(const struct rj_front *f)
{
	return f->ended;
}

int rj_front_errno(struct rj_front *f, int rc)
{
	int e = rc == 0 ? 0 : rc == -RJ_E_INVAL ? EINVAL : EIO;

	/* the kernel gives the journal up when it is told */
	if (e == EIO)
		rj_fs_shutdown_wait(f->fs_shutdown);
	return e;
}

int rj_front_write(
	struct rj_front *f, const void *data, size_t len, uint64_t off)
{
	struct rj_error err;
	int rc = rj_volume_flush_before_commit(&f->volume_flush, data, len, &err);

	if (rc)
		rj_log(RJ_LOG_ERROR, "%s", err.msg);
	lock_pipeline(f);
	if (!rc)
		rc = rj_pipeline_write(f->pipeline, data, len, off, NULL);
	sem_post(&f->lock);
	return rj_front_errno(f, rc);
}

int rj_front_flush(struct rj_front *f)
{
	int rc;

	lock_pipeline(f);
	rc = rj_pipeline_flush(f->pipeline, NULL);
	sem_post(&f->lock);
	return rj_front_errno(f, rc);
}

int rj_front_drain(struct rj_front *f, struct rj_error *err)
{
	int rc;

	lock_pipeline(f);
	rc = rj_pipeline_drain(f->pipeline, err);
	sem_post(&f->lock);
	return rc;
}

void rj_front_last_word(struct rj_front *f)
{
	rj_fs_shutdown_wait(f->fs_shutdown);
}

void rj_front_stop(struct rj_front *f)
{
	if (!f)
		return;
	f->ops->stop(f);
	rj_loop_let_go(&f->device);
	if (f->claim != -1)
		close(f->claim);
	sem_destroy(&f->lock);
	rj_volume_flush_close(&f->volume_flush);
	rj_fs_shutdown_free(f->fs_shutdown);
	free(f);
}
