/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJBACKUP_MOUNT_H
#define RJBACKUP_MOUNT_H

#include "print.h"

/*
 * Mount a moment at R->o->dir: the base with the changed blocks of R->o->at over it, served by a
 * process that ends with the mount. Read-only; with R->o->writable a clone, of which nothing
 * is left after the mount. Fills R. Errors as of rj_history_restore().
 */
int mount_moment(struct result *r);
/* Open a new file without a name in O->scratch. Returns a descriptor, or a negative rj_code. */
int scratch_file(const struct options *o, struct rj_error *err);

#endif
