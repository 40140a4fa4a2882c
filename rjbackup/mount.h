/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJBACKUP_MOUNT_H
#define RJBACKUP_MOUNT_H

#include "history/compare/compare.h"
#include "print.h"

/*
 * Mount a moment at R->o->dir: the base with the changed blocks of R->o->at over it, served by a
 * process that ends with the mount. Read-only; with R->o->writable a clone, of which nothing
 * is left after the mount. Fills R. Errors as of rj_history_restore().
 */
int mount_moment(struct result *r);
/*
 * Mount a clone of SIDE, of a history of the base with R->facts, at R->o->dir, as mount_moment()
 * does with R->o->writable. SIDE stays as it is until the mount and the process that called
 * have ended. Errors as of rj_new_volume().
 */
int mount_side(struct result *r, const struct rj_compare_side *side);
/* Open a new file without a name in O->scratch. Returns a descriptor, or a negative rj_code. */
int scratch_file(const struct options *o, struct rj_error *err);

#endif
