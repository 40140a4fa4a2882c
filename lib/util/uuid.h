/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef RJ_UTIL_UUID_H
#define RJ_UTIL_UUID_H

#include <stdbool.h>
#include <stdint.h>

#define RJ_UUID_BYTES 16
#define RJ_UUID_TEXT  37 /* with the NUL */

/* Lower-case text of a UUID into OUT; returns OUT. */
char *rj_uuid_text(const uint8_t uuid[RJ_UUID_BYTES], char out[RJ_UUID_TEXT]);
/* Parse exactly 36 characters, either case. False if TEXT is anything else. */
bool rj_uuid_parse(const char *text, uint8_t out[RJ_UUID_BYTES]);
/* A random (version 4) UUID. Returns 0 or a negative rj_code. */
int rj_uuid_random(uint8_t out[RJ_UUID_BYTES]);
bool rj_uuid_equal(const uint8_t *a, const uint8_t *b);
bool rj_uuid_is_null(const uint8_t *a);

#endif
