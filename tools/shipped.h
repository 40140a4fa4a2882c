/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOOLS_SHIPPED_H
#define TOOLS_SHIPPED_H

#include "util/error.h"
#include "util/uuid.h"

/*
 * Wait until the store, and not only the fallback file, has what VOLUME's rjournald has
 * acknowledged up to now: at most LIMIT_MS milliseconds. RJ_E_NOTFOUND: no rjournald serves
 * it. RJ_E_UNREACHABLE.
 */
int shipped_wait(const uint8_t volume[RJ_UUID_BYTES], int limit_ms,
	struct rj_error *err);

#endif
