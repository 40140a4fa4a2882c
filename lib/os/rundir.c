// SPDX-License-Identifier: LGPL-2.1-or-later
/* Name the runtime directories of daemons, and find those that are there. */
#include "os/rundir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "os/fileio.h"
#include "os/loopdev.h"
#include "util/environ.h"

const char *rj_state_dir(void)
{
	const char *dir = getenv("RJ_STATE");

	return dir && *dir ? dir : RJ_STATE_DEFAULT;
}

bool rj_saved_find(const uint8_t volume_uuid[RJ_UUID_BYTES], char out[RJ_SAVE_DIR_BYTES + 1])
{
	char dir[RJ_RUNDIR_PATH], uuid[RJ_UUID_TEXT], last[64] = "";
	struct dirent *e;
	DIR *d;

	rj_uuid_text(volume_uuid, uuid);
	snprintf(dir, sizeof(dir), "%s/saved", rj_state_dir());
	d = opendir(dir);
	/* UUID-TIME: the names are in the order of the times */
	while (d && (e = readdir(d)))
		if (!strncmp(e->d_name, uuid, strlen(uuid)) && e->d_name[strlen(uuid)] == '-' &&
			strlen(e->d_name) < sizeof(last) && strcmp(e->d_name, last) > 0)
			strcpy(last, e->d_name);
	if (d)
		closedir(d);
	return last[0] && snprintf(out, RJ_SAVE_DIR_BYTES + 1, "%s/%s", dir, last) <=
				  RJ_SAVE_DIR_BYTES;
}

const char *rj_rundir_root(void)
{
	const char *root = getenv("RJ_RUN");

	return root && *root ? root : RJ_RUNDIR_DEFAULT;
}

int rj_rundir_path(const uint8_t volume_uuid[RJ_UUID_BYTES], const char *name,
	char out[RJ_RUNDIR_PATH], struct rj_error *err)
{
	char text[RJ_UUID_TEXT];
	int n;

	n = snprintf(out, RJ_RUNDIR_PATH, "%s/%s%s%s", rj_rundir_root(),
		rj_uuid_text(volume_uuid, text), name ? "/" : "",
		name ? name : "");
	if (n < 0 || (size_t)n >= sizeof(((struct sockaddr_un *)0)->sun_path))
		return rj_fail(err, RJ_E_INVAL,
			"%s: the path of the runtime directory is too long; "
			"set RJ_RUN to a shorter one",
			rj_rundir_root());
	return 0;
}

bool rj_rundir_served(const uint8_t volume_uuid[RJ_UUID_BYTES])
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	char path[RJ_RUNDIR_PATH];
	bool served;
	int fd;

	if (rj_rundir_path(volume_uuid, "lock", path, NULL))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return errno != ENOENT && errno != ENOTDIR;
	/* only asks: does not get into a starting daemon's way */
	served = fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
	close(fd);
	return served;
}

bool rj_rundir_left(const uint8_t volume_uuid[RJ_UUID_BYTES], long *pid,
	char *device, size_t size)
{
	char path[RJ_RUNDIR_PATH], line[32] = "";
	FILE *f;

	if (rj_rundir_path(volume_uuid, "lock", path, NULL))
		return false;
	*pid = 0;
	device[0] = 0;
	f = fopen(path, "re");
	if (!f)
		return false;
	if (fgets(line, sizeof(line), f) && fgets(device, (int)size, f))
		*pid = strtol(line, NULL, 10);
	fclose(f);
	device[strcspn(device, "\n")] = 0;
	return *pid > 0 && device[0];
}

/* Find what PATH, a device or an image, is: for a loop device, the file that it shows. */
static bool volume_file(const char *path, struct stat *st)
{
	char sys[64], file[PATH_MAX];

	if (stat(path, st))
		return false;
	snprintf(sys, sizeof(sys), "/sys/dev/block/%u:%u", major(st->st_rdev), minor(st->st_rdev));
	return !S_ISBLK(st->st_mode) || !rj_loop_file(sys, file) || !stat(file, st);
}

