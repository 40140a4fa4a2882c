// SPDX-License-Identifier: GPL-2.0-or-later
#include "say.h"

#include <stdio.h>
#include <syslog.h>

static void line_out(void *arg, enum rj_log_level level, const char *line)
{
	static const int priority[] = {
		[RJ_LOG_ERROR] = LOG_ERR,
		[RJ_LOG_WARNING] = LOG_WARNING,
		[RJ_LOG_NOTICE] = LOG_NOTICE,
		[RJ_LOG_INFO] = LOG_INFO,
		[RJ_LOG_DEBUG] = LOG_DEBUG,
	};
	const struct rj_say *say = arg;

	if (level > say->max)
		return;
	if (say->syslog)
		syslog(priority[level], "%s", line);
	else
		fprintf(stderr, "rjournald: %s\n", line);
}

void rj_say_setup(struct rj_say *say, enum rj_log_level max)
{
	say->max = max;
	say->syslog = false;
	rj_log_set(line_out, say);
}

void rj_say_to_syslog(struct rj_say *say)
{
	openlog("rjournald", LOG_PID | LOG_NDELAY, LOG_DAEMON);
	say->syslog = true;
}
