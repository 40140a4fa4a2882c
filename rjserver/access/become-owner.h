/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJSERVER_BECOME_OWNER_H
#define RJSERVER_BECOME_OWNER_H

#include "util/error.h"

/*
 * Drop root's rights before root works on the service's directory, where the service's
 * user can plant any link: if a directory on the way to the file PATH, or the
 * working directory of a relative one, is not root's, the process becomes that directory's
 * owner, for good. Does nothing for another user, or if all are root's. 0 or -rj_code.
 */
int owner_become(const char *path, struct rj_error *err);

#endif
