// SPDX-License-Identifier: GPL-2.0-or-later
/* Write log lines to stderr or syslog, repeated ones with a count. */
#include "log.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>

#include "util/environ.h"

#define NS_PER_S 1000000000LL

static void put(const struct rj_daemon_log *say, enum rj_log_level level,
	const char *line, const char *times)
{
	static const int priority[] = {
		[RJ_LOG_ERROR] = LOG_ERR,
		[RJ_LOG_WARNING] = LOG_WARNING,
		[RJ_LOG_NOTICE] = LOG_NOTICE,
		[RJ_LOG_INFO] = LOG_INFO,
		[RJ_LOG_DEBUG] = LOG_DEBUG,
	};

	if (say->syslog)
		syslog(priority[level], "%s%s", line, times);
	else
		fprintf(stderr, "rjournald: %s%s\n", line, times);
}

/* The lines are remembered with their level, a letter, before them. */
static void put_late(struct rj_daemon_log *say, int64_t now, bool all)
{
	char text[RJ_REPEAT_TEXT], times[96];
	unsigned more;
	int64_t ago;

	while (rj_repeat_late(
		&say->said, now, all, text, sizeof(text), &more, &ago)) {
		snprintf(times, sizeof(times), " (again, %u times, last %lld s ago)",
			more, (long long)(ago / NS_PER_S));
		put(say, (enum rj_log_level)(text[0] - 'a'), text + 1, times);
	}
}

static void line_out(void *arg, enum rj_log_level level, const char *line)
{
	struct rj_daemon_log *say = arg;
	char text[1200], times[64] = "";
	int64_t now = rj_monotonic_ns();
	unsigned more;

	if (level > say->max)
		return;
	snprintf(text, sizeof(text), "%c%s", 'a' + (int)level, line);
	pthread_mutex_lock(&say->lock);
	put_late(say, now, false);
	if (rj_repeat_say(&say->said, text, now, &more)) {
		if (more)
			snprintf(times, sizeof(times),
				" (and %u times before)", more);
		put(say, level, line, times);
	}
	pthread_mutex_unlock(&say->lock);
}

void rj_daemon_log_setup(struct rj_daemon_log *say, enum rj_log_level max)
{
	say->max = max;
	say->syslog = false;
	pthread_mutex_init(&say->lock, NULL);
	rj_log_set(line_out, say);
}

void rj_daemon_log_to_syslog(struct rj_daemon_log *say)
{
	openlog("rjournald", LOG_PID | LOG_NDELAY, LOG_DAEMON);
	pthread_mutex_lock(&say->lock);
	memset(&say->said, 0, sizeof(say->said)); /* syslog had none of it */
	say->syslog = true;
	if (say->max < RJ_LOG_NOTICE)
		say->max = RJ_LOG_NOTICE;
	pthread_mutex_unlock(&say->lock);
}

void rj_daemon_log_late(struct rj_daemon_log *say)
{
	/* a thread that waits for syslog must not stop the main loop */
	if (pthread_mutex_trylock(&say->lock))
		return;
	put_late(say, rj_monotonic_ns(), false);
	pthread_mutex_unlock(&say->lock);
}

void rj_daemon_log_end(struct rj_daemon_log *say)
{
	if (pthread_mutex_trylock(&say->lock))
		return;
	put_late(say, rj_monotonic_ns(), true);
	pthread_mutex_unlock(&say->lock);
}
