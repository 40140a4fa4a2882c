// SPDX-License-Identifier: GPL-2.0-or-later
#include "log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/environ.h"
#include "util/repeat.h"

/* of syslog(3) */
#define LEVEL_ERROR   3
#define LEVEL_WARNING 4
#define LEVEL_NOTICE  5

static bool quiet;

/* Is stderr the journal's? Then it takes a level in front: sd-daemon(3). */
static bool to_journal(void)
{
	static enum { UNKNOWN, NO, YES } known;
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;

	if (known == UNKNOWN)
		known = stream && sscanf(stream, "%llu:%llu", &dev, &ino) == 2 &&
					!fstat(2, &st) && st.st_dev == dev &&
					st.st_ino == ino
				? YES
				: NO;
	return known == YES;
}

void log_set_quiet(void)
{
	quiet = true;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rj_repeat said;

void log_forget_repeats(void)
{
	pthread_mutex_lock(&lock);
	memset(&said, 0, sizeof(said));
	pthread_mutex_unlock(&lock);
}

/* One write per line, so that lines of several processes do not mix. A warning or
 * an error that was said less than a minute ago is only counted. */
__attribute__((format(printf, 3, 0))) static void say(
	int level, const char *kind, const char *fmt, va_list ap)
{
	char line[1400], times[64] = "";
	unsigned more = 0;
	bool now = true;

	vsnprintf(line, sizeof(line), fmt, ap);
	if (level < LEVEL_NOTICE) {
		pthread_mutex_lock(&lock);
		now = rj_repeat_say(&said, line, rj_monotonic_ns(), &more);
		pthread_mutex_unlock(&lock);
	}
	if (!now)
		return;
	if (more)
		snprintf(times, sizeof(times), " (and %u times before)", more);
	if (to_journal()) /* which knows our name */
		fprintf(stderr, "<%d>%s%s\n", level, line, times);
	else
		fprintf(stderr, "rjserver: %s%s%s\n", kind, line, times);
}

void log_notice(const char *fmt, ...)
{
	va_list ap;

	if (quiet)
		return;
	va_start(ap, fmt);
	say(LEVEL_NOTICE, "", fmt, ap);
	va_end(ap);
}

void log_warning(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(LEVEL_WARNING, "warning: ", fmt, ap);
	va_end(ap);
}

void log_refused(const char *fmt, ...)
{
	static int64_t since_ns; /* 0: never */
	static unsigned count;
	int64_t now = rj_monotonic_ns();
	unsigned unsaid = 0;
	bool tell;
	va_list ap;

	pthread_mutex_lock(&lock);
	if (!since_ns || now - since_ns > LOG_REFUSALS_NS) {
		unsaid = count > LOG_REFUSALS ? count - LOG_REFUSALS : 0;
		since_ns = now;
		count = 0;
	}
	tell = count++ < LOG_REFUSALS;
	pthread_mutex_unlock(&lock);
	if (unsaid)
		log_warning("refused: %u more", unsaid);
	if (!tell)
		return;
	va_start(ap, fmt);
	say(LEVEL_WARNING, "warning: ", fmt, ap);
	va_end(ap);
}

void log_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(LEVEL_ERROR, "", fmt, ap);
	va_end(ap);
}
