/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where fstab says that the log of an XFS volume is. */
#ifndef TOOLS_START_LOG_URL_H
#define TOOLS_START_LOG_URL_H

#include "util/buf.h"
#include "util/error.h"

/*
 * Append the value of logdev= in DEVICE's line of the type rj in /etc/fstab to OUT,
 * NUL-terminated. RJ_E_NOTFOUND: there is no such line; RJ_E_NOMEM.
 */
int log_url_of(const char *device, struct rj_buf *out, struct rj_error *err);

#endif
