// SPDX-License-Identifier: GPL-2.0-or-later
/* One request after another: that is the order. */
#define FUSE_USE_VERSION 35
#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "events.h"
#include "record.h"

#define FILE_INO 2 /* and those after it */
#define FILES	 2
#define CACHE_S	86400.0

static struct {
	struct fuse_session *session;
	pthread_t thread;
	struct {
		int fd;
		off_t size;
		const char *name, *event;
	} file[FILES];
	unsigned count;
} V = {.file = {{.name = "volume"},
	       {.name = "fallback", .event = EVENT_FALLBACK}}};

static void stat_of(fuse_ino_t ino, struct stat *st)
{
	memset(st, 0, sizeof(*st));
	st->st_ino = ino;
	st->st_nlink = 1;
	st->st_mode = ino >= FILE_INO ? S_IFREG | 0600 : S_IFDIR | 0700;
	st->st_size = ino >= FILE_INO ? V.file[ino - FILE_INO].size : 0;
}

static void op_init(void *arg, struct fuse_conn_info *conn)
{
	conn->max_write = 1 << 20;
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param e = {
		.attr_timeout = CACHE_S, .entry_timeout = CACHE_S};
	unsigned i;

	for (i = 0; i < V.count && strcmp(name, V.file[i].name) != 0; i++)
		continue;
	if (i == V.count) {
		fuse_reply_err(req, ENOENT);
		return;
	}
	e.ino = FILE_INO + i;
	stat_of(e.ino, &e.attr);
	fuse_reply_entry(req, &e);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct stat st;

	stat_of(ino, &st);
	fuse_reply_attr(req, &st, CACHE_S);
}

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	fi->direct_io = 1;
	fuse_reply_open(req, fi);
}

static void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
	struct fuse_file_info *fi)
{
	char *buf = malloc(size + 1);
	ssize_t n = buf ? pread(V.file[ino - FILE_INO].fd, buf, size, off) : -1;

	if (n < 0)
		fuse_reply_err(req, EIO);
	else
		fuse_reply_buf(req, buf, (size_t)n);
	free(buf);
}

static void note_flush(fuse_ino_t ino)
{
	events_add(EVENT_FLUSH, 0, 0, V.file[ino - FILE_INO].event, NULL);
}

static void op_write(fuse_req_t req, fuse_ino_t ino, const char *data,
	size_t size, off_t off, struct fuse_file_info *fi)
{
	events_add(EVENT_WRITE, (uint64_t)off, (uint32_t)size,
		V.file[ino - FILE_INO].event, data);
	if (pwrite(V.file[ino - FILE_INO].fd, data, size, off) != (ssize_t)size) {
		fuse_reply_err(req, EIO);
	} else {
		/* the kernel sends no fsync after a direct write with O_DSYNC,
		 * only the flag: it is for the file system to see to it */
		if (fi->flags & O_DSYNC)
			note_flush(ino);
		fuse_reply_write(req, size);
	}
}

static void op_fsync(
	fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	note_flush(ino);
	fuse_reply_err(req, 0);
}

/* loop may punch holes for a discard: refused, it does without */
static void op_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t off,
	off_t len, struct fuse_file_info *fi)
{
	fuse_reply_err(req, EOPNOTSUPP);
}

static const struct fuse_lowlevel_ops ops = {
	.init = op_init,
	.lookup = op_lookup,
	.getattr = op_getattr,
	.open = op_open,
	.read = op_read,
	.write = op_write,
	.fsync = op_fsync,
	.fallocate = op_fallocate,
};

static void *serve(void *arg)
{
	fuse_session_loop(V.session);
	return NULL;
}

static int add_file(const char *image)
{
	struct stat st;
	int fd = open(image, O_RDWR | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st))
		return -1;
	V.file[V.count].size = st.st_size;
	V.file[V.count++].fd = fd;
	return 0;
}

int volume_start(const char *dir, const char *image, const char *fallback)
{
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);

	if (add_file(image) || (*fallback && add_file(fallback)))
		return -1;
	if (fuse_opt_add_arg(&args, "record") ||
		fuse_opt_add_arg(&args, "-ofsname=record"))
		return -1;
	V.session = fuse_session_new(&args, &ops, sizeof(ops), NULL);
	fuse_opt_free_args(&args);
	if (!V.session || fuse_session_mount(V.session, dir))
		return -1;
	return pthread_create(&V.thread, NULL, serve, NULL) ? -1 : 0;
}

void volume_stop(void)
{
	fuse_session_exit(V.session);
	fuse_session_unmount(V.session);
	pthread_join(V.thread, NULL);
	fuse_session_destroy(V.session);
	while (V.count)
		close(V.file[--V.count].fd);
}
