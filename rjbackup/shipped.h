/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJBACKUP_SHIPPED_H
#define RJBACKUP_SHIPPED_H

#include "util/error.h"
#include "util/uuid.h"

/*
 * Wait until the store, and not only the fallback file, has what VOLUME's rjournald has
 * acknowledged up to now: at most 5 minutes. RJ_E_NOTFOUND: no rjournald serves it.
 * RJ_E_UNREACHABLE.
 */
int wait_shipped(void *arg, const uint8_t volume[RJ_UUID_BYTES],
	struct rj_error *err);

#endif
