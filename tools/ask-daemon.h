/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ask a volume's running rjournald. */
#ifndef TOOLS_ASK_DAEMON_H
#define TOOLS_ASK_DAEMON_H

#include <json-c/json.h>

#include "util/error.h"
#include "util/uuid.h"

/*
 * Get the status of VOLUME's rjournald, as rjctl status --json prints it, into *OUT, for
 * json_object_put(): at most LIMIT_MS milliseconds. *OUT is NULL after an error, or if the answer
 * is not JSON. The errors of rj_rundir_ask().
 */
int daemon_status(const uint8_t volume[RJ_UUID_BYTES], int limit_ms, struct json_object **out,
	struct rj_error *err);
/*
 * Wait until the store, and not only the fallback file, has what VOLUME's rjournald has
 * acknowledged up to now: at most LIMIT_MS milliseconds. RJ_E_NOTFOUND: no rjournald serves
 * it. RJ_E_UNREACHABLE. RJ_E_FENCED: the journal has failed, or another writer took it over.
 */
int shipped_wait(const uint8_t volume[RJ_UUID_BYTES], int limit_ms,
	struct rj_error *err);

#endif
