/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJ_TEST_HISTORY_MANIFEST_H
#define RJ_TEST_HISTORY_MANIFEST_H

/* Print one line for PATH, and for all below it: what a restore must bring back. No time is
 * changed by that but symbolic links' atime, which is not in it. Exits when anything cannot
 * be read. */
void manifest(const char *path);

#endif
