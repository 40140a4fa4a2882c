// SPDX-License-Identifier: LGPL-2.1-or-later
/* Find a free loop device, and attach a file to it. */
#include "os/loopdev.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/loop.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "util/environ.h"

#define TRIES    200
#define RETRY_NS 5000000LL
/* Every journal block is a multiple of it, and so is every tool's write. */
#define BLOCK_SIZE 512

/* 0, or an errno. EBUSY: another process was faster. */
static int try_attach(int fd, const char *path, int number, struct rj_loop *out)
{
	struct loop_config config = {
		.fd = (__u32)fd,
		.block_size = BLOCK_SIZE,
		.info.lo_flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO,
	};
	int e;

	snprintf((char *)config.info.lo_file_name,
		sizeof(config.info.lo_file_name), "%s", path);
	snprintf(out->path, sizeof(out->path), "/dev/loop%d", number);
	out->fd = open(out->path, O_RDWR | O_CLOEXEC);
	if (out->fd == -1)
		return errno;
	if (ioctl(out->fd, LOOP_CONFIGURE, &config) == 0)
		return 0;
	e = errno;
	close(out->fd);
	out->fd = -1;
	return e;
}

int rj_loop_attach(
	int fd, const char *path, struct rj_loop *out, struct rj_error *err)
{
	int control, number, tries, e = 0;

	out->fd = -1;
	control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	if (control == -1)
		return rj_fail_errno(err, errno,
			"/dev/loop-control (is the loop module loaded?)");
	for (tries = 0; tries < TRIES; tries++) {
		number = ioctl(control, LOOP_CTL_GET_FREE);
		e = number < 0 ? errno : try_attach(fd, path, number, out);
		/* ENOENT, ENXIO: a new device whose node is yet to appear */
		if (e != EBUSY && e != ENOENT && e != ENXIO && e != EAGAIN)
			break;
		rj_sleep_ns(RETRY_NS);
	}
	close(control);
	if (e)
		return rj_fail_errno(
			err, e, "%s: cannot attach a loop device", path);
	return 0;
}

bool rj_loop_mounted(const struct rj_loop *loop)
{
	char stats[64];

	/* jbd2_stats_proc_init(): there as long as the journal is in use */
	snprintf(stats, sizeof(stats), "/proc/fs/jbd2/%s",
		strrchr(loop->path, '/') + 1);
	return access(stats, F_OK) == 0;
}

bool rj_loop_exclusive(const struct rj_loop *loop)
{
	int fd = open(loop->path, O_RDONLY | O_EXCL | O_CLOEXEC);

	if (fd == -1)
		return errno == EBUSY;
	close(fd);
	return false;
}

void rj_loop_let_go(struct rj_loop *loop)
{
	if (loop->fd != -1)
		close(loop->fd);
	loop->fd = -1;
}

bool rj_loop_file(const char *sys, char file[PATH_MAX])
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/loop/backing_file", sys);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(file, PATH_MAX, f))
		*file = 0;
	fclose(f);
	file[strcspn(file, "\n")] = 0;
	return true;
}

bool rj_loop_shows(const char *sys, const char *image)
{
	char file[PATH_MAX];

	return rj_loop_file(sys, file) && !strcmp(file, image);
}

unsigned rj_loop_of(const char *image, char *path, size_t size)
{
	DIR *dir = opendir("/sys/block");
	const struct dirent *e;
	char sys[300];
	unsigned n = 0;

	while (dir && (e = readdir(dir))) {
		snprintf(sys, sizeof(sys), "/sys/block/%s", e->d_name);
		if (strncmp(e->d_name, "loop", 4) != 0 || !rj_loop_shows(sys, image))
			continue;
		snprintf(path, size, "/dev/%s", e->d_name);
		n++;
	}
	if (dir)
		closedir(dir);
	return n;
}
