// SPDX-License-Identifier: GPL-2.0-or-later
/* Raise the volume's mark (format/mark.h): bytes of the volume itself, and no commit
 * block or other part of the journal. */
#include "volume-mark.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/loopdev.h"
#include "util/environ.h"
#include "util/log.h"

/* How long the kernel may take to write a backup superblock that it changes. */
#define PLACE_WAIT_NS  5000000000LL
#define PLACE_AGAIN_NS 50000000LL

struct rj_mark_writer {
	const char *device;
	const struct rj_volume_facts *facts;
	int fd, look; /* past the page cache, and through it; -1: not open */
	bool failed;
};

struct rj_mark_writer *rj_mark_writer_new(
	const char *device, const struct rj_volume_facts *facts)
{
	struct rj_mark_writer *m = rj_volume_no_mark(facts) ? NULL : calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->device = device;
	m->facts = facts;
	m->fd = m->look = -1;
	return m;
}

static void close_volume(struct rj_mark_writer *m)
{
	if (m->fd != -1)
		close(m->fd);
	if (m->look != -1)
		close(m->look);
	m->fd = m->look = -1;
}

/* Past the page cache where that can be: there the kernel may have a writer wait
 * until less of the volume is dirty, and that may need the journal. */
static int open_volume(const char *device)
{
	int flags = O_RDWR | O_DSYNC | O_CLOEXEC;
	int fd = open(device, flags | O_DIRECT);

	return fd == -1 && errno == EINVAL ? open(device, flags) : fd;
}

/*
 * Write through the device that is mounted: an image is shown by a loop device, whose page cache
 * has superblocks that the kernel has read or changed, and would write over a mark that was
 * written into the file behind it. PATH gets that device, or "" for the volume's own; it can be
 * used if there is one, which is what the call returns.
 */
static unsigned find_device(const struct rj_mark_writer *m, char path[64])
{
	struct stat st;

	path[0] = 0;
	return stat(m->device, &st) || !S_ISREG(st.st_mode) ? 1 : rj_loop_of(m->device, path, 64);
}

/* Not before: some kernels mount nothing that is open for writing, and let no process write to
 * what is mounted. It stays open, or udev would look at the volume each time. */
static int open_both(struct rj_mark_writer *m, struct rj_error *err)
{
	char loop[64] = "";

	if (m->fd != -1 && m->look != -1)
		return 0;
	if (find_device(m, loop) != 1)
		return rj_fail(err, RJ_E_BUSY, "%s: not shown by one loop device", m->device);
	if (m->fd == -1)
		m->fd = open_volume(loop[0] ? loop : m->device);
	if (m->look == -1)
		m->look = open(loop[0] ? loop : m->device, O_RDONLY | O_CLOEXEC);
	if (m->fd == -1 || m->look == -1)
		return rj_fail_errno(err, errno, "%s", m->device);
	return 0;
}

static int raise_mark(struct rj_mark_writer *m, uint64_t oldest, struct rj_error *err)
{
	int rc = open_both(m, err);

	return rc ? rc
		  : rj_volume_mark_put(m->fd, m->look, m->device, m->facts, oldest, err);
}

bool rj_mark_writer_raise(struct rj_mark_writer *m, uint64_t oldest, bool last)
{
	struct rj_error err;
	int rc = raise_mark(m, oldest, &err);

	if (rc && !m->failed)
		rj_log(RJ_LOG_NOTICE,
			"the volume gets no mark, by which an older copy of it would be known: %s",
			err.msg);
	m->failed = rc != 0;
	if (last)
		close_volume(m);
	return !rc;
}

int rj_mark_place(const char *device, const struct rj_volume_facts *facts, struct rj_error *err)
{
	int64_t until = rj_monotonic_ns() + PLACE_WAIT_NS;
	struct rj_mark_writer *m = rj_mark_writer_new(device, facts);
	int rc;

	if (!m)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", device);
	while ((rc = raise_mark(m, 0, err)) == -RJ_E_BUSY && rj_monotonic_ns() < until) {
		/* the page of a change that is committed; no journal is waited for */
		if (m->look != -1)
			sync_file_range(m->look, (off_t)facts->mark_at, facts->block_size,
				SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
					SYNC_FILE_RANGE_WAIT_AFTER);
		rj_sleep_ns(PLACE_AGAIN_NS);
	}
	rj_mark_writer_free(m);
	return rc;
}

void rj_mark_first(const char *device, const struct rj_volume_facts *facts, uint64_t oldest)
{
	struct rj_mark_writer *m = rj_mark_writer_new(device, facts);
	char loop[64];

	if (!m)
		return;
	/* an image that no loop device shows yet */
	if (find_device(m, loop) == 0) {
		m->fd = open_volume(device);
		m->look = open(device, O_RDONLY | O_CLOEXEC);
	}
	rj_mark_writer_raise(m, oldest, true);
	rj_mark_writer_free(m);
}

void rj_mark_writer_free(struct rj_mark_writer *m)
{
	if (m)
		close_volume(m);
	free(m);
}
