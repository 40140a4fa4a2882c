/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOOLS_START_SIBLING_H
#define TOOLS_START_SIBLING_H

#include "util/buf.h"
#include "util/error.h"

/*
 * Find TOOL of this suite: in $RJ_SBINDIR if set; beside this program; in the
 * build tree, when this program runs from there; in PATH. The path is appended
 * to OUT, NUL-terminated. RJ_E_NOTFOUND.
 */
int rj_sibling_find(const char *tool, struct rj_buf *out, struct rj_error *err);

#endif
