// SPDX-License-Identifier: GPL-2.0-or-later
#include "fsdown.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/environ.h"
#include "util/log.h"
#include "util/mountinfo.h"
#include "util/thread.h"

/* For a thread that is between its data and the commit to arrive there, on a
 * machine that has much else to do. The journal is lost: there is no hurry. */
#define HOLD_NS 3000000000LL

/* More than a worker ever has open. */
#define FDS_MAX 1024

/* fs/ext4/ext4.h, Linux 4.11; no header of the kernel's has them */
#define EXT4_IOC_SHUTDOWN      _IOR('X', 125, uint32_t)
#define EXT4_GOING_FLAGS_LOGFLUSH 1u

struct rj_fsdown {
	char *volume;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool asked, stop;
	bool nothing; /* to be shut down, or it could not be */
	bool busy;    /* the thread is at work */
	int64_t until_ns;
};

/* The options of the mount as the kernel shows them, all of them. */
static bool would_panic(dev_t dev)
{
	char path[96], link[256], line[256];
	const char *name;
	bool panic = false;
	ssize_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major(dev),
		minor(dev));
	n = readlink(path, link, sizeof(link) - 1);
	if (n <= 0)
		return false;
	link[n] = 0;
	name = strrchr(link, '/');
	snprintf(path, sizeof(path), "/proc/fs/ext4/%.32s/options",
		name ? name + 1 : link);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		panic = panic || !strcmp(line, "errors=panic\n");
	if (f)
		fclose(f);
	return panic;
}

/*
 * In a process of its own, which waits in the kernel until the held requests are
 * answered: were it a thread, a worker that is killed now would not be gone, and
 * the next one, which has to answer them, not be started, until then. With
 * LOGFLUSH the running transaction is committed, which fails as well, so that
 * there is one for those to wait for who are on their way to it.
 * Nothing but system calls behind fork().
 */
static pid_t begin(const char *dir, dev_t dev)
{
	uint32_t how = EXT4_GOING_FLAGS_LOGFLUSH;
	pid_t child = fork();
	struct stat st;
	int fd;

	if (child)
		return child;
	/* not /dev/fuse, not the lock; before Linux 5.9 one by one */
	for (fd = close_range(3, ~0u, 0) ? FDS_MAX : 3; fd > 3; fd--)
		close(fd);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* something else may be mounted over it */
	if (fd == -1 || fstat(fd, &st) || st.st_dev != dev)
		_exit(ENOENT);
	_exit(ioctl(fd, EXT4_IOC_SHUTDOWN, &how) ? errno : 0);
}

static bool shut_down(const char *volume)
{
	char dir[4096];
	pid_t child;
	int status;
	dev_t dev;

	if (!rj_mountinfo_of_volume(volume, dir, sizeof(dir), &dev) ||
		would_panic(dev))
		return false;
	rj_log(RJ_LOG_ERROR,
		"%s: the file system is shut down, so that nothing more is acknowledged; unmount it",
		dir);
	child = begin(dir, dev);
	if (child == -1) {
		rj_log(RJ_LOG_ERROR, "%s: cannot shut it down: fork: %s", dir,
			strerror(errno));
		return false;
	}
	while (waitpid(child, &status, 0) == -1 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status))
		rj_log(RJ_LOG_ERROR, "%s: cannot shut it down: %s", dir,
			strerror(WEXITSTATUS(status)));
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static void *run(void *arg)
{
	struct rj_fsdown *s = arg;
	bool done;

	pthread_mutex_lock(&s->lock);
	while (!s->asked && !s->stop)
		pthread_cond_wait(&s->changed, &s->lock);
	if (s->asked) {
		s->busy = true;
		pthread_mutex_unlock(&s->lock);
		done = shut_down(s->volume);
		pthread_mutex_lock(&s->lock);
		s->busy = false;
		s->nothing = !done;
		pthread_cond_broadcast(&s->changed);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

void rj_fsdown_hold(struct rj_fsdown *s)
{
	struct timespec until;
	int64_t left;

	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	if (!s->asked) {
		s->asked = true;
		s->until_ns = rj_monotonic_ns() + HOLD_NS;
		pthread_cond_broadcast(&s->changed);
	}
	while (!s->nothing &&
		(left = s->until_ns - rj_monotonic_ns()) > 0) {
		until = rj_cond_until(left);
		pthread_cond_timedwait(&s->changed, &s->lock, &until);
	}
	pthread_mutex_unlock(&s->lock);
}

static void release(struct rj_fsdown *s)
{
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s->volume);
	free(s);
}

int rj_fsdown_new(
	const char *volume, struct rj_fsdown **out, struct rj_error *err)
{
	struct rj_fsdown *s = calloc(1, sizeof(*s));
	int e;

	*out = NULL;
	if (!s)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	pthread_mutex_init(&s->lock, NULL);
	rj_cond_init(&s->changed);
	s->volume = realpath(volume, NULL);
	e = s->volume ? rj_thread_start(&s->thread, run, s) : errno;
	if (e) {
		release(s);
		return rj_fail_errno(err, e, "%s: cannot start a thread", volume);
	}
	*out = s;
	return 0;
}

void rj_fsdown_free(struct rj_fsdown *s)
{
	bool busy;

	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->stop = true;
	busy = s->busy;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	/* it may hang in a mount of somebody else's; the process ends soon */
	if (busy)
		return;
	pthread_join(s->thread, NULL);
	release(s);
}
