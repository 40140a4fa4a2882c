/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Colours on a terminal. */
#ifndef RJCTL_TERMINAL_H
#define RJCTL_TERMINAL_H

enum mood {
	MOOD_WELL,
	MOOD_WARNING,
	MOOD_BAD,
};

/* What begins text of MOOD on standard output, and what ends it: "" if that is no terminal, or
 * NO_COLOR is set and not empty (no-color.org). */
const char *terminal_begin(enum mood mood);
const char *terminal_end(void);

#endif
