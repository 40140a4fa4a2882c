// SPDX-License-Identifier: GPL-2.0-or-later
#define FUSE_USE_VERSION 35
#include "front.h"

#include <errno.h>
#include <fuse_lowlevel.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "util/log.h"

#define FILE_INO 2
/* Nothing here ever changes: let the kernel keep it. Seconds. */
#define KEEP_S     86400.0
#define BACKGROUND 64
/*
 * One request at a time is what a commit needs. The others are for the time
 * when a write waits for a store that is lost: reads of the device must be
 * answered all the same, or every blkid and e2fsck on the machine, which look
 * at each block device there is, would wait with it.
 */
#define THREADS	    16
#define STACK_BYTES (256u << 10)

struct rj_front {
	struct fuse_session *session;
	struct rj_ring *ring;
	struct rj_pipeline *pipeline;
	pthread_mutex_t lock; /* the pipeline */
	pthread_t threads[THREADS];
	unsigned running;
	bool mounted;
	int event_fd;
	atomic_uint users;
	atomic_bool ended;
	char mountpoint[256];
};

static void wake(const struct rj_front *f)
{
	uint64_t one = 1;

	/* fails only when it is about to overflow: then it is set already */
	if (write(f->event_fd, &one, sizeof(one)) != sizeof(one))
		return;
}

static uint64_t file_bytes(const struct rj_front *f)
{
	return (uint64_t)f->ring->blocks * f->ring->block_size;
}

static struct rj_front *front_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

static int errno_of(int rc)
{
	return rc == 0 ? 0 : rc == -RJ_E_INVAL ? EINVAL : EIO;
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

static int stat_of(const struct rj_front *f, fuse_ino_t ino, struct stat *st)
{
	memset(st, 0, sizeof(*st));
	st->st_ino = ino;
	if (ino == FUSE_ROOT_ID) {
		st->st_mode = S_IFDIR | 0500;
		st->st_nlink = 2;
	} else if (ino == FILE_INO) {
		st->st_mode = S_IFREG | 0600;
		st->st_nlink = 1;
		st->st_size = (off_t)file_bytes(f);
		st->st_blocks = st->st_size / 512;
		st->st_blksize = f->ring->block_size;
	} else {
		return ENOENT;
	}
	return 0;
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param e = {
		.ino = FILE_INO,
		.attr_timeout = KEEP_S,
		.entry_timeout = KEEP_S,
	};

	if (parent != FUSE_ROOT_ID || strcmp(name, RJ_FRONT_FILE) != 0) {
		fuse_reply_err(req, ENOENT);
		return;
	}
	stat_of(front_of(req), FILE_INO, &e.attr);
	fuse_reply_entry(req, &e);
}

static void op_getattr(
	fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct stat st;
	int e = stat_of(front_of(req), ino, &st);

	if (e)
		fuse_reply_err(req, e);
	else
		fuse_reply_attr(req, &st, KEEP_S);
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
	static const char *const names[] = {".", "..", RJ_FRONT_FILE};
	char buf[512];
	size_t used = 0, n;
	struct stat st;
	unsigned i;

	if (ino != FUSE_ROOT_ID) {
		fuse_reply_err(req, ENOTDIR);
		return;
	}
	for (i = (unsigned)off; i < 3; i++) {
		stat_of(front_of(req), i < 2 ? FUSE_ROOT_ID : FILE_INO, &st);
		n = fuse_add_direntry(req, buf + used, sizeof(buf) - used,
			names[i], &st, (off_t)i + 1);
		if (n > sizeof(buf) - used || used + n > size)
			break;
		used += n;
	}
	fuse_reply_buf(req, buf, used);
}

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct rj_front *f = front_of(req);

	if (ino != FILE_INO) {
		fuse_reply_err(req, EISDIR);
		return;
	}
	fi->direct_io = 1;
	f->users++;
	if (fuse_reply_open(req, fi))
		f->users--; /* interrupted: there will be no release */
}

static void op_release(
	fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct rj_front *f = front_of(req);

	fuse_reply_err(req, 0);
	if (--f->users == 0)
		wake(f);
}

static void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
	struct fuse_file_info *fi)
{
	struct rj_front *f = front_of(req);
	uint64_t bytes = file_bytes(f), at = (uint64_t)off;

	if (at >= bytes)
		size = 0;
	else if (size > bytes - at)
		size = (size_t)(bytes - at);
	fuse_reply_buf(req, (const char *)f->ring->data + at, size);
}

