/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replace a file by a copy of itself. */
#ifndef RJCTL_REWRITE_H
#define RJCTL_REWRITE_H

#include "util/error.h"

/*
 * Replace the regular file PATH by a copy that is made in its directory, and so gets the
 * directory's flag "j": content, holes, owner, mode, times, extended attributes, ACLs and the other
 * flags of chattr(1) stay. The copy is on stable storage before it takes the name; each open(2) of
 * the name gets the whole old or the whole new file. Signals wait for the end.
 *
 * RJ_E_BUSY: a process has the file open for writing, opened it before the copy was complete (it is
 * as it was), or put another file in its place (which stays). RJ_E_INVAL: it has more than one
 * name, or is immutable or append-only. RJ_E_NOSPACE, RJ_E_IO.
 */
int rewrite_file(const char *path, struct rj_error *err);

#endif
