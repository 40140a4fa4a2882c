/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJSERVER_BECOME_OWNER_H
#define RJSERVER_BECOME_OWNER_H

#include "util/error.h"

/*
 * Root works on the service's directory, where the service's user can plant any
 * link: if a directory on the way to the file PATH, or the working directory of
 * a relative one, is not root's, become its owner, for good. For any other user,
 * and where all are root's: nothing. 0 or -rj_code.
 */
int owner_become(const char *path, struct rj_error *err);

#endif
