/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Write log lines to stderr, each with "rjserver: " in front. */
#ifndef RJSERVER_LOG_H
#define RJSERVER_LOG_H

/* -q: no notices; warnings and errors are always said. */
void log_set_quiet(void);

/* Write the next lines in full, also those that were written less than a minute ago: an
 * administrator asked. */
void log_forget_repeats(void);

void log_notice(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Say that a client was refused: a warning, of which at most LOG_REFUSALS are said in
 * LOG_REFUSALS_NS. The next one after that time also says how many were not. */
void log_refused(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#define LOG_REFUSALS    20
#define LOG_REFUSALS_NS 10000000000ll

#endif
