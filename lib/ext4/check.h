/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef RJ_EXT4_CHECK_H
#define RJ_EXT4_CHECK_H

#include <stdint.h>

#include "ext4/volume.h"
#include "util/error.h"
#include "verdict/verdict.h"

/* Which blocks a replay wrote. */
struct rj_changed {
	bool (*is)(void *arg, uint64_t block);
	void *arg;
};

/*
 * Check the unmounted volume at PATH quickly, reading only: the superblock and all group
 * descriptors (their checksums, and that each names blocks inside the volume, and its own),
 * then bitmaps against their checksums and the descriptors' counts of free blocks and inodes:
 * those of groups of which CHANGED has a bitmap or the descriptor, or of all groups (NULL).
 * The totals in the superblock are not compared: the kernel updates those only at unmount.
 * Memory: the descriptors, and some bytes for each run of a group's metadata.
 * RJ_E_CORRUPT names the first fault found. PROGRESS (may be NULL) counts groups; if
 * it does not return 0, the check ends with RJ_E_CANCELLED.
 */
int rj_volume_check_quick(const char *path, const struct rj_changed *changed,
	int (*progress)(void *arg, uint64_t done, uint64_t total), void *arg,
	struct rj_error *err);

/*
 * Find an inode in use that is encrypted in the unmounted volume at PATH, whether or not
 * it has the feature; 0: there is none. Reads the used part of all inode tables.
 */
int rj_volume_find_encrypted(const char *path, uint32_t *inode, struct rj_error *err);

/* Tell the judge what F says: fill OUT, all of it, with what is known of the volume alone. The
 * extension counts only while it agrees with the superblock, which another tool may change. */
void rj_volume_judged(const struct rj_volume_facts *f, struct rj_verdict_facts *out);

/* Ask the judge about the volume at PATH that F is of, with FACTS. A mark that the log has left
 * behind is read again, into both: a writer on another host may have raised it since. */
void rj_volume_judge(const char *path, struct rj_volume_facts *f, struct rj_verdict_facts *facts,
	struct rj_verdict *out);

/* Get the verdict on the volume that F is of, while its log is not read. */
enum rj_verdict_kind rj_volume_verdict(const struct rj_volume_facts *f);

#endif
