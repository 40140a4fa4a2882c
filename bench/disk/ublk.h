/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Make a ublk device of one queue, over io_uring. What fails ends the program. */
#ifndef RJ_BENCH_UBLK_H
#define RJ_BENCH_UBLK_H

#include <liburing.h>
#include <linux/ublk_cmd.h>
#include <stddef.h>
#include <stdint.h>

#define UBLK_DEPTH     128u /* requests at a time: a loop device's */
#define UBLK_MAX_BYTES (1u << 20)
#define UBLK_BLOCK     4096u
/* The user_data of a command that has no tag. */
#define UBLK_STARTED   UBLK_DEPTH

/* Headers before Linux 6.5 do not have them. */
#ifndef UBLK_F_USER_COPY
#define UBLK_F_USER_COPY (1ULL << 7)
#define UBLK_TAG_OFF	 25
#endif

struct ublk {
	struct io_uring ring;
	int control, device; /* /dev/ublk-control, /dev/ublkcN */
	unsigned number;     /* N */
	const struct ublksrv_io_desc *descs; /* the request of each tag */
	uint8_t *buffers; /* of each tag, UBLK_MAX_BYTES; NULL: UBLK_F_USER_COPY */
};

void ublk_die(const char *what, int e);
struct io_uring_sqe *ublk_sqe(struct ublk *u);
/*
 * Make a device of BYTES with FLAGS (UBLK_F_*) and ATTRS (UBLK_ATTR_*), ask for its
 * requests, and begin to start it: the ring will have UBLK_STARTED when it is there, and
 * requests before that. The calling thread alone may use the ring from then on.
 */
void ublk_add(struct ublk *u, uint64_t bytes, uint64_t flags, unsigned attrs);
/* The same for the device NUMBER, whose server died: made with UBLK_F_USER_RECOVERY. */
void ublk_resume(struct ublk *u, unsigned number, uint64_t flags);
/* Answer the request of TAG with RESULT, bytes or a negated errno, and ask for another. */
void ublk_answer(struct ublk *u, unsigned tag, int result);

#endif
