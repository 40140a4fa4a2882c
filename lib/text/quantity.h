/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers with a unit after them, as users write sizes and times. */
#ifndef RJ_TEXT_QUANTITY_H
#define RJ_TEXT_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Read TEXT, decimal digits and at most one letter, into OUT. Sizes are bytes,
 * or k, K, M, G, T: powers of 1024. Times are seconds, or s, m, h, d. False, and
 * OUT is unchanged: anything else, or 2^64 and above.
 */
bool rj_parse_size(const char *text, uint64_t *out);
bool rj_parse_time(const char *text, uint64_t *out);

#define RJ_SIZE_TEXT 32
/* Write BYTES in the unit that people would take, with three digits, into OUT, and return OUT:
 * "512 bytes", "93.7 KiB", "1.20 TiB". */
const char *rj_size_text(double bytes, char out[RJ_SIZE_TEXT]);

#endif
