/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory that outlives a worker: one memfd that the supervisor has open and each
 * worker maps. It has the ring, which segment each block went into,
 * which blocks are pending, and the few numbers below. A worker can be killed
 * between any two instructions: every step here is ordered so that what is
 * found afterwards is right, or is known not to be.
 */
#ifndef RJ_JOURNALD_WORKER_SHM_H
#define RJ_JOURNALD_WORKER_SHM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "log/ring.h"
#include "segment/segment.h"
#include "shm-records.h"
#include "util/error.h"

/* Counted up whenever anything below, or RJ_SIGNAL_ASKED, changes its meaning: a worker
 * of another release must understand what it finds. */
#define RJ_WORKER_SHM_VERSION 7
#define RJ_WORKER_SHM_OPENS	64
#define RJ_WORKER_SHM_INIT	256

/*
 * The position of the log's writer, of a volume with a fallback file (saved-writer.h).
 * Of the two places one counts, TURN says which; the segment that it says is
 * pending lies in the mapping's OUTBOX.
 */
struct rj_worker_shm_log {
	struct rj_shm_writer at[2];
	uint32_t bytes[2];     /* in the outbox */
	_Atomic uint32_t turn; /* 0: none yet; else at[turn - 1] */
	_Alignas(8) uint64_t fence;	       /* number of the writer's fence */
	/* The last segment that the fallback file took, ever, and the last of
	 * those that the store has acknowledged since. */
	_Atomic uint64_t in_file, shipped;
	_Atomic uint32_t prefer; /* an enum rj_prefer, by rjctl; 0: rj.conf's */
};

struct rj_worker_shm {
	char magic[8];
	uint32_t version, header_bytes; /* RJ_WORKER_SHM_VERSION, sizeof */
	uint32_t blocks, block_size;

	/* ---- pipeline.c ---- */
	_Atomic uint64_t acked, oldest; /* as the store acknowledged them */
	uint32_t early_bytes;		/* struct rj_pipeline_opts */
	/*
	 * The write that is being copied into the ring: what is found here has
	 * not been answered, and may have been copied in part. The kernel sends
	 * it again.
	 */
	_Atomic uint64_t writing_at, writing_bytes; /* bytes; 0: none */
	struct rj_shm_track track[2]; /* after the last write; which one: */
	_Atomic uint32_t track_turn;
	_Atomic uint32_t failed; /* an rj_code: nothing is acknowledged again */
	struct rj_shm_error failure;
	/* What status shows of the store. */
	_Atomic uint64_t remote_tid;
	_Atomic int64_t remote_ns;

	/* ---- saved-writer.c ---- */
	struct rj_worker_shm_log log;

	/* ---- load.c ---- */
	struct rj_shm_facts facts;
	_Atomic uint64_t epoch; /* the newest that is known to be ours */
	uint8_t nonce[RJ_SEG_NONCE_BYTES]; /* of that claim, or see BEGUN */
	uint64_t served_since; /* the first worker's: the volume has its mark */

	/* ---- fuse*.c ---- */
	uint8_t init[RJ_WORKER_SHM_INIT]; /* FUSE_INIT as the kernel sent it */
	uint32_t init_bytes;
	_Atomic uint64_t opens[RJ_WORKER_SHM_OPENS]; /* the processes that have the file open */

	/* ---- daemon.c ---- */
	_Atomic uint32_t phase;
	_Atomic uint32_t signalled; /* a signal asked to stop */
	_Atomic uint32_t restarts; /* workers after the first */
	/* The last segment of the mount before was sealed then, in seconds since 1970. In the
	 * memory of a release that knows nothing of it, it is 0. */
	_Atomic uint32_t confirmed_s;
	_Alignas(8) int64_t started_ns;	   /* monotonic: when the device was ready */
	char device_path[32];
	_Atomic uint32_t ublk; /* the device's number and 1; 0: FUSE */

	/* ---- load.c ---- */
	/* EPOCH and 1, cut to 32 bits: claims after EPOCH were begun with NONCE, which
	 * nothing was sealed with. Else NONCE must not be used again. In the memory of a
	 * release that knows nothing of it, it is 0. */
	_Atomic uint32_t begun;
};

/* The pieces of the mapping. */
struct rj_worker_map {
	struct rj_worker_shm *shm;
	uint8_t *data;
	uint64_t *seq, *bits;
	uint8_t *outbox; /* RJ_SEG_MAX_BYTES; what is not touched takes no space */
	size_t bytes;	 /* of it all */
	int fd;	      /* of the memory; the caller's to close */
};

/* Create the memory, all zero, for a journal of BLOCKS blocks. RJ_E_NOMEM, RJ_E_INVAL. */
int rj_worker_shm_create(uint32_t block_size, uint32_t blocks,
	struct rj_worker_map *out, struct rj_error *err);
/* Map the memory FD of the worker before, which OUT takes over on success.
 * RJ_E_UNSUPPORTED: it has another RJ_WORKER_SHM_VERSION. RJ_E_CORRUPT, RJ_E_NOMEM. */
int rj_worker_shm_attach(
	int fd, struct rj_worker_map *out, struct rj_error *err);
/* Unmap and close. */
void rj_worker_shm_release(struct rj_worker_map *m);

/* Note that a write of BYTES bytes at AT is about to be copied into the ring. */
void rj_worker_shm_begin(struct rj_worker_shm *k, uint64_t at, uint64_t bytes);
/* Note that the write is in the ring, and TRACK, the state of the log after it. */
void rj_worker_shm_end(struct rj_worker_shm *k, const struct rj_track *track);
/*
 * Find the blocks that may not be at the store, after a worker's death: mark in BITS, in
 * addition to those that are marked, every block whose segment was not acknowledged, and
 * clear the blocks of a write that was cut off. Half a write must not be shipped; the
 * kernel sends that write again.
 */
void rj_worker_shm_settle(struct rj_worker_map *m);

#endif
