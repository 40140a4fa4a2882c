// SPDX-License-Identifier: LGPL-2.1-or-later
/* The directories that a store of file:// holds open. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/file-priv.h"

void rj_file_forget_dir(struct file_store *fs)
{
	if (fs->dir >= 0)
		close(fs->dir);
	fs->dir = -1;
}

/* Somebody deleted it (or the NFS server did), and may put it back: nothing can be
 * put into the directory that is held. One that was moved, or over which something
 * is mounted, is still the one that was meant. */
void rj_file_find_root(struct file_store *fs)
{
	struct stat st;
	int fd;

	if (fstat(fs->root, &st) ? errno != ESTALE : st.st_nlink > 0)
		return;
	fd = open(fs->base.url + strlen("file://"),
		O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	rj_file_forget_dir(fs);
	close(fs->root);
	fs->root = fd;
}
