/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The mounted volume that is watched, and where the kernel tells of it. */
#ifndef RJADVISE_VOLUME_H
#define RJADVISE_VOLUME_H

#include <limits.h>
#include <sys/types.h>

#include "journal/info.h"
#include "rjadvise/model/model.h"
#include "rjadvise/model/proc-text.h"

struct volume {
	char dir[PATH_MAX];    /* where it is mounted */
	char device[80];       /* of the mount: /dev/sda1 */
	dev_t dev;
	char name[64];	       /* the kernel's name of the device: sda1 */
	struct rj_journal_info journal;
	enum place place;
	dev_t journal_dev; /* DEV, of an internal journal */
	char jbd2[96];	   /* its directory in /proc/fs/jbd2; "": none */
	struct mount_text mount;
	bool noatime, relatime;
	bool rotates;	 /* its disk, as the kernel says */
	bool whole_disk; /* the flushes are of the disk that DEV is a part of */
	char disk_dir[64]; /* of that disk in /sys: no slash at the end */
};

/*
 * Find the volume of ARGUMENT, a directory or a device, which must be mounted here.
 * RJ_E_NOTFOUND: it is not, or is no ext3 or ext4; RJ_E_UNSUPPORTED: it has no journal.
 */
int volume_find(const char *argument, struct volume *out, struct rj_error *err);

/* What rjournald counted of a volume that it serves. */
struct shipped {
	uint64_t segments;
	uint64_t ns; /* that commits waited for them */
};

/* Ask it. False: the journal is not remote, or there is no answer. */
bool volume_shipped(const struct volume *v, struct shipped *out);

/* Read the file that FORMAT makes the path of, at most SIZE bytes with the NUL. False: it
 * cannot be read. */
bool read_text(char *out, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
