// SPDX-License-Identifier: GPL-2.0-or-later
#include "written.h"

#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

int rj_written_watch(const char *path)
{
	struct stat st;
	int fd;

	if (stat(path, &st))
		return -1;
	fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (fd != -1 &&
		inotify_add_watch(fd, path,
			S_ISBLK(st.st_mode) ? IN_MODIFY | IN_CLOSE_WRITE
					    : IN_OPEN) == -1) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Is there something to read? It is read. */
static bool take(int fd)
{
	_Alignas(struct inotify_event) char events[4096];

	return fd != -1 && read(fd, events, sizeof(events)) > 0;
}

void rj_written_forget(int fd)
{
	while (take(fd))
		;
}

bool rj_written_since(int fd)
{
	return take(fd);
}
