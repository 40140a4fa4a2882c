// SPDX-License-Identifier: GPL-2.0-or-later
#define FUSE_USE_VERSION 35
#include "front.h"

#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "barrier.h"
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
/*
 * So many wait in read(2); the others wait aside until the last of these is at
 * work. The kernel wakes its readers in turn: with all of them there each
 * request would be for the one that has slept longest, with its stack and its
 * buffer out of the cache. Two, so that nobody need be called for a commit's one.
 */
#define READERS	    2
#define STACK_BYTES (256u << 10)
/* A request with the longest write. */
#define BUFFER_BYTES (RJ_PIPELINE_WRITE_BYTES + 4096u)

/* Linux 6.9; older headers do not have them. */
#define NOTIFY_RESEND 7
#define HAS_RESEND_2  (1u << (39 - 32)) /* in fuse_init_in.flags2 */
#define UNIQUE_RESEND (1ULL << 63)

struct rj_front {
	struct fuse_session *session;
	struct rj_kept *kept;
	struct rj_ring *ring;
	struct rj_pipeline *pipeline;
	struct rj_barrier barrier;
	sem_t lock; /* the pipeline; who takes it need not give it back */
	pthread_t threads[THREADS];
	unsigned running;
	int fuse_fd; /* the session's own; -1: none yet */
	int event_fd;
	uint8_t *buffers; /* one for each thread */
	atomic_uint threads_begun;
	atomic_uint reading; /* threads in read(2), or on their way there */
	/* The others, who wait aside: the last to come is the first to be called,
	 * as its stack and its buffer are still in the cache. */
	pthread_mutex_t aside;
	unsigned waiting[THREADS], waiting_count;
	sem_t called[THREADS];
	atomic_bool ended;
	char mountpoint[256];
};

/* The number of the request that this thread answers. */
static _Thread_local uint64_t current;

static void wake(const struct rj_front *f)
{
	uint64_t one = 1;

	/* fails only when it is about to overflow: then it is set already */
	if (write(f->event_fd, &one, sizeof(one)) != sizeof(one))
		return;
}

static void lock_pipeline(struct rj_front *f)
{
	while (sem_wait(&f->lock) == -1) /* EINTR */
		;
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

/*
 * Who has the file open is kept by the number of the request that opened it:
 * so an open or a release that comes a second time, because a worker died
 * before it was answered, is not counted twice.
 */
static bool note_open(struct rj_front *f, uint64_t number)
{
	uint64_t none;
	unsigned i;

	for (i = 0; i < RJ_KEPT_OPENS; i++)
		if (f->kept->opens[i] == number)
			return true;
	for (i = 0; i < RJ_KEPT_OPENS; i++) {
		none = 0;
		if (atomic_compare_exchange_strong(
			    &f->kept->opens[i], &none, number))
			return true;
	}
	return false;
}

static void note_release(struct rj_front *f, uint64_t number)
{
	unsigned i;

	for (i = 0; i < RJ_KEPT_OPENS; i++)
		atomic_compare_exchange_strong(
			&f->kept->opens[i], &(uint64_t){number}, 0);
}

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct rj_front *f = front_of(req);

	if (ino != FILE_INO) {
		fuse_reply_err(req, EISDIR);
		return;
	}
	fi->direct_io = 1;
	fi->fh = current;
	if (!note_open(f, current))
		fuse_reply_err(req, ENFILE);
	else if (fuse_reply_open(req, fi))
		note_release(f, current); /* interrupted: there will be no
					   * release */
}

