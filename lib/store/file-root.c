// SPDX-License-Identifier: LGPL-2.1-or-later
/* Open again or close the directories that a store of file:// uses. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/beneath.h"
#include "store/file-priv.h"

int rj_file_openat(const struct file_store *fs, const char *text, int flags)
{
	return rj_beneath_openat(fs->root, text, flags);
}

int rj_file_fail(const struct file_store *fs, int e, const char *doing, const char *text,
	struct rj_error *err)
{
	if (e != ELOOP && e != EXDEV)
		return rj_fail_errno(err, e, "%s: %s %s", fs->base.url, doing, text);
	return rj_fail(err, RJ_E_DENIED,
		"%s: %s %s: a symbolic link is in the way, and none is followed below that directory: put what it leads to in its place (mv, or mount --bind)",
		fs->base.url, doing, text);
}

void rj_file_forget_dir(struct file_store *fs)
{
	if (fs->dir >= 0)
		close(fs->dir);
	fs->dir = -1;
}

/* A directory that was deleted (also by the NFS server) takes no new files, and may have
 * been made again. One that was moved, or that is mounted over, is still the right one. */
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