static void op_write(fuse_req_t req, fuse_ino_t ino, const char *data,
	size_t size, off_t off, struct fuse_file_info *fi)
{
	struct rj_front *f = front_of(req);
	int rc;

	pthread_mutex_lock(&f->lock);
	rc = rj_pipeline_write(f->pipeline, data, size, (uint64_t)off, NULL);
	pthread_mutex_unlock(&f->lock);
	if (rc)
		fuse_reply_err(req, errno_of(rc));
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
	struct rj_front *f = front_of(req);
	int rc;

	pthread_mutex_lock(&f->lock);
	rc = rj_pipeline_flush(f->pipeline, NULL);
	pthread_mutex_unlock(&f->lock);
	fuse_reply_err(req, rc ? errno_of(rc) : ENOSYS);
}

/* A close(2) of the file. Not a request for durability, but an honest one. */
static void op_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	fuse_reply_err(req, errno_of(rj_front_drain(front_of(req), NULL)));
}

static const struct fuse_lowlevel_ops ops = {
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

static void fuse_says(enum fuse_log_level level, const char *fmt, va_list ap)
{
	char line[512];
	int n = vsnprintf(line, sizeof(line), fmt, ap);

	if (n > 0 && (size_t)n < sizeof(line) && line[n - 1] == '\n')
		line[n - 1] = 0;
	rj_log(level <= FUSE_LOG_ERR ? RJ_LOG_ERROR : RJ_LOG_INFO, "%s", line);
}

static void *serve(void *arg)
{
	struct rj_front *f = arg;
	struct fuse_buf buf = {0};
	int n;

	while (!fuse_session_exited(f->session)) {
		n = fuse_session_receive_buf(f->session, &buf);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			break; /* unmounted */
		fuse_session_process_buf(f->session, &buf);
	}
	free(buf.mem);
	f->ended = true;
	wake(f);
	return NULL;
}

static int new_session(
	struct rj_front *f, const char *source, struct rj_error *err)
{
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	char fsname[512];
	int rc = 0;

	snprintf(fsname, sizeof(fsname), "-ofsname=rjournald:%s", source);
	if (fuse_opt_add_arg(&args, "rjournald") ||
		fuse_opt_add_arg(&args, fsname) ||
		fuse_opt_add_arg(&args, "-osubtype=rj,default_permissions"))
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	if (!rc) {
		f->session = fuse_session_new(&args, &ops, sizeof(ops), f);
		if (!f->session)
			rc = rj_fail(err, RJ_E_IO, "cannot set up FUSE");
	}
	fuse_opt_free_args(&args);
	return rc;
}

static int start_threads(struct rj_front *f, struct rj_error *err)
{
	pthread_attr_t attr;
	sigset_t all, old;
	int e = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	/* signals are the main thread's */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	while (!e && f->running < THREADS) {
		e = pthread_create(
			&f->threads[f->running], &attr, serve, f);
		if (!e)
			f->running++;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return e ? rj_fail_errno(err, e, "cannot start a thread") : 0;
}

int rj_front_start(const struct rj_front_opts *opts, struct rj_front **out,
	struct rj_error *err)
{
	struct rj_front *f = calloc(1, sizeof(*f));
	int rc;

	*out = NULL;
	if (!f)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	pthread_mutex_init(&f->lock, NULL);
	f->ring = opts->ring;
	f->pipeline = opts->pipeline;
	f->event_fd = opts->event_fd;
	snprintf(f->mountpoint, sizeof(f->mountpoint), "%s", opts->mountpoint);
	fuse_set_log_func(fuse_says);
	rc = new_session(f, opts->source, err);
	if (!rc && fuse_session_mount(f->session, f->mountpoint))
		rc = rj_fail(err, RJ_E_IO,
			"%s: cannot mount the journal's FUSE file system",
			f->mountpoint);
	if (!rc) {
		f->mounted = true;
		rc = start_threads(f, err);
	}
	if (rc) {
		rj_front_stop(f);
		return rc;
	}
	*out = f;
	return 0;
}

unsigned rj_front_users(const struct rj_front *f)
{
	return f->users;
}

bool rj_front_ended(const struct rj_front *f)
{
	return f->ended;
}

int rj_front_drain(struct rj_front *f, struct rj_error *err)
{
	int rc;

	pthread_mutex_lock(&f->lock);
	rc = rj_pipeline_drain(f->pipeline, err);
	pthread_mutex_unlock(&f->lock);
	return rc;
}

void rj_front_stop(struct rj_front *f)
{
	if (!f)
		return;
	/* the threads wait in read(2) and see ENODEV once this is gone */
	if (f->running)
		umount2(f->mountpoint, MNT_DETACH);
	while (f->running)
		pthread_join(f->threads[--f->running], NULL);
	if (f->mounted)
		fuse_session_unmount(f->session);
	if (f->session)
		fuse_session_destroy(f->session);
	pthread_mutex_destroy(&f->lock);
	free(f);
}
