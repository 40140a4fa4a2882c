/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the note of a volume's last drill, and of its base, means by now. */
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

/*
 * The base that was made of VOLUME on this host, whose log is at STORE (NULL: not known):
 * "base", "made", "hold" (a number, if it has one), "kept_until" (seconds since 1970; not there:
 * nothing keeps what it needs), "state": "kept", "expiring" (within a day, or a quarter of the
 * time), "expired", "unkept" or "ended" (its history), "text": all of it in one line; "well":
 * false if there is something to do. NULL: none was made, or out of memory.
 */
struct json_object *base_state(const uint8_t volume[RJ_UUID_BYTES], const char *store);

#endif
