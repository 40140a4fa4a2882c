/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the note of a volume's last drill means by now. */
#ifndef TOOLS_DRILL_STATE_H
#define TOOLS_DRILL_STATE_H

#include "tools/drill-note.h"

/*
 * The note of VOLUME, with "text": all of it in one line; "state": "never" (a base was
 * made), "verified", "stale" (the last success is older than drill_max_age of rj.conf),
 * "failed" (the last drill) or "unknown" (the note cannot be read); "age_seconds" of the
 * last success; "well": false if there is something to do. NULL: this host has no note
 * of that volume, or out of memory.
 */
struct json_object *drill_state(const uint8_t volume[RJ_UUID_BYTES]);

#endif
