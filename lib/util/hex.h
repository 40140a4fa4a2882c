/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bytes as hexadecimal text, in lower case; read in either. */
#ifndef RJ_UTIL_HEX_H
#define RJ_UTIL_HEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* LEN bytes as 2 * LEN digits and a NUL in OUT, which is returned. */
char *rj_hex_text(const uint8_t *bytes, size_t len, char *out);
/* The first 2 * LEN characters of TEXT; what follows is not looked at. False:
 * not all are digits, and OUT holds nothing of use. */
bool rj_hex_parse(const char *text, size_t len, uint8_t *out);

#endif
