// SPDX-License-Identifier: GPL-2.0-or-later
/* Shut the mounted file system down, and withhold the journal's error until then. */
#include "fs-shutdown.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "late.h"
#include "os/mountinfo.h"
#include "os/proc.h"
#include "os/thread.h"
#include "util/environ.h"
#include "util/log.h"

/* How long to withhold the error after the shutdown, so that a thread between writing
 * its data and waiting for the commit still sees the failure, on a busy machine too. */
#define WITHHOLD_NS 3000000000LL
/* How long if threads do not come there, and how often to look for them. */
#define LATE_NS	     30000000000LL
#define LATE_LOOK_NS 200000000LL
/* How long if the file system does not go down. */
#define LIMIT_NS 15000000000LL
#define LOOK_NS	 5000000L

/* More than a worker ever has open. */
#define FDS_MAX 1024

/* fs/ext4/ext4.h, Linux 4.11; no header of the kernel's has them */
#define EXT4_IOC_SHUTDOWN _IOR('X', 125, uint32_t)
#define EXT4_GOING_FLAGS_NOLOGFLUSH 2u

struct rj_fs_shutdown {
	char *volume;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool asked, stop;
	bool nothing; /* to be shut down, or it could not be */
	bool busy;    /* the thread is at work */
	int64_t until_ns;
	struct rj_late late;
};

static bool would_panic(dev_t dev)
{
	char name[32];

	return rj_mountinfo_device_name(dev, name, sizeof(name)) &&
	       rj_mountinfo_ext4_option(name, "errors=panic");
}

/*
 * In a process of its own, which waits in the kernel until the held requests are
 * answered: were it a thread, a worker that is killed now would not be gone, and
 * the next one, which has to answer them, not be started, until then.
 * NOLOGFLUSH, for that shuts it down at once. LOGFLUSH commits first, and that
 * waits for the held requests: on Linux 6.18 all calls are let in until then. The
 * journal is aborted with it, which no process is told: a thread that has come waits
 * for the transaction whose requests are held.
 * Nothing but system calls after fork(). CALLS is shared: it calls the ioctl now.
 */
static pid_t begin(const char *dir, dev_t dev, atomic_bool *calls)
{
	uint32_t how = EXT4_GOING_FLAGS_NOLOGFLUSH;
	pid_t child = fork();
	struct stat st;
	int fd;

	if (child)
		return child;
	/* not /dev/fuse, not the lock; before Linux 5.9 one by one */
	for (fd = close_range(3, ~0u, 0) ? FDS_MAX : 2; fd > 2; fd--)
		close(fd);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* something else may be mounted over it */
	if (fd == -1 || fstat(fd, &st) || st.st_dev != dev)
		_exit(ENOENT);
	*calls = true;
	_exit(ioctl(fd, EXT4_IOC_SHUTDOWN, &how) ? errno : 0);
}

static void set_until(struct rj_fs_shutdown *s, int64_t until)
{
	pthread_mutex_lock(&s->lock);
	s->until_ns = until;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

/* Withhold the error for WITHHOLD_NS, and while there are threads that came to fsync before
 * it was down and are not where they will be told. */
static void is_down(struct rj_fs_shutdown *s)
{
	int64_t down = rj_monotonic_ns();
	size_t left;

	set_until(s, down + LATE_NS);
	while (rj_monotonic_ns() < down + WITHHOLD_NS) {
		rj_late_find(&s->late);
		rj_sleep_ns(LATE_LOOK_NS);
	}
	while ((left = rj_late_left(&s->late)) && rj_monotonic_ns() <= down + LATE_NS)
		rj_sleep_ns(LATE_LOOK_NS);
	if (left)
		rj_log(RJ_LOG_ERROR,
			"threads wait for their data since before: fsync may tell them that all is well");
	set_until(s, 0);
}

/* Wait for CHILD, and for its ioctl to have begun: it sleeps in the kernel when the file
 * system is down and the journal's superblock is to be written. Returns its status. */
static int see_down(
	struct rj_fs_shutdown *s, pid_t child, const atomic_bool *calls)
{
	const struct timespec look = {0, LOOK_NS};
	bool down = false;
	int status = 0;
	pid_t rc;

	for (;;) {
		rc = waitpid(child, &status, down ? 0 : WNOHANG);
		if (rc == child || (rc == -1 && errno != EINTR))
			break;
		if (!down && *calls && rj_proc_state(child) == 'D') {
			is_down(s);
			down = true;
		} else if (!down) {
			nanosleep(&look, NULL);
		}
	}
	if (!down && WIFEXITED(status) && !WEXITSTATUS(status))
		is_down(s);
	return status;
}

static bool shut_down(struct rj_fs_shutdown *s)
{
	char dir[4096];
	atomic_bool *calls;
	int status, e = 0;
	pid_t child;
	dev_t dev;

	if (!rj_mountinfo_of_volume(s->volume, dir, sizeof(dir), &dev) ||
		would_panic(dev))
		return false;
	s->late.dev = dev;
	rj_log(RJ_LOG_ERROR,
		"%s: the file system is shut down, so that nothing more is acknowledged; unmount it",
		dir);
	calls = mmap(NULL, sizeof(*calls), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	child = calls == MAP_FAILED ? -1 : begin(dir, dev, calls);
	if (child == -1) {
		e = errno;
	} else {
		status = see_down(s, child, calls);
		e = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
	}
	if (calls != MAP_FAILED)
		munmap(calls, sizeof(*calls));
	if (e)
		rj_log(RJ_LOG_ERROR, "%s: cannot shut it down: %s", dir,
			strerror(e));
	return !e;
}

static void *run(void *arg)
{
	struct rj_fs_shutdown *s = arg;
	bool done;

	pthread_mutex_lock(&s->lock);
	while (!s->asked && !s->stop)
		pthread_cond_wait(&s->changed, &s->lock);
	if (s->asked) {
		s->busy = true;
		pthread_mutex_unlock(&s->lock);
		done = shut_down(s);
		pthread_mutex_lock(&s->lock);
		s->busy = false;
		s->nothing = !done;
		pthread_cond_broadcast(&s->changed);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

void rj_fs_shutdown_wait(struct rj_fs_shutdown *s)
{
	struct timespec until;
	int64_t left;

	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	if (!s->asked) {
		s->asked = true;
		s->until_ns = rj_monotonic_ns() + LIMIT_NS;
		pthread_cond_broadcast(&s->changed);
	}
	while (!s->nothing &&
		(left = s->until_ns - rj_monotonic_ns()) > 0) {
		until = rj_cond_until(left);
		pthread_cond_timedwait(&s->changed, &s->lock, &until);
	}
	pthread_mutex_unlock(&s->lock);
}

static void release(struct rj_fs_shutdown *s)
{
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s->volume);
	free(s);
}

int rj_fs_shutdown_new(
	const char *volume, struct rj_fs_shutdown **out, struct rj_error *err)
{
	struct rj_fs_shutdown *s = calloc(1, sizeof(*s));
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

void rj_fs_shutdown_free(struct rj_fs_shutdown *s)
{
	bool busy;

	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->stop = true;
	busy = s->busy;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	/* it may hang in a mount of another process; the process ends soon */
	if (busy)
		return;
	pthread_join(s->thread, NULL);
	release(s);
}