static bool same_volume(const struct stat *a, const struct stat *b)
{
	return S_ISBLK(a->st_mode) ? S_ISBLK(b->st_mode) && a->st_rdev == b->st_rdev
				   : a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool rj_rundir_of(const char *device, const uint8_t uuid[RJ_UUID_BYTES],
	uint8_t found[RJ_UUID_BYTES])
{
	bool served = rj_rundir_served(uuid), other = false;
	uint8_t name[RJ_UUID_BYTES];
	char its[PATH_MAX];
	struct stat ours, theirs;
	DIR *dir = served || !volume_file(device, &ours) ? NULL : opendir(rj_rundir_root());
	const struct dirent *e;
	long pid;

	while (!other && dir && (e = readdir(dir)))
		other = rj_uuid_parse(e->d_name, name) &&
			rj_rundir_left(name, &pid, its, sizeof(its)) &&
			volume_file(its, &theirs) && same_volume(&ours, &theirs) &&
			rj_rundir_served(name);
	if (dir)
		closedir(dir);
	if (found)
		memmove(found, other ? name : uuid, RJ_UUID_BYTES);
	return served || other;
}

static int receive(int fd, const char *what, int64_t deadline,
	struct rj_buf *out, struct rj_error *err)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};
	int64_t left;
	ssize_t n;

	for (;;) {
		left = deadline - rj_monotonic_ns();
		if (left <= 0 || poll(&pfd, 1, (int)(left / 1000000) + 1) == 0)
			return rj_fail(err, RJ_E_UNREACHABLE,
				"%s: rjournald does not answer", what);
		if (rj_buf_reserve(out, 4096))
			return rj_fail(err, RJ_E_NOMEM, "out of memory");
		n = recv(fd, out->data + out->len, 4095, MSG_DONTWAIT);
		if (n == 0)
			break;
		if (n > 0)
			out->len += (size_t)n;
		else if (errno != EAGAIN && errno != EINTR)
			return rj_fail_errno(err, errno, "%s", what);
	}
	/* each answer ends with a newline */
	if (!out->len || out->data[out->len - 1] != '\n')
		return rj_fail(err, RJ_E_UNREACHABLE,
			"%s: rjournald closed the connection before its answer was complete: try again",
			what);
	out->data[--out->len] = 0;
	return 0;
}

int rj_rundir_ask(const uint8_t volume_uuid[RJ_UUID_BYTES], const char *line,
	int timeout_ms, struct rj_buf *out, struct rj_error *err)
{
	int64_t deadline = rj_monotonic_ns() + timeout_ms * 1000000LL;
	const struct timeval limit = {.tv_sec = timeout_ms / 1000,
		.tv_usec = timeout_ms % 1000 * 1000L};
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct rj_buf request = {0};
	char path[RJ_RUNDIR_PATH];
	int fd = -1, rc;

	rc = rj_rundir_path(volume_uuid, "control", path, err);
	if (rc)
		return rc;
	memcpy(addr.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd == -1) {
		rc = rj_fail_errno(err, errno, "socket");
		goto out;
	}
	/* one that hangs, and that others have asked before, takes no more */
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) == -1) {
		rc = errno == EAGAIN
			     ? rj_fail(err, RJ_E_UNREACHABLE,
				       "%s: rjournald does not answer", path)
		     : errno == ENOENT || errno == ECONNREFUSED
			     ? rj_fail(err, RJ_E_NOTFOUND,
				       "no rjournald serves this volume")
			     : rj_fail_errno(err, errno, "%s", path);
		goto out;
	}
	if (rj_buf_printf(&request, "%s\n", line)) {
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
		goto out;
	}
	if (send(fd, request.data, request.len, MSG_NOSIGNAL) !=
		(ssize_t)request.len) {
		rc = rj_fail_errno(err, errno, "%s", path);
		goto out;
	}
	rc = receive(fd, path, deadline, out, err);
out:
	if (fd != -1)
		close(fd);
	rj_buf_free(&request);
	return rc;
}
