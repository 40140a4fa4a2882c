// SPDX-License-Identifier: GPL-2.0-or-later
/* The thread that looks for the end of a mount. */
#include "unmount-watch.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/mountinfo.h"
#include "os/thread.h"
#include "util/environ.h"
#include "written.h"

/* An unmount takes milliseconds from emptying the journal to its end. What goes on for
 * longer is mostly a freeze. */
#define LOOK_NS	    500000LL
#define FREEZE_NS   20000000LL
#define FROZEN_AT_NS 2000000000LL

struct rj_unmount_watch {
	char *volume;
	bool find; /* the device is to be found by the thread */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stop, looking, taken;
	unsigned turn; /* counts what ended the looking */
	int64_t since_ns; /* it looks, monotonic */
	dev_t dev;     /* 0: not known */
	char path[48]; /* of DEV */
	int fd;	     /* of the volume */
	int written; /* rj_written_watch() of the volume; -1: none */
	uint8_t super[RJ_RAW_SUPER_BYTES];
};

static void close_if_open(int fd)
{
	if (fd != -1)
		close(fd);
}

static void swap(int *a, int *b)
{
	int was = *a;

	*a = *b;
	*b = was;
}

void rj_unmount_watch_mounted(struct rj_unmount_watch *w)
{
	char dir[4096], name[32];
	int fd, written;
	dev_t dev;

	if (!w || !rj_mountinfo_of_volume(w->volume, dir, sizeof(dir), &dev) ||
		!rj_mountinfo_device_name(dev, name, sizeof(name)))
		return;
	/* before the looking: an image's opens are noticed; and without the lock, which
	 * the kernel's requests take */
	fd = rj_super_open(w->volume);
	written = rj_written_watch(w->volume);
	pthread_mutex_lock(&w->lock);
	if (!w->looking) {
		swap(&w->fd, &fd);
		swap(&w->written, &written);
		w->dev = w->fd == -1 ? 0 : dev;
		snprintf(w->path, sizeof(w->path), "/dev/%s", name);
	}
	pthread_mutex_unlock(&w->lock);
	close_if_open(fd);
	close_if_open(written);
}

/* Read the superblock while nothing that asks for the device exclusively has it. */
static bool try_once(const struct rj_unmount_watch *w, const char *path,
	dev_t dev, uint8_t raw[RJ_RAW_SUPER_BYTES])
{
	int fd = open(path, O_RDONLY | O_EXCL | O_CLOEXEC);
	struct stat st;
	bool done;

	if (fd == -1)
		return false;
	done = !fstat(fd, &st) && S_ISBLK(st.st_mode) && st.st_rdev == dev &&
	       rj_super_read(w->fd, raw);
	close(fd);
	return done;
}

static void pause_locked(struct rj_unmount_watch *w)
{
	int64_t now = rj_monotonic_ns();
	struct timespec until = rj_cond_until(
		now - w->since_ns < FROZEN_AT_NS ? LOOK_NS : FREEZE_NS);

	pthread_cond_timedwait(&w->wake, &w->lock, &until);
}

static void look_locked(struct rj_unmount_watch *w)
{
	uint8_t raw[RJ_RAW_SUPER_BYTES];
	char path[sizeof(w->path)];
	unsigned turn = w->turn;
	dev_t dev = w->dev;
	bool got;

	memcpy(path, w->path, sizeof(path));
	pthread_mutex_unlock(&w->lock);
	got = try_once(w, path, dev, raw);
	pthread_mutex_lock(&w->lock);
	if (turn != w->turn)
		return;
	if (!got) {
		pause_locked(w);
		return;
	}
	memcpy(w->super, raw, sizeof(w->super));
	/* a program that does not ask for the device exclusively may have been faster */
	w->taken = !rj_written_since(w->written);
	w->looking = false;
	pthread_cond_broadcast(&w->wake);
}

static void *run(void *arg)
{
	struct rj_unmount_watch *w = arg;

	if (w->find)
		rj_unmount_watch_mounted(w);
	pthread_mutex_lock(&w->lock);
	while (!w->stop)
		if (w->looking)
			look_locked(w);
		else
			pthread_cond_wait(&w->wake, &w->lock);
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

void rj_unmount_watch_look(struct rj_unmount_watch *w, bool soon)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->turn++;
	w->taken = false;
	w->looking = w->dev != 0;
	rj_written_forget(w->written);
	w->since_ns = rj_monotonic_ns() - (soon ? 0 : FROZEN_AT_NS);
	pthread_cond_broadcast(&w->wake);
	pthread_mutex_unlock(&w->lock);
}

void rj_unmount_watch_end(struct rj_unmount_watch *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->turn++;
	w->looking = w->taken = false;
	pthread_cond_broadcast(&w->wake);
	pthread_mutex_unlock(&w->lock);
}

bool rj_unmount_watch_wait(struct rj_unmount_watch *w, int64_t ns,
	uint8_t raw[RJ_RAW_SUPER_BYTES])
{
	struct timespec until;
	bool taken;

	if (!w)
		return false;
	until = rj_cond_until(ns);
	pthread_mutex_lock(&w->lock);
	while (w->looking && !pthread_cond_timedwait(&w->wake, &w->lock, &until))
		;
	taken = w->taken;
	if (taken)
		memcpy(raw, w->super, sizeof(w->super));
	pthread_mutex_unlock(&w->lock);
	return taken;
}

int rj_unmount_watch_start(const char *volume, bool mounted,
	struct rj_unmount_watch **out, struct rj_error *err)
{
	struct rj_unmount_watch *w = calloc(1, sizeof(*w));
	int e;

	*out = NULL;
	if (w)
		w->volume = strdup(volume);
	if (!w || !w->volume) {
		free(w);
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	}
	w->find = mounted;
	w->fd = w->written = -1;
	pthread_mutex_init(&w->lock, NULL);
	rj_cond_init(&w->wake);
	e = rj_thread_start(&w->thread, run, w);
	if (e) {
		free(w->volume);
		free(w);
		return rj_fail_errno(err, e, "cannot start a thread");
	}
	*out = w;
	return 0;
}

void rj_unmount_watch_stop(struct rj_unmount_watch *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_cond_broadcast(&w->wake);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->wake);
	close_if_open(w->fd);
	close_if_open(w->written);
	free(w->volume);
	free(w);
}
