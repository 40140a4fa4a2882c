// SPDX-License-Identifier: GPL-2.0-or-later
/* The front end of FUSE and a loop device: start and stop it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include "fuse-priv.h"
#include "os/fileio.h"

/* Opening loads the modules. */
static int prepare(const char *volume, int *held, struct rj_error *err)
{
	static const char *const needed[] = {"/dev/fuse", "/dev/loop-control"};
	unsigned i;
	int fd;

	for (i = 0; i < sizeof(needed) / sizeof(*needed); i++) {
		fd = open(needed[i], O_RDWR | O_CLOEXEC);
		if (fd == -1)
			return rj_fail_errno(err, errno,
				"%s (is the module loaded?)", needed[i]);
		close(fd);
	}
	*held = -1;
	return 0;
}

static struct rj_front *make(void)
{
	struct rj_fuse *f = calloc(1, sizeof(*f));
	unsigned i;

	if (!f)
		return NULL;
	pthread_mutex_init(&f->aside, NULL);
	pthread_mutex_init(&f->waiters_lock, NULL);
	f->parked_end = &f->parked;
	for (i = 0; i < RJ_FUSE_THREADS; i++)
		sem_init(&f->called[i], 0, 0);
	f->connection = f->fuse_fd = -1;
	return &f->front;
}

/* The loop device takes its own reference of the open file; ours is closed
 * again, so that the last user is the loop device. */
static int attach(struct rj_fuse *f, struct rj_error *err)
{
	char path[sizeof(f->mountpoint) + sizeof(RJ_FUSE_FILE)];
	struct rj_loop loop;
	int fd, rc;

	snprintf(path, sizeof(path), "%s/%s", f->mountpoint, RJ_FUSE_FILE);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd == -1)
		return rj_fail_errno(err, errno, "%s", path);
	rc = rj_loop_attach(fd, path, &loop, err);
	close(fd);
	if (rc)
		return rc;
	if (dup3(loop.fd, f->front.device.fd, O_CLOEXEC) == -1)
		rc = rj_fail_errno(err, errno, "dup3");
	close(loop.fd);
	loop.fd = f->front.device.fd;
	f->front.device = loop;
	return rc;
}

/*
 * A process that is killed releases its descriptors from the highest number down. The last
 * release of the loop device writes its dirty pages into our file, and waits for that: by then
 * /dev/fuse is to be released, which fails them. So the loop device has the lowest number of
 * these, which is kept for it until it is attached.
 */
static int keep_number(struct rj_fuse *f, struct rj_error *err)
{
	f->front.device.fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	return f->front.device.fd == -1 ? rj_fail_errno(err, errno, "/dev/null") : 0;
}

static int start(struct rj_front *front, const struct rj_front_opts *opts,
	struct rj_error *err)
{
	struct rj_fuse *f = (struct rj_fuse *)front;
	const bool resumed = opts->resumed != NULL;
	int rc = 0;

	snprintf(f->mountpoint, sizeof(f->mountpoint), "%s", opts->mountpoint);
	if (resumed) {
		f->connection = opts->resumed->fd[RJ_WORKER_FD_FRONT];
		front->device.fd = opts->resumed->fd[RJ_WORKER_FD_LOOP];
	} else {
		rc = keep_number(f, err);
		if (!rc)
			rc = rj_fuse_mount(
				opts->mountpoint, opts->volume, &f->connection, err);
	}
	if (!rc)
		rc = rj_fd_above(&f->connection, front->device.fd, err);
	if (!rc)
		rc = rj_fuse_get_buffers(f, err);
	if (!rc)
		rc = rj_fuse_meet(f, resumed, err);
	if (!rc)
		rc = rj_fuse_start_threads(f, err);
	return rc || resumed ? rc : attach(f, err);
}

static void fds(const struct rj_front *front, struct rj_worker_fds *out)
{
	out->fd[RJ_WORKER_FD_FRONT] = ((const struct rj_fuse *)front)->connection;
	out->fd[RJ_WORKER_FD_LOOP] = front->device.fd;
}

static bool used(struct rj_front *front)
{
	return rj_fuse_users((struct rj_fuse *)front) != 0;
}

static void stop(struct rj_front *front)
{
	struct rj_fuse *f = (struct rj_fuse *)front;
	unsigned i;

	if (f->running)
		umount2(f->mountpoint, MNT_DETACH);
	rj_fuse_join_threads(f);
	if (f->session) /* closes its descriptor, too */
		fuse_session_destroy(f->session);
	else if (f->fuse_fd != -1)
		close(f->fuse_fd);
	if (f->connection != -1)
		close(f->connection);
	if (f->buffers)
		munmap(f->buffers, (size_t)RJ_FUSE_THREADS * RJ_FUSE_BUFFER);
	for (i = 0; i < RJ_FUSE_THREADS; i++)
		sem_destroy(&f->called[i]);
	pthread_mutex_destroy(&f->aside);
	pthread_mutex_destroy(&f->waiters_lock);
}

const struct rj_front_ops rj_front_fuse = {
	.name = "fuse",
	.prepare = prepare,
	.make = make,
	.start = start,
	.fds = fds,
	.can_resume = rj_fuse_can_resume,
	.used = used,
	.stop = stop,
};
