/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJ_JOURNALD_HARDEN_H
#define RJ_JOURNALD_HARDEN_H

#include "log/log.h"
#include "log/ring.h"
#include "worker-shm.h"

/*
 * Memory reclaim may have to write through us: lock our memory, never start
 * writeback when we allocate, and be the last that the OOM killer takes. Call
 * before threads start (they inherit it). What the system refuses is logged
 * as a notice: serving goes on without it.
 */
void rj_harden(void);
/* Do the same for the supervisor, which logs nothing. */
void rj_harden_supervisor(void);
/* Give every page of the ring its memory now, not in the middle of a commit. */
void rj_harden_ring(const struct rj_ring *ring);
/* Do the same for the buffers that W needs for the largest segment of RING. */
void rj_harden_writer(struct rj_log_writer *w, const struct rj_ring *ring);
/* Do the same for the outbox, where there is a fallback file. */
void rj_harden_outbox(const struct rj_worker_map *m);

#endif