static void op_release(
	fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct rj_front *f = front_of(req);

	note_release(f, fi->fh);
	fuse_reply_err(req, 0);
	if (!rj_front_users(f))
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
	struct rj_error err;
	int rc;

	rc = rj_barrier_before(&f->barrier, data, size, &err);
	if (rc)
		rj_log(RJ_LOG_ERROR, "%s", err.msg);
	lock_pipeline(f);
	if (!rc)
		rc = rj_pipeline_write(
			f->pipeline, data, size, (uint64_t)off, NULL);
	sem_post(&f->lock);
	if (rc)
		fuse_reply_err(req, errno_of(rc));
	else
		fuse_reply_write(req, size);
	/* nobody waits for this, and it waits for nobody */
	if (!rc && !sem_trywait(&f->lock)) {
		rj_pipeline_foresee(f->pipeline);
		sem_post(&f->lock);
	}
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

	lock_pipeline(f);
	rc = rj_pipeline_flush(f->pipeline, NULL);
	sem_post(&f->lock);
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

__attribute__((format(printf, 2, 0))) static void fuse_says(enum fuse_log_level level, const char *fmt, va_list ap)
{
	char line[512];
	int n = vsnprintf(line, sizeof(line), fmt, ap);

	if (n > 0 && (size_t)n < sizeof(line) && line[n - 1] == '\n')
		line[n - 1] = 0;
	rj_log(level <= FUSE_LOG_ERR ? RJ_LOG_ERROR : RJ_LOG_INFO, "%s", line);
}

static void process(struct rj_front *f, uint8_t *mem, size_t size)
{
	struct fuse_buf buf = {.mem = mem, .size = size};
	struct fuse_in_header head;

	memcpy(&head, mem, sizeof(head));
	current = head.unique & ~UNIQUE_RESEND;
	fuse_session_process_buf(f->session, &buf);
}

/* Wait to be called, unless a reader is wanted now. */
static void wait_aside(struct rj_front *f, unsigned me)
{
	bool wanted;

	pthread_mutex_lock(&f->aside);
	wanted = f->reading < READERS || f->ended;
	if (!wanted)
		f->waiting[f->waiting_count++] = me;
	pthread_mutex_unlock(&f->aside);
	while (!wanted && sem_wait(&f->called[me])) /* EINTR */
		;
}

static void call_one(struct rj_front *f)
{
	pthread_mutex_lock(&f->aside);
	if (f->waiting_count)
		sem_post(&f->called[f->waiting[--f->waiting_count]]);
	pthread_mutex_unlock(&f->aside);
}

/* Count the calling thread among the readers, when one more is wanted. */
static void line_up(struct rj_front *f, unsigned me)
{
	unsigned n = f->reading;

	for (;;) {
		if (n >= READERS && !f->ended) {
			wait_aside(f, me);
			n = f->reading;
		} else if (atomic_compare_exchange_weak(
				   &f->reading, &n, n + 1)) {
			return;
		}
	}
}

/* It is no longer. The last one calls another: a request can come meanwhile,
 * and this one may take long. */
static void leave(struct rj_front *f)
{
	if (--f->reading == 0)
		call_one(f);
}

/*
 * Read into memory that is there: when a worker is killed while the kernel
 * copies a request to a page that has yet to come, the request fails.
 */
static void *serve(void *arg)
{
	struct rj_front *f = arg;
	unsigned me = f->threads_begun++;
	uint8_t *mem = f->buffers + (size_t)me * BUFFER_BYTES;
	ssize_t n;

	while (!fuse_session_exited(f->session)) {
		line_up(f, me);
		n = read(f->fuse_fd, mem, BUFFER_BYTES);
		leave(f);
		/* ENOENT: the request was interrupted before we had it */
		if (n == -1 && (errno == EINTR || errno == EAGAIN ||
				       errno == ENOENT))
			continue;
		if (n < (ssize_t)sizeof(struct fuse_in_header))
			break; /* unmounted */
		process(f, mem, (size_t)n);
	}
	f->ended = true;
	call_one(f); /* and so each one lets the next one go */
	wake(f);
	return NULL;
}

int rj_front_mount(const char *mountpoint, const char *source, int *fd,
	struct rj_error *err)
{
	char options[128], name[512];
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC), rc;

	if (fuse == -1)
		return rj_fail_errno(err, errno,
			"/dev/fuse (is the fuse module loaded?)");
	snprintf(options, sizeof(options),
		"fd=%d,rootmode=%o,user_id=0,group_id=0,default_permissions",
		fuse, (unsigned)S_IFDIR);
	snprintf(name, sizeof(name), "rjournald:%s", source);
	if (mount(name, mountpoint, "fuse.rj", MS_NOSUID | MS_NODEV, options) ==
		-1) {
		rc = rj_fail_errno(err, errno,
			"%s: cannot mount the journal's FUSE file system",
			mountpoint);
		close(fuse);
		return rc;
	}
	*fd = fuse;
	return 0;
}

/* The session answers on a descriptor of its own, over /dev/null for now. */
static int new_session(struct rj_front *f, struct rj_error *err)
{
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	char name[32];
	int rc = 0;

	f->fuse_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (f->fuse_fd == -1)
		return rj_fail_errno(err, errno, "/dev/null");
	snprintf(name, sizeof(name), "/dev/fd/%d", f->fuse_fd);
	if (fuse_opt_add_arg(&args, "rjournald"))
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	if (!rc) {
		f->session = fuse_session_new(&args, &ops, sizeof(ops), f);
		if (!f->session || fuse_session_mount(f->session, name))
			rc = rj_fail(err, RJ_E_IO, "cannot set up FUSE");
	}
	fuse_opt_free_args(&args);
	return rc;
}

/* The kernel's greeting: the first request after the mount. */
static int take_greeting(struct rj_front *f, int fuse_fd, struct rj_error *err)
{
	struct rj_kept *k = f->kept;
	struct fuse_in_header head;
	ssize_t n = read(fuse_fd, f->buffers, BUFFER_BYTES);

	if (n == -1)
		return rj_fail_errno(err, errno, "/dev/fuse");
	memset(&head, 0, sizeof(head));
	if (n >= (ssize_t)sizeof(head))
		memcpy(&head, f->buffers, sizeof(head));
	if (head.opcode != FUSE_INIT || n > RJ_KEPT_INIT)
		return rj_fail(err, RJ_E_PROTOCOL,
			"/dev/fuse: the kernel's first request is not FUSE_INIT");
	memcpy(k->init, f->buffers, (size_t)n);
	k->init_bytes = (uint32_t)n;
	return 0;
}

