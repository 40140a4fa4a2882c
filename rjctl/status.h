/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Print the answers of a running rjournald. */
#ifndef RJCTL_STATUS_H
#define RJCTL_STATUS_H

#include <json-c/json.h>
#include <stdbool.h>

void status_print(struct json_object *o);
/* Print rjournald's metrics TEXT; without HEADS not its comment lines, each of which may
 * occur only once in the output. */
void metrics_print(const char *text, bool heads);

#endif
