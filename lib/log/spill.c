// SPDX-License-Identifier: LGPL-2.1-or-later
/* Map an unnamed file as memory that the kernel can write out. */
#include "log/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void *rj_spill_map(size_t bytes, int *fd)
{
	const char *dir = getenv("TMPDIR");
	void *p = MAP_FAILED;
	int saved;

	*fd = open(dir && dir[0] ? dir : "/var/tmp",
		O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (*fd < 0)
		return NULL;
	/* reserved, not only made long: a full disk would be a SIGBUS later */
	if (!fallocate(*fd, 0, 0, (off_t)bytes))
		p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *fd,
			0);
	if (p != MAP_FAILED)
		return p;
	saved = errno;
	close(*fd); /* nothing in it */
	*fd = -1;
	errno = saved;
	return NULL;
}

int rj_spill_clear(int fd, size_t bytes)
{
	return fallocate(fd, FALLOC_FL_ZERO_RANGE, 0, (off_t)bytes);
}
