/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef RJ_HISTORY_COPY_H
#define RJ_HISTORY_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ext4/in-use.h"
#include "util/error.h"

/* What was done up to now, in bytes; begins with zero. */
struct rj_copied {
	uint64_t read, written;
	int64_t next_ns; /* monotonic: nothing is read before it */
};

struct rj_copy {
	const char *from, *to; /* for messages */
	int from_fd, to_fd;
	uint64_t begin; /* what is before it is left out */
	uint64_t bytes; /* both are at least that long */
	struct rj_in_use *used; /* of FROM: what is not in use is left out; NULL: nothing is */
	uint64_t rate;          /* bytes read a second, at most; 0: no limit */
	/* Takes what is not zero, in ascending order, instead of TO; NULL: TO. */
	int (*put)(void *arg, const uint8_t *data, size_t len, uint64_t off, struct rj_error *err);
	/* Called now and then: DONE of BYTES were looked at. May be NULL; non-zero
	 * cancels. */
	int (*progress)(void *arg, uint64_t done, uint64_t total);
	void *arg;
};

/* Share all blocks of FROM, from byte 0 on, where the filesystem can do that. */
bool rj_copy_share(const struct rj_copy *c);

/*
 * Copy all but zeros into TO, an empty file of that length, which stays sparse. From a
 * descriptor with O_DIRECT whole blocks are read, in turn, each once. DONE (may be NULL)
 * goes on from what it is. RJ_E_IO, RJ_E_NOSPACE, RJ_E_NOMEM, RJ_E_CANCELLED.
 */
int rj_copy_sparse(const struct rj_copy *c, struct rj_copied *done, struct rj_error *err);

#endif