static int ask_again(const struct rj_front *f, struct rj_error *err)
{
	const struct fuse_out_header resend = {
		.len = sizeof(resend),
		.error = NOTIFY_RESEND,
	};

	if (write(f->fuse_fd, &resend, sizeof(resend)) == -1)
		return rj_fail_errno(err, errno,
			"/dev/fuse: the kernel does not hand out again what was not answered");
	return 0;
}

/*
 * Bring the session to life: the greeting is processed now, or, if another
 * worker has answered it, once more with its answer thrown away.
 */
static int greet(struct rj_front *f, const struct rj_front_opts *opts,
	struct rj_error *err)
{
	uint8_t greeting[RJ_KEPT_INIT];
	int rc = 0;

	if (!opts->resumed)
		rc = take_greeting(f, opts->fuse_fd, err);
	if (rc)
		return rc;
	memcpy(greeting, f->kept->init, sizeof(greeting));
	if (opts->resumed)
		process(f, greeting, f->kept->init_bytes);
	if (dup3(opts->fuse_fd, f->fuse_fd, O_CLOEXEC) == -1)
		return rj_fail_errno(err, errno, "dup3");
	if (opts->resumed)
		return ask_again(f, err);
	process(f, greeting, f->kept->init_bytes);
	return 0;
}

bool rj_front_can_resume(const struct rj_front *f)
{
	struct fuse_init_in in = {0};
	const struct rj_kept *k = f->kept;

	if (k->init_bytes < sizeof(struct fuse_in_header) + sizeof(in))
		return false;
	memcpy(&in, k->init + sizeof(struct fuse_in_header), sizeof(in));
	return in.flags & FUSE_INIT_EXT && in.flags2 & HAS_RESEND_2;
}

static int get_buffers(struct rj_front *f, struct rj_error *err)
{
	void *p = mmap(NULL, (size_t)THREADS * BUFFER_BYTES,
		PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	/* touched one by one: MAP_POPULATE has no effect where memory is locked
	 * on fault (harden.c) */
	memset(p, 0, (size_t)THREADS * BUFFER_BYTES);
	f->buffers = p;
	return 0;
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
	unsigned i;
	int rc;

	*out = NULL;
	if (!f)
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	f->ring = opts->ring;
	f->pipeline = opts->pipeline;
	f->event_fd = opts->event_fd;
	snprintf(f->mountpoint, sizeof(f->mountpoint), "%s", opts->mountpoint);
	sem_init(&f->lock, 0, opts->resumed ? 0 : 1);
	pthread_mutex_init(&f->aside, NULL);
	for (i = 0; i < THREADS; i++)
		sem_init(&f->called[i], 0, 0);
	f->kept = opts->kept;
	f->fuse_fd = -1;
	fuse_set_log_func(fuse_says);
	rc = rj_barrier_open(
		&f->barrier, opts->volume, f->ring->block_size, err);
	if (!rc)
		rc = get_buffers(f, err);
	if (!rc)
		rc = new_session(f, err);
	if (!rc)
		rc = greet(f, opts, err);
	if (!rc)
		rc = start_threads(f, err);
	if (rc) {
		rj_front_stop(f);
		return rc;
	}
	*out = f;
	return 0;
}

void rj_front_release(struct rj_front *f)
{
	sem_post(&f->lock);
}

bool rj_front_hold(struct rj_front *f, int ms)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += ms % 1000 * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000L;
	}
	return sem_timedwait(&f->lock, &until) == 0;
}

unsigned rj_front_users(const struct rj_front *f)
{
	unsigned i, n = 0;

	for (i = 0; i < RJ_KEPT_OPENS; i++)
		n += f->kept->opens[i] != 0;
	return n;
}

bool rj_front_ended(const struct rj_front *f)
{
	return f->ended;
}

int rj_front_drain(struct rj_front *f, struct rj_error *err)
{
	int rc;

	lock_pipeline(f);
	rc = rj_pipeline_drain(f->pipeline, err);
	sem_post(&f->lock);
	return rc;
}

void rj_front_rejoin(struct rj_front *f)
{
	if (sem_trywait(&f->lock))
		return;
	rj_pipeline_rejoin(f->pipeline);
	sem_post(&f->lock);
}

void rj_front_stop(struct rj_front *f)
{
	unsigned i;

	if (!f)
		return;
	/* the threads wait in read(2) and see ENODEV once this is gone */
	if (f->running)
		umount2(f->mountpoint, MNT_DETACH);
	while (f->running)
		pthread_join(f->threads[--f->running], NULL);
	if (f->session) /* closes its descriptor, too */
		fuse_session_destroy(f->session);
	else if (f->fuse_fd != -1)
		close(f->fuse_fd);
	if (f->buffers)
		munmap(f->buffers, (size_t)THREADS * BUFFER_BYTES);
	sem_destroy(&f->lock);
	for (i = 0; i < THREADS; i++)
		sem_destroy(&f->called[i]);
	pthread_mutex_destroy(&f->aside);
	rj_barrier_close(&f->barrier);
	free(f);
}
