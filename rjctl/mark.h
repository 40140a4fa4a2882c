/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJCTL_MARK_H
#define RJCTL_MARK_H

#include "options.h"

/* Name the moment: rjctl mark. Prints what came of it; returns the exit status. */
int mark(const struct rj_ctl_options *o);

#endif
