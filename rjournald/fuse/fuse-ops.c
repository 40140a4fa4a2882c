// SPDX-License-Identifier: GPL-2.0-or-later
/* What the kernel is answered: one file, and its writes go to the pipeline. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "fuse-priv.h"

#define FILE_INO   2
/* Seconds that the kernel may cache names and attributes, which never change. */
#define CACHE_S	  86400.0
/* Requests that the kernel lets be under way at once. One more than these, a
 * read as well, waits in the kernel. A loop device hands out fewer: 128, each
 * of up to 2 writes. */
#define BACKGROUND 512

_Thread_local uint64_t rj_fuse_current;

static struct rj_fuse *fuse_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

static void op_init(void *arg, struct fuse_conn_info *conn)
{
	conn->max_write = RJ_PIPELINE_WRITE_BYTES;
	conn->max_background = BACKGROUND;
	conn->congestion_threshold = BACKGROUND;
	conn->want &= ~(unsigned)(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE |
				  FUSE_CAP_SPLICE_MOVE | FUSE_CAP_READDIRPLUS |
				  FUSE_CAP_AUTO_INVAL_DATA |
				  FUSE_CAP_FLOCK_LOCKS | FUSE_CAP_POSIX_LOCKS);
}

static int stat_of(const struct rj_fuse *f, fuse_ino_t ino, struct stat *st)
{
	memset(st, 0, sizeof(*st));
	st->st_ino = ino;
	if (ino == FUSE_ROOT_ID) {
		st->st_mode = S_IFDIR | 0500;
		st->st_nlink = 2;
	} else if (ino == FILE_INO) {
		st->st_mode = S_IFREG | 0600;
		st->st_nlink = 1;
		st->st_size = (off_t)rj_ring_bytes(f->front.ring);
		st->st_blocks = st->st_size / 512;
		st->st_blksize = f->front.ring->block_size;
	} else {
		return ENOENT;
	}
	return 0;
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param e = {
		.ino = FILE_INO,
		.attr_timeout = CACHE_S,
		.entry_timeout = CACHE_S,
	};

	if (parent != FUSE_ROOT_ID || strcmp(name, RJ_FUSE_FILE) != 0) {
		fuse_reply_err(req, ENOENT);
		return;
	}
	stat_of(fuse_of(req), FILE_INO, &e.attr);
	fuse_reply_entry(req, &e);
}

static void op_getattr(
	fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct stat st;
	int e = stat_of(fuse_of(req), ino, &st);

	if (e)
		fuse_reply_err(req, e);
	else
		fuse_reply_attr(req, &st, CACHE_S);
}

/* Size, owner and mode are fixed; times are not kept. */
static void op_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr,
	int set, struct fuse_file_info *fi)
{
	if (set & (FUSE_SET_ATTR_SIZE | FUSE_SET_ATTR_MODE | FUSE_SET_ATTR_UID |
			  FUSE_SET_ATTR_GID))
		fuse_reply_err(req, EPERM);
	else
		op_getattr(req, ino, fi);
}

static void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
	struct fuse_file_info *fi)
{
	static const char *const names[] = {".", "..", RJ_FUSE_FILE};
	char buf[512];
	size_t used = 0, n;
	struct stat st;
	unsigned i;

	if (ino != FUSE_ROOT_ID) {
		fuse_reply_err(req, ENOTDIR);
		return;
	}
	for (i = (unsigned)off; i < 3; i++) {
		stat_of(fuse_of(req), i < 2 ? FUSE_ROOT_ID : FILE_INO, &st);
		n = fuse_add_direntry(req, buf + used, sizeof(buf) - used,
			names[i], &st, (off_t)i + 1);
		if (n > sizeof(buf) - used || used + n > size)
			break;
		used += n;
	}
	fuse_reply_buf(req, buf, used);
}

/*
 * Who has the file open is kept by the number of the request that opened it:
 * so an open or a release that comes a second time, because a worker died
 * before it was answered, is not counted twice.
 */
static bool note_open(struct rj_fuse *f, uint64_t number)
{
	uint64_t none;
	_Atomic uint64_t *opens = f->front.shm->opens;
	unsigned i;

	for (i = 0; i < RJ_WORKER_SHM_OPENS; i++)
		if (opens[i] == number)
			return true;
	for (i = 0; i < RJ_WORKER_SHM_OPENS; i++) {
		none = 0;
		if (atomic_compare_exchange_strong(&opens[i], &none, number))
			return true;
	}
	return false;
}

static void note_release(struct rj_fuse *f, uint64_t number)
{
	unsigned i;

	for (i = 0; i < RJ_WORKER_SHM_OPENS; i++)
		atomic_compare_exchange_strong(
			&f->front.shm->opens[i], &(uint64_t){number}, 0);
}

unsigned rj_fuse_users(const struct rj_fuse *f)
{
	unsigned i, n = 0;

	for (i = 0; i < RJ_WORKER_SHM_OPENS; i++)
		n += f->front.shm->opens[i] != 0;
	return n;
}

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct rj_fuse *f = fuse_of(req);

	if (ino != FILE_INO) {
		fuse_reply_err(req, EISDIR);
		return;
	}
	fi->direct_io = 1;
	fi->fh = rj_fuse_current;
	if (!note_open(f, rj_fuse_current))
		fuse_reply_err(req, ENFILE);
	else if (fuse_reply_open(req, fi))
		note_release(f, rj_fuse_current); /* interrupted: there will be no
					   * release */
}

static void op_release(
	fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct rj_fuse *f = fuse_of(req);

	note_release(f, fi->fh);
	fuse_reply_err(req, 0);
	if (!rj_fuse_users(f))
		rj_front_wake(&f->front);
}

static void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
	struct fuse_file_info *fi)
{
	struct rj_fuse *f = fuse_of(req);
	uint64_t bytes = rj_ring_bytes(f->front.ring), at = (uint64_t)off;

	if (at >= bytes)
		size = 0;
	else if (size > bytes - at)
		size = (size_t)(bytes - at);
	fuse_reply_buf(req, (const char *)f->front.ring->data + at, size);
}

static void op_write(fuse_req_t req, fuse_ino_t ino, const char *data,
	size_t size, off_t off, struct fuse_file_info *fi)
{
	struct rj_front *f = &fuse_of(req)->front;
	int e = rj_front_write(f, data, size, (uint64_t)off);

	if (e)
		fuse_reply_err(req, e);
	else
		fuse_reply_write(req, size);
}

/*
 * Every write is durable when it is answered, but for what the commit rule
 * lets wait (write_through in pipeline.h), so a flush has nothing to add:
 * ENOSYS tells the kernel so. fuse_fsync() takes that for success and sends no
 * other one, which saves two of the four requests of a commit.
 * (Not by queue/write_cache of the loop device: that setting outlives us, and
 * would take the flushes from whatever is attached there next.)
 */
static void op_fsync(
	fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	int e = rj_front_flush(&fuse_of(req)->front);

	fuse_reply_err(req, e ? e : ENOSYS);
}

/* A close(2) of the file. Not a request for durability, but an honest one. */
static void op_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	fuse_reply_err(req, rj_front_drain(&fuse_of(req)->front, NULL) ? EIO : 0);
}

const struct fuse_lowlevel_ops rj_fuse_ops = {
	.init = op_init,
	.lookup = op_lookup,
	.getattr = op_getattr,
	.setattr = op_setattr,
	.readdir = op_readdir,
	.open = op_open,
	.release = op_release,
	.read = op_read,
	.write = op_write,
	.fsync = op_fsync,
	.flush = op_flush,
};
