/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Run mount(8), and speak with the daemon around it. */
#ifndef RJ_MOUNT_RUN_H
#define RJ_MOUNT_RUN_H

#include <stdint.h>

#include "options.h"
#include "util/error.h"
#include "util/uuid.h"

/* What is mounted. */
struct run_what {
	const char *type;      /* of its file system, for mount(8) */
	const char *path_word; /* the option that names the journal's device */
	const char *loop;      /* that device; NULL: mount without the journal */
	const uint8_t *uuid;   /* the volume's, if LOOP is there */
};

/* Refuse a mount point that is not a directory: RJ_E_INVAL. */
int run_check_dir(const char *dir, struct rj_error *err);
/* Wait for a daemon of the volume UUID that is about to end. RJ_E_BUSY: one serves on;
 * DEVICE is for that message. */
int run_wait_for_leaving(const uint8_t uuid[RJ_UUID_BYTES], const char *device,
	struct rj_error *err);
/* Run the real mount(8), without helpers, and show what it says. STATUS gets its exit
 * status. RJ_E_NOTFOUND, RJ_E_NOMEM, RJ_E_IO: it did not run. */
int run_mount(const struct rj_mount_options *o, const struct run_what *what,
	int *status, struct rj_error *err);
/* Tell the daemon of the volume UUID that the mount is there ("mounted": it lets go of the
 * loop device, and ends with the unmount), or is not to be ("stop"). If the history of a base of
 * this host does not go on over the mount, that is noted, and a warning says so. */
void run_tell(const struct rj_mount_options *o, const uint8_t uuid[RJ_UUID_BYTES],
	const char *what);

#endif
