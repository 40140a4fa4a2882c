/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a running rjournald answered, for people and for Prometheus. */
#ifndef RJCTL_STATUS_H
#define RJCTL_STATUS_H

#include <json-c/json.h>
#include <stdbool.h>

void status_print(struct json_object *o);
/* TEXT as rjournald gave it; without HEADS its comment lines are left out, of
 * which the form allows each but once. */
void metrics_print(const char *text, bool heads);

#endif
