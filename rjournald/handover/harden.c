// SPDX-License-Identifier: GPL-2.0-or-later
/* Lock memory, and protect the daemon from reclaim and the OOM killer. */
#include "harden.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "segment-size.h"
#include "util/log.h"

#ifndef MCL_ONFAULT
#define MCL_ONFAULT 4
#endif
#ifndef PR_SET_IO_FLUSHER
#define PR_SET_IO_FLUSHER 57
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

static void refused(const char *what)
{
	rj_log(RJ_LOG_NOTICE, "%s: %s; going on without", what,
		strerror(errno));
}

static bool spare_from_oom(void)
{
	static const char never[] = "-1000";
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	bool done = fd != -1 && write(fd, never, sizeof(never) - 1) != -1;

	if (fd != -1)
		close(fd);
	return done;
}

void rj_harden(void)
{
	int all = MCL_CURRENT | MCL_FUTURE;

	if (mlockall(all | MCL_ONFAULT) == -1 &&
		(errno != EINVAL || mlockall(all) == -1))
		refused("cannot lock memory");
	/* PF_MEMALLOC_NOIO and PF_LOCAL_THROTTLE, Linux 5.6 */
	if (prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0) == -1)
		refused("cannot become an I/O flusher");
	if (!spare_from_oom())
		refused("cannot set the OOM score");
}

void rj_harden_supervisor(void)
{
	bool spared = spare_from_oom();

	/* what it has touched, and its few pages to come */
	if (mlockall(MCL_CURRENT | MCL_ONFAULT) == -1 || !spared)
		rj_log(RJ_LOG_DEBUG, "supervisor: %s", strerror(errno));
}

void rj_harden_ring(const struct rj_ring *ring)
{
	size_t bytes = rj_ring_bytes(ring);
	size_t seq = (size_t)ring->blocks * sizeof(*ring->seq);

	/* an older kernel does it page by page, as blocks are written */
	if ((madvise(ring->data, bytes, MADV_POPULATE_WRITE) == -1 ||
		    madvise(ring->seq, seq, MADV_POPULATE_WRITE) == -1) &&
		errno != EINVAL)
		refused("cannot get memory for the whole journal");
}

/* A segment's blocks, at most. */
static size_t largest(size_t ring_bytes)
{
	size_t most = RJ_PIPELINE_SHIP_BYTES + RJ_PIPELINE_WRITE_BYTES;

	return ring_bytes < most ? ring_bytes : most;
}

void rj_harden_outbox(const struct rj_worker_map *m)
{
	size_t all = (size_t)m->shm->blocks * m->shm->block_size;

	if (madvise(m->outbox, largest(all), MADV_POPULATE_WRITE) == -1 &&
		errno != EINVAL)
		refused("cannot get memory for a whole segment");
}

void rj_harden_writer(struct rj_log_writer *w, const struct rj_ring *ring)
{
	size_t all = rj_ring_bytes(ring);
	struct rj_error err;

	if (rj_log_writer_reserve(w, largest(all), &err))
		rj_log(RJ_LOG_NOTICE, "%s; going on without", err.msg);
}
