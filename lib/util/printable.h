/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text from a server or a volume that a terminal or a log is to show. */
#ifndef RJ_UTIL_PRINTABLE_H
#define RJ_UTIL_PRINTABLE_H

/* Put '?' for each control character in TEXT, and for each byte of what is not
 * UTF-8. */
void rj_make_printable(char *text);

#endif
