/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which blocks of a volume are in use, by its bitmaps on the device and in its journal. The
 * volume may be mounted (doc/history.md, "Only blocks in use"). */
#ifndef RJ_EXT4_IN_USE_H
#define RJ_EXT4_IN_USE_H

#include <stdint.h>

#include "os/bio.h"
#include "util/error.h"

struct rj_in_use;

/*
 * FD: open for reading on the volume, perhaps with O_DIRECT; NAME is for messages. Both
 * stay the caller's, and outlive the result. SUPER is a good primary superblock of it.
 * RJ_E_CORRUPT: SUPER contradicts itself; RJ_E_IO, RJ_E_NOMEM.
 */
int rj_in_use_new(int fd, const char *name, const uint8_t super[1024],
	struct rj_in_use **out, struct rj_error *err);
/*
 * Get the bio that takes what the journal holds, transaction after transaction: the copies
 * there of descriptors and bitmaps are used instead of the device's, which may be older than
 * all that the journal holds. Nothing is written to the device; reads give zeros. It is U's.
 */
struct rj_bio *rj_in_use_bio(struct rj_in_use *u);
/*
 * Find the first bytes at OFF or later that are in use: from BEGIN to END, of one group at
 * most. Both are the volume's size if there are none. Each group's descriptor and bitmap are
 * read when OFF first reaches that group. A group whose descriptor or bitmap does not fit its
 * checksum or its own blocks counts as in use. RJ_E_IO.
 */
int rj_in_use_next(struct rj_in_use *u, uint64_t off, uint64_t *begin, uint64_t *end,
	struct rj_error *err);
/* NULL-safe. */
void rj_in_use_free(struct rj_in_use *u);

#endif
