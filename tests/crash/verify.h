/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A volume after its recovery: is all there that ops.h says must be? An image, or the
 * directory where it is mounted (view.h). */
#ifndef RJ_TEST_CRASH_VERIFY_H
#define RJ_TEST_CRASH_VERIFY_H

#include <stdbool.h>
#include <stddef.h>

#include "ops.h"

struct verify;

/*
 * WRITEBACK: it was mounted with data=writeback. The bytes of what is not
 * synced may be another file's then: ext4 gives a block to a file before what
 * is in it is written, and the blocks of a deleted file to others before the
 * deletion is committed.
 * 0, or -1 with WHY.
 */
int verify_open(const char *image, bool writeback, struct verify **out,
	char *why, size_t size);
void verify_close(struct verify *v);
/*
 * Does the volume hold what O acknowledged, and nothing that O never did? What
 * was not synced, and the operation that was begun, may be there or not, or in
 * part. 0, or -1 with WHY.
 */
int verify_thread(
	struct verify *v, const struct ops *o, char *why, size_t size);

/* Take the external journal away from a recovered image, and have e2fsck -fn look at
 * it. 0: it finds nothing; else -1 with WHY. */
int verify_fsck(const char *image, char *why, size_t size);

#endif
