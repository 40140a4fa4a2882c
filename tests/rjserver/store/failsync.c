// SPDX-License-Identifier: GPL-2.0-or-later
/* LD_PRELOAD: fdatasync() fails with EIO while the file $FAILSYNC exists. */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

int fdatasync(int fd)
{
	int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
	const char *path = getenv("FAILSYNC");

	if (path && !access(path, F_OK)) {
		errno = EIO;
		return -1;
	}
	return real(fd);
}
