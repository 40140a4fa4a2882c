/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A volume whose rjournald died: its runtime directory is still there. */
#ifndef RJCTL_DEAD_DAEMON_H
#define RJCTL_DEAD_DAEMON_H

#include <json-c/json.h>
#include <stdint.h>

#include "util/uuid.h"

/*
 * The status of the volume UUID in the form of rjournald's answers, with the
 * mode "dead"; the caller's to put. NULL: the daemon lives, or stopped in order,
 * or the volume is unmounted and needs no recovery; or out of memory.
 */
struct json_object *dead_status(const uint8_t uuid[RJ_UUID_BYTES]);
void dead_print(struct json_object *o);

#endif
