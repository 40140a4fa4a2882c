/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Print the answers of a running rjournald. */
#ifndef RJCTL_STATUS_H
#define RJCTL_STATUS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/uuid.h"

void status_print(struct json_object *o);
/* Print rjournald's metrics TEXT; without HEADS not its comment lines, each of which may
 * occur only once in the output. */
void metrics_print(const char *text, bool heads);

/* Print the metrics of BASE, as base_state() has it (NULL: none), of the volume UUID; with the
 * comment lines the first time. */
void base_metrics_print(struct json_object *base, const uint8_t uuid[RJ_UUID_BYTES]);

#endif
