/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The volume that a base is made of: mounted, or its device, or an image. */
#ifndef RJ_HISTORY_BASE_SOURCE_H
#define RJ_HISTORY_BASE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "format/mount-note.h"
#include "util/error.h"

struct rj_source {
	const char *given; /* DIR or a device, as the user said it; the caller's */
	bool mounted;
	char dir[4096];	   /* where it is mounted; "" if it is not */
	char device[4096]; /* or an image, if it is not mounted */
	char name[32];	   /* the device's, in the kernel; only while it is mounted */
	int dir_fd;	   /* of DIR: the mount stays the same one as long as it is open; -1 */
	int fd;		   /* of DEVICE, for reading past the page cache */
};

/*
 * Find the volume GIVEN, and open it as *S: a folder at which it is mounted, or a block device
 * or image, mounted or not. A device that is not mounted is held exclusively. Nothing that a
 * history needs is looked at. rj_source_close() in any case.
 * RJ_E_NOTFOUND: nothing is mounted at a folder. RJ_E_INVAL: neither; no ext3 or ext4.
 * RJ_E_BUSY: mounted where this process cannot see it, or in use otherwise.
 */
int rj_source_open(const char *given, struct rj_source *s, struct rj_error *err);
/* What makes a volume one with a history, as far as its mount says it; 0 for one that is not
 * mounted. RJ_E_REFUSED: another mode than data=journal, or ext4 zeroes blocks past the log. */
int rj_source_check_mount(const struct rj_source *s, struct rj_error *err);
/* Read the primary superblock; the kernel may be writing it just now. RJ_E_CORRUPT: it is
 * damaged. RJ_E_REFUSED: the feature encrypt. RJ_E_IO. */
int rj_source_super(const struct rj_source *s, uint8_t raw[1024], struct rj_error *err);
/* Is S, which is not mounted, as the note of its unmount says? RJ_E_REFUSED: no. */
int rj_source_is_left(const struct rj_source *s, const uint8_t super[RJ_MOUNT_NOTE_HASH],
	struct rj_error *err);
/* Have the journal of the mounted S hold two transactions, by what changes nothing that is seen.
 * Where that fails, the journal may hold something nevertheless. */
void rj_source_fill_journal(const struct rj_source *s);
void rj_source_close(struct rj_source *s);

#endif
