/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the commands that compare moments of a history share. */
#ifndef RJBACKUP_CHANGES_SCRATCH_H
#define RJBACKUP_CHANGES_SCRATCH_H

#include "history/compare/compare.h"
#include "rjbackup/options.h"

/* Fill what O says into C: base, URL, key, and C->scratch with two files without a name below
 * O->scratch. RJ_E_IO. */
int compare_prepare(const struct options *o, struct rj_compare_opts *c, struct rj_error *err);
/* Close the two files. */
void compare_release(struct rj_compare_opts *c);

#endif
