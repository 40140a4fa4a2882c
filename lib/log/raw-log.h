/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A raw log: of a device that is not a JBD2 journal and belongs to no ext3 or
 * ext4 volume (rjournald --raw). Nothing but its URL names it.
 */
#ifndef RJ_LOG_RAW_LOG_H
#define RJ_LOG_RAW_LOG_H

#include "log/ring.h"
#include "util/uuid.h"

/* The device's blocks, in bytes. */
#define RJ_RAW_BLOCK 4096u
/* The largest device, in MiB. */
#define RJ_RAW_MIB   4096u

/* Make the UUID that serves as the volume's and the journal's, from the URL. */
void rj_raw_uuid(const char *url, uint8_t uuid[RJ_UUID_BYTES]);

/* A sink for rj_log_read(): the ring is made with the first blocks, by MAKE or, if that is
 * NULL, by rj_ring_new(). RJ_E_CORRUPT: they are of a device that no raw log can be of. */
struct rj_raw_reading {
	int (*make)(void *arg, uint32_t block_size, uint32_t blocks,
		struct rj_ring **out, struct rj_error *err);
	void *arg;
	struct rj_ring *ring; /* NULL: no blocks so far */
};
int rj_raw_take(
	void *arg, const struct rj_segment *seg, struct rj_error *err);

#endif
