/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the server has to say: one line each, on stderr, "rjserver: " first. */
#ifndef RJSERVER_SAY_H
#define RJSERVER_SAY_H

/* -q: no notices; warnings and errors are always said. */
void say_set_quiet(void);

void say_notice(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void say_warning(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void say_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
