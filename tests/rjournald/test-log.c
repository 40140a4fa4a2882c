// SPDX-License-Identifier: GPL-2.0-or-later
/* What the daemon says, and where: stderr, then syslog; repeated lines. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>

#include "rjournald/log.h"
#include "support/rjtest.h"
#include "util/environ.h"

#define SECOND 1000000000ll

static int64_t now_ns = 1000 * SECOND;
static char last[1400];
static int last_priority;
static unsigned lines;

static int64_t now(void *arg)
{
	(void)arg;
	return now_ns;
}

__attribute__((format(printf, 2, 0))) static void take(
	int priority, const char *format, va_list ap)
{
	vsnprintf(last, sizeof(last), format, ap);
	last_priority = priority;
	lines++;
}

/* These replace the functions of libc; _FORTIFY_SOURCE calls the second. */
void syslog(int priority, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	take(priority, format, ap);
	va_end(ap);
}

void __syslog_chk(int priority, int flag, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void __syslog_chk(int priority, int flag, const char *format, ...)
{
	va_list ap;

	(void)flag;
	va_start(ap, format);
	take(priority, format, ap);
	va_end(ap);
}

void openlog(const char *ident, int option, int facility)
{
	(void)ident, (void)option, (void)facility;
}

static void notices_reach_syslog_also_when_quiet(void)
{
	static struct rj_daemon_log say;

	lines = 0;
	rj_daemon_log_setup(&say, RJ_LOG_WARNING);
	rj_log(RJ_LOG_NOTICE, "the store is back");
	CU_ASSERT_EQUAL(lines, 0);
	rj_daemon_log_to_syslog(&say);
	rj_log(RJ_LOG_NOTICE, "the store is back");
	CU_ASSERT_EQUAL(lines, 1);
	CU_ASSERT_EQUAL(last_priority, LOG_NOTICE);
	CU_ASSERT_STRING_EQUAL(last, "the store is back");
	rj_log(RJ_LOG_INFO, "nothing of interest");
	CU_ASSERT_EQUAL(lines, 1);
	rj_log_set(NULL, NULL);
}

static void a_verbose_daemon_stays_so(void)
{
	static struct rj_daemon_log say;

	lines = 0;
	rj_daemon_log_setup(&say, RJ_LOG_DEBUG);
	rj_daemon_log_to_syslog(&say);
	rj_log(RJ_LOG_DEBUG, "a detail");
	CU_ASSERT_EQUAL(lines, 1);
	CU_ASSERT_EQUAL(last_priority, LOG_DEBUG);
	rj_log_set(NULL, NULL);
}

static void a_flapping_store_ends_with_its_last_line(void)
{
	static struct rj_daemon_log say;
	int i;

	lines = 0;
	rj_daemon_log_setup(&say, RJ_LOG_NOTICE);
	rj_daemon_log_to_syslog(&say);
	for (i = 0; i < 20; i++) {
		rj_log(RJ_LOG_WARNING, "waiting");
		rj_log(RJ_LOG_NOTICE, "back");
		rj_daemon_log_late(&say);
		now_ns += SECOND;
	}
	CU_ASSERT_EQUAL(lines, 2);
	now_ns += 41 * SECOND;
	rj_daemon_log_late(&say);
	CU_ASSERT_EQUAL(lines, 4);
	CU_ASSERT_EQUAL(last_priority, LOG_NOTICE);
	CU_ASSERT_STRING_EQUAL(last, "back (again, 19 times, last 42 s ago)");
	rj_log(RJ_LOG_NOTICE, "back");
	CU_ASSERT_EQUAL(lines, 4);
	rj_daemon_log_end(&say);
	CU_ASSERT_EQUAL(lines, 5);
	rj_log_set(NULL, NULL);
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(notices_reach_syslog_also_when_quiet),
		RJTEST(a_verbose_daemon_stays_so),
		RJTEST(a_flapping_store_ends_with_its_last_line),
	};
	static const struct rj_environ world = {.monotonic_ns = now};

	rj_environ_set(&world);
	return RJTEST_RUN("log", tests);
}
