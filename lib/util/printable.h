/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text from a server or a volume that a terminal or a log is to show. */
#ifndef RJ_UTIL_PRINTABLE_H
#define RJ_UTIL_PRINTABLE_H

#include <stddef.h>

/* Get the bytes of the character at S, 1 to 4; 0: it is not UTF-8 as RFC 3629 has it. */
size_t rj_utf8_bytes(const char *s);

/* Put '?' for each control character in TEXT, and for each byte of what is not
 * UTF-8. */
void rj_make_printable(char *text);

#endif
