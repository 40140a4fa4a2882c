/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Find a volume whose rjournald died, by the runtime directory that it left. */
#ifndef RJCTL_DEAD_DAEMON_H
#define RJCTL_DEAD_DAEMON_H

#include <json-c/json.h>
#include <stdint.h>

#include "util/uuid.h"

/*
 * Make the status of the volume UUID in the form of rjournald's answers, with the mode
 * "dead", for json_object_put(). NULL: the daemon lives, or stopped in order,
 * or the volume is unmounted and needs no recovery; or out of memory.
 */
struct json_object *dead_status(const uint8_t uuid[RJ_UUID_BYTES]);
void dead_print(struct json_object *o);

#endif
