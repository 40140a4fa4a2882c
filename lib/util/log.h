/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the library has to say while it works goes to a callback; the library
 * itself never prints. Without a callback the lines are dropped.
 */
#ifndef RJ_UTIL_LOG_H
#define RJ_UTIL_LOG_H

enum rj_log_level {
	RJ_LOG_ERROR,
	RJ_LOG_WARNING,
	RJ_LOG_NOTICE,
	RJ_LOG_INFO,
	RJ_LOG_DEBUG,
};

typedef void (*rj_log_fn)(void *arg, enum rj_log_level level, const char *line);

/* Set the process-wide callback. Call before threads start. FN may be NULL. */
void rj_log_set(rj_log_fn fn, void *arg);
/* Say one line, without a newline. */
void rj_log(enum rj_log_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
