/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Find the reason in the output of a program that failed, for the one line of mount.rj. */
#ifndef TOOLS_START_SAID_H
#define TOOLS_START_SAID_H

/*
 * Find the reason in TEXT, the captured output of PROGRAM ("mount"): its last line that
 * begins with "PROGRAM: ". Returns that line without this, without a "DEVICE: " after it
 * and without a full stop at its end; NULL if there is none. The other lines go to stderr,
 * but for the hint at dmesg(1). TEXT is changed.
 */
const char *rj_said(char *text, const char *program, const char *device);

#endif
