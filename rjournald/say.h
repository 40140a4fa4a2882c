/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where log lines go: stderr until the daemon is on its own, then syslog. */
#ifndef RJ_JOURNALD_SAY_H
#define RJ_JOURNALD_SAY_H

#include <stdbool.h>

#include "util/log.h"

struct rj_say {
	enum rj_log_level max; /* more talkative lines are dropped */
	bool syslog;
};

/* SAY stays the caller's, and must outlive all logging. */
void rj_say_setup(struct rj_say *say, enum rj_log_level max);
void rj_say_to_syslog(struct rj_say *say);

#endif
