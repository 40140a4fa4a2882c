// SPDX-License-Identifier: GPL-2.0-or-later
/* Write 0 to extent_max_zeroout_kb in sysfs while the volume has data=journal. */
#include "zeroout.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/mountinfo.h"
#include "os/thread.h"
#include "util/log.h"

#define PERIOD_NS 1000000000LL

struct rj_zeroout {
	struct rj_ticker ticker;
	pthread_mutex_t lock;
	char *volume;
	bool off;
	int error; /* that was said last */
};

/* 0: it is set; was it set just now? Else an errno value. */
static int set(const char *name, bool *changed)
{
	char path[96], now[32] = "";
	int fd, e = 0;

	snprintf(path, sizeof(path),
		"/sys/fs/ext4/%.32s/extent_max_zeroout_kb", name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd == -1)
		return errno;
	*changed = read(fd, now, sizeof(now) - 1) < 0 || strcmp(now, "0\n");
	if (*changed && pwrite(fd, "0\n", 2, 0) != 2)
		e = errno;
	close(fd);
	return e;
}

void rj_zeroout_look(struct rj_zeroout *z)
{
	char dir[4096], name[32];
	bool changed = false;
	dev_t dev;
	int e = 0;

	if (!z)
		return;
	pthread_mutex_lock(&z->lock);
	z->off = rj_mountinfo_of_volume(z->volume, dir, sizeof(dir), &dev) &&
		 rj_mountinfo_device_name(dev, name, sizeof(name)) &&
		 rj_mountinfo_ext4_option(name, "data=journal");
	if (z->off)
		e = set(name, &changed);
	if (e) {
		z->off = false;
		if (e != z->error)
			rj_log(RJ_LOG_WARNING,
				"%s: cannot set extent_max_zeroout_kb to 0, as data=journal needs it: %s",
				dir, strerror(e));
	} else if (changed) {
		rj_log(RJ_LOG_NOTICE,
			"%s: data=journal: extent_max_zeroout_kb is set to 0",
			dir);
	}
	z->error = e;
	pthread_mutex_unlock(&z->lock);
}

static void tick(void *arg)
{
	rj_zeroout_look(arg);
}

bool rj_zeroout_off(struct rj_zeroout *z)
{
	bool off;

	if (!z)
		return false;
	pthread_mutex_lock(&z->lock);
	off = z->off;
	pthread_mutex_unlock(&z->lock);
	return off;
}

static void release(struct rj_zeroout *z)
{
	pthread_mutex_destroy(&z->lock);
	free(z->volume);
	free(z);
}

int rj_zeroout_start(
	const char *volume, struct rj_zeroout **out, struct rj_error *err)
{
	struct rj_zeroout *z = calloc(1, sizeof(*z));
	int e;

	*out = NULL;
	if (!z)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	pthread_mutex_init(&z->lock, NULL);
	z->volume = realpath(volume, NULL);
	e = z->volume ? rj_ticker_start(&z->ticker, PERIOD_NS, tick, z) : errno;
	if (e) {
		release(z);
		return rj_fail_errno(err, e, "%s", volume);
	}
	*out = z;
	return 0;
}

void rj_zeroout_stop(struct rj_zeroout *z)
{
	if (!z)
		return;
	rj_ticker_stop(&z->ticker);
	release(z);
}
