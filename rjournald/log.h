/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Write log lines to stderr until the daemon is in the background, then to syslog.
 * A line that repeats is written once a minute, with a count (util/repeat.h).
 */
#ifndef RJ_JOURNALD_LOG_H
#define RJ_JOURNALD_LOG_H

#include <pthread.h>
#include <stdbool.h>

#include "util/log.h"
#include "util/repeat.h"

struct rj_daemon_log {
	enum rj_log_level max; /* lines of a less severe level are dropped */
	bool syslog;
	pthread_mutex_t lock;
	struct rj_repeat said; /* under lock */
};

/* Log to stderr. SAY is all zero, stays the caller's, and must outlive all
 * logging. */
void rj_daemon_log_setup(struct rj_daemon_log *say, enum rj_log_level max);
/* Log to syslog. Notices are written also if the level set up is less: each change
 * of the mode is a notice, and stderr is closed by now. */
void rj_daemon_log_to_syslog(struct rj_daemon_log *say);
/* Write which lines repeated, and how often, when their minute is over. Called
 * every few seconds. */
void rj_daemon_log_late(struct rj_daemon_log *say);
/* Write what repeated since it was last written: the process ends. */
void rj_daemon_log_end(struct rj_daemon_log *say);

#endif
