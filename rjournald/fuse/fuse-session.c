// SPDX-License-Identifier: GPL-2.0-or-later
/* How the kernel is met: mounted, greeted, and asked again by the next worker. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuse-priv.h"
#include "os/fileio.h"
#include "util/log.h"

/* Linux 6.9; older headers do not have them. */
#define NOTIFY_RESEND 7
#define HAS_RESEND_2  (1u << (39 - 32)) /* in fuse_init_in.flags2 */
#define UNIQUE_RESEND (1ULL << 63)

__attribute__((format(printf, 2, 0))) static void fuse_says(
	enum fuse_log_level level, const char *fmt, va_list ap)
{
	char line[512];
	int n = vsnprintf(line, sizeof(line), fmt, ap);

	if (n > 0 && (size_t)n < sizeof(line) && line[n - 1] == '\n')
		line[n - 1] = 0;
	rj_log(level <= FUSE_LOG_ERR ? RJ_LOG_ERROR : RJ_LOG_INFO, "%s", line);
}

void rj_fuse_process(struct rj_fuse *f, uint8_t *mem, size_t size)
{
	struct fuse_buf buf = {.mem = mem, .size = size};
	struct fuse_in_header head;

	memcpy(&head, mem, sizeof(head));
	rj_fuse_current = head.unique & ~UNIQUE_RESEND;
	fuse_session_process_buf(f->session, &buf);
}

int rj_fuse_mount(const char *mountpoint, const char *source, int *fd,
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
static int new_session(struct rj_fuse *f, struct rj_error *err)
{
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	char name[32];
	int rc;

	f->fuse_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (f->fuse_fd == -1)
		return rj_fail_errno(err, errno, "/dev/null");
	rc = rj_fd_above(&f->fuse_fd, f->front.device.fd, err);
	if (rc)
		return rc;
	snprintf(name, sizeof(name), "/dev/fd/%d", f->fuse_fd);
	if (fuse_opt_add_arg(&args, "rjournald"))
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	if (!rc) {
		f->session = fuse_session_new(&args, &rj_fuse_ops, sizeof(rj_fuse_ops), f);
		if (!f->session || fuse_session_mount(f->session, name))
			rc = rj_fail(err, RJ_E_IO, "cannot set up FUSE");
	}
	fuse_opt_free_args(&args);
	return rc;
}

/* The kernel's greeting: the first request after the mount. */
static int take_greeting(struct rj_fuse *f, struct rj_error *err)
{
	struct rj_worker_shm *k = f->front.shm;
	struct fuse_in_header head;
	ssize_t n = read(f->connection, f->buffers, RJ_FUSE_BUFFER);

	if (n == -1)
		return rj_fail_errno(err, errno, "/dev/fuse");
	memset(&head, 0, sizeof(head));
	if (n >= (ssize_t)sizeof(head))
		memcpy(&head, f->buffers, sizeof(head));
	if (head.opcode != FUSE_INIT || n > RJ_WORKER_SHM_INIT)
		return rj_fail(err, RJ_E_PROTOCOL,
			"/dev/fuse: the kernel's first request is not FUSE_INIT");
	memcpy(k->init, f->buffers, (size_t)n);
	k->init_bytes = (uint32_t)n;
	return 0;
}

static int ask_again(const struct rj_fuse *f, struct rj_error *err)
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
static int greet(struct rj_fuse *f, bool resumed, struct rj_error *err)
{
	const struct rj_worker_shm *k = f->front.shm;
	uint8_t greeting[RJ_WORKER_SHM_INIT];
	int rc = 0;

	if (!resumed)
		rc = take_greeting(f, err);
	if (rc)
		return rc;
	memcpy(greeting, k->init, sizeof(greeting));
	if (resumed)
		rj_fuse_process(f, greeting, k->init_bytes);
	if (dup3(f->connection, f->fuse_fd, O_CLOEXEC) == -1)
		return rj_fail_errno(err, errno, "dup3");
	if (resumed)
		return ask_again(f, err);
	rj_fuse_process(f, greeting, k->init_bytes);
	return 0;
}

bool rj_fuse_can_resume(const struct rj_front *f)
{
	struct fuse_init_in in = {0};
	const struct rj_worker_shm *k = f->shm;

	if (k->init_bytes < sizeof(struct fuse_in_header) + sizeof(in))
		return false;
	memcpy(&in, k->init + sizeof(struct fuse_in_header), sizeof(in));
	return in.flags & FUSE_INIT_EXT && in.flags2 & HAS_RESEND_2;
}

int rj_fuse_meet(struct rj_fuse *f, bool resumed, struct rj_error *err)
{
	int rc;

	fuse_set_log_func(fuse_says);
	rc = new_session(f, err);
	return rc ? rc : greet(f, resumed, err);
}
