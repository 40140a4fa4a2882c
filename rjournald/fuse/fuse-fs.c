// SPDX-License-Identifier: GPL-2.0-or-later
/* Start, lock, drain and stop the FUSE file system of the journal. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include "fuse-priv.h"

int rj_fuse_start(const struct rj_fuse_opts *opts, struct rj_fuse **out,
	struct rj_error *err)
{
	struct rj_fuse *f = calloc(1, sizeof(*f));
	unsigned i;
	int rc = 0;

	*out = NULL;
	if (!f)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	f->ring = opts->ring;
	f->pipeline = opts->pipeline;
	f->event_fd = opts->event_fd;
	snprintf(f->mountpoint, sizeof(f->mountpoint), "%s", opts->mountpoint);
	sem_init(&f->lock, 0, opts->resumed ? 0 : 1);
	pthread_mutex_init(&f->aside, NULL);
	pthread_mutex_init(&f->waiters_lock, NULL);
	f->parked_end = &f->parked;
	for (i = 0; i < RJ_FUSE_THREADS; i++)
		sem_init(&f->called[i], 0, 0);
	f->shm = opts->shm;
	f->fuse_fd = -1;
	f->volume_flush.fd = -1; /* a raw log has no volume */
	if (!opts->raw)
		rc = rj_volume_flush_open(
			&f->volume_flush, opts->volume, f->ring->block_size, err);
	if (!rc && !opts->raw)
		rc = rj_fs_shutdown_new(opts->volume, &f->fs_shutdown, err);
	if (!rc)
		rc = rj_fuse_get_buffers(f, err);
	if (!rc)
		rc = rj_fuse_meet(f, opts, err);
	if (!rc)
		rc = rj_fuse_start_threads(f, err);
	if (rc) {
		rj_fuse_stop(f);
		return rc;
	}
	*out = f;
	return 0;
}

bool rj_fuse_ended(const struct rj_fuse *f)
{
	return f->ended;
}

void rj_fuse_last_word(struct rj_fuse *f)
{
	rj_fs_shutdown_wait(f->fs_shutdown);
}

void rj_fuse_stop(struct rj_fuse *f)
{
	unsigned i;

	if (!f)
		return;
	if (f->running)
		umount2(f->mountpoint, MNT_DETACH);
	rj_fuse_join_threads(f);
	if (f->session) /* closes its descriptor, too */
		fuse_session_destroy(f->session);
	else if (f->fuse_fd != -1)
		close(f->fuse_fd);
	if (f->buffers)
		munmap(f->buffers, (size_t)RJ_FUSE_THREADS * RJ_FUSE_BUFFER);
	sem_destroy(&f->lock);
	for (i = 0; i < RJ_FUSE_THREADS; i++)
		sem_destroy(&f->called[i]);
	pthread_mutex_destroy(&f->aside);
	pthread_mutex_destroy(&f->waiters_lock);
	rj_volume_flush_close(&f->volume_flush);
	rj_fs_shutdown_free(f->fs_shutdown);
	free(f);
}
