/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Read the primary superblock as soon as the kernel has let go of the volume, however long
 * the journal's device is held open after that. The kernel has the device of a mounted
 * volume exclusively, from before its first look at it until after its last write
 * (kill_block_super() in fs/super.c): so opening it exclusively succeeds when that is over.
 */
#ifndef RJ_JOURNALD_UNMOUNT_WATCH_H
#define RJ_JOURNALD_UNMOUNT_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "ext4/mounted.h"
#include "util/error.h"

struct rj_unmount_watch;

/* Start the thread for the volume VOLUME (a block device or an image). MOUNTED: it is
 * mounted already. RJ_E_NOMEM, RJ_E_IO. */
int rj_unmount_watch_start(const char *volume, bool mounted,
	struct rj_unmount_watch **out, struct rj_error *err);
/* The volume has been mounted: find its device, which mountinfo does not name any more
 * when it is being unmounted. NULL-safe. */
void rj_unmount_watch_mounted(struct rj_unmount_watch *w);
/* The journal is empty: look for the end of the mount from now on. SOON: it was emptied, as
 * an unmount, a freeze and an online resize do it. Takes no time. NULL-safe. */
void rj_unmount_watch_look(struct rj_unmount_watch *w, bool soon);
/* The journal is used again: stop looking, and forget what was read. NULL-safe. */
void rj_unmount_watch_end(struct rj_unmount_watch *w);
/* Wait at most NS nanoseconds, if it looks, until the superblock was read. False: it was
 * not. NULL-safe. */
bool rj_unmount_watch_wait(struct rj_unmount_watch *w, int64_t ns,
	uint8_t raw[RJ_RAW_SUPER_BYTES]);
/* End the thread. NULL-safe. */
void rj_unmount_watch_stop(struct rj_unmount_watch *w);

#endif
