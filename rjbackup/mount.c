// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whatever ends this process, or the mount, ends the rest: the mount has the loop device, which
 * clears itself; that has the FUSE file, whose file system is mounted nowhere and ends with it;
 * the process that serves it sees that end; and with it goes the scratch file, without a name.
 */
#include "mount.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "history/new-volume.h"
#include "history/overlay.h"
#include "history/restore.h"
#include "os/loopdev.h"
#include "os/mountinfo.h"
#include "serve.h"

struct mounting {
	const struct options *o;
	int scratch, fuse, mnt; /* descriptors; -1 */
	struct rj_loop loop;
};

int scratch_file(const struct options *o, struct rj_error *err)
{
	int fd = open(o->scratch, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return fd >= 0 ? fd
		       : rj_fail_errno(err, errno,
				 "%s: cannot make a file without a name there: give another folder with --scratch",
				 o->scratch);
}

/* What can fail is tried before the log is read. */
static int prepare(struct mounting *m, struct rj_error *err)
{
	char source[256];
	struct stat st;

	if (stat(m->o->dir, &st))
		return rj_fail_errno(err, errno, "%s: cannot mount there", m->o->dir);
	if (!S_ISDIR(st.st_mode))
		return rj_fail_errno(err, ENOTDIR, "%s: cannot mount there", m->o->dir);
	if (rj_mountinfo_source(m->o->dir, source, sizeof(source)))
		return rj_fail(err, RJ_E_BUSY, "%s: %s is mounted there: give another folder",
			m->o->dir, source);
	m->scratch = scratch_file(m->o, err);
	if (m->scratch < 0)
		return m->scratch;
	return serve_connect(&m->fuse, &m->mnt, err);
}

static int attach(struct mounting *m, int flags, struct rj_error *err)
{
	int fd = serve_open(m->mnt, flags, err), rc;

	if (fd < 0)
		return fd;
	rc = rj_loop_attach(fd, m->o->base, &m->loop, err);
	close(fd);
	return rc;
}

static int serve_volume(void *arg, struct rj_bio *volume, const char **device,
	struct rj_error *err)
{
	struct mounting *m = arg;
	int rc = serve_start(volume, &m->fuse, m->mnt, err);

	*device = m->loop.path;
	return rc ? rc : attach(m, O_RDWR, err);
}

/* Over a loop device that is read-only: not even a remount writes. */
static int mount_it(struct mounting *m, struct rj_error *err)
{
	int rc = 0;

	if (fsync(m->loop.fd))
		return rj_fail_errno(err, errno, "%s: cannot flush", m->loop.path);
	rj_loop_let_go(&m->loop);
	rc = attach(m, m->o->writable ? O_RDWR : O_RDONLY, err);
	if (!rc && mount(m->loop.path, m->o->dir, "ext4",
			   (m->o->writable ? 0 : MS_RDONLY) | MS_NOSUID | MS_NODEV, NULL))
		rc = rj_fail_errno(err, errno, "%s: cannot mount %s there", m->o->dir,
			m->loop.path);
	return rc;
}

static struct mounting mounting_of(const struct options *o)
{
	return (struct mounting){
		.o = o, .scratch = -1, .fuse = -1, .mnt = -1, .loop = {.fd = -1}};
}

static void let_go(struct mounting *m)
{
	int *fd[] = {&m->scratch, &m->fuse, &m->mnt};
	unsigned i;

	rj_loop_let_go(&m->loop);
	for (i = 0; i < sizeof(fd) / sizeof(fd[0]); i++)
		if (*fd[i] >= 0)
			close(*fd[i]);
}

int mount_moment(struct result *r)
{
	struct mounting m = mounting_of(r->o);
	int rc = prepare(&m, &r->err);
	const struct rj_restore_opts opts = {
		.base = r->o->base,
		.serve = serve_volume,
		.scratch = m.scratch,
		.url = r->o->url,
		.keyfile = r->o->keyfile,
		.at = r->o->at,
		.verify = r->o->verify,
		.arg = &m,
	};

	if (!rc)
		rc = rj_history_restore(&opts, &r->facts, &r->report, &r->err);
	if (!rc)
		rc = mount_it(&m, &r->err);
	let_go(&m);
	return rc;
}

/* Show SIDE, and what is written over it, as a device. */
static int serve_side(struct mounting *m, const struct rj_compare_side *side, uint32_t block_size,
	const char **device, struct rj_error *err)
{
	struct rj_bio *clone = rj_overlay_over(side->fs, m->scratch, block_size, err);
	int rc;

	if (!clone)
		return -(int)err->code;
	clone->size_bytes = side->blocks * block_size;
	rc = serve_volume(m, clone, device, err);
	rj_bio_free(clone);
	return rc;
}

int mount_side(struct result *r, const struct rj_compare_side *side)
{
	struct mounting m = mounting_of(r->o);
	const char *device = NULL;
	int rc = prepare(&m, &r->err), fd = -1;

	if (!rc)
		rc = serve_side(&m, side, r->facts.block_size, &device, &r->err);
	if (!rc)
		fd = open(device, O_RDWR | O_CLOEXEC);
	if (!rc && fd < 0)
		rc = rj_fail_errno(&r->err, errno, "%s: cannot open", device);
	if (!rc)
		rc = rj_new_volume(
			&r->facts, device, &fd, side->super, r->o->verify, &r->err);
	if (fd >= 0)
		close(fd);
	if (!rc)
		rc = mount_it(&m, &r->err);
	let_go(&m);
	return rc;
}
