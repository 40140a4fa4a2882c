/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A volume after its recovery: is all there that ops.h says must be? Read by
 * libext2fs; nothing is mounted. */
#ifndef RJ_TEST_CRASH_VERIFY_H
#define RJ_TEST_CRASH_VERIFY_H

#include <stdbool.h>
#include <stddef.h>

#include "ops.h"

struct verify;

/*
 * WRITEBACK: it was mounted with data=writeback. ext4 gives the blocks of a
 * deleted file to others before the deletion is committed then (else it does
 * not): a cut in between leaves the file, with bytes of another one.
 * 0, or -1 with WHY.
 */
int verify_open(const char *image, bool writeback, struct verify **out,
	char *why, size_t size);
void verify_close(struct verify *v);
/*
 * Does the volume hold what O acknowledged? The operation after that, which
 * may have been under way, may have left what an interrupted one may leave,
 * and nothing else. 0, or -1 with WHY.
 */
int verify_thread(
	struct verify *v, const struct ops *o, char *why, size_t size);

/* Take the journal away from a recovered image, and have e2fsck -fn look at
 * it. 0: it finds nothing; else -1 with WHY. */
int verify_fsck(const char *image, char *why, size_t size);

#endif
