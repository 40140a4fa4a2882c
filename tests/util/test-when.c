// SPDX-License-Identifier: GPL-2.0-or-later
/* Times as people type them, held against date(1) of coreutils; and what is printed is read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/rjtest.h"
#include "text/when.h"

#define NS  1000000000LL
#define NOW (1795960800 * NS + 5) /* Sunday 2026-11-29 14:00 UTC, 15:00 in CET */

static const struct zone {
	const char *tz;
} zones[] = {{"UTC0"}, {"CET-1CEST,M3.5.0,M10.5.0/3"}, {"NST3:30NDT,M3.2.0,M11.1.0"}};

static void in_zone(const char *tz)
{
	setenv("TZ", tz, 1);
	tzset();
}

/* What date(1) says that TEXT is, in the zone of this process, in seconds. */
static int64_t date_says(const char *text)
{
	char command[256];
	long long s = -1;
	FILE *f;

	snprintf(command, sizeof(command), "date -d '%s' +%%s", text);
	f = popen(command, "r");
	if (!f)
		return -1;
	if (fscanf(f, "%lld", &s) != 1)
		s = -1;
	pclose(f);
	return s;
}

static void dates_as_date_reads_them(void)
{
	static const char *const texts[] = {
		"2026-11-28 14:05", "2026-11-28 14:05:06", "2026-11-28T14:05:06Z",
		"2026-11-28 14:05 UTC", "2026-11-28 14:05:06+05:45", "2026-11-28 14:05:06 -0330",
		"2026-11-28", "2024-02-29", "2026-07-01 00:00:00", "2026-03-29 03:30:00",
		"2026-10-25 01:30:00Z", "@1795960800",
	};
	size_t z, i;
	int64_t ns;

	for (z = 0; z < sizeof(zones) / sizeof(zones[0]); z++) {
		in_zone(zones[z].tz);
		for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
			ns = -1;
			CU_ASSERT_TRUE(rj_when_parse(texts[i], NOW, &ns));
			CU_ASSERT_EQUAL(ns, date_says(texts[i]) * NS);
		}
	}
}

static void by_the_present(void)
{
	static const struct {
		const char *text;
		int64_t s; /* before NOW, in seconds */
	} cases[] = {
		{"now", 0}, {"-10m", 600}, {"10 minutes ago", 600}, {"1 hour ago", 3600},
		{"-1h30m", 5400}, {"2 days 1 hour ago", 176400}, {"-1w", 604800},
		{"-90s", 90},
	};
	static const struct {
		const char *text;
		int64_t ns; /* in CET */
	} days[] = {
		{"today", 1795906800 * NS}, /* 00:00 */
		{"yesterday", 1795820400 * NS}, {"14:05", 1795957500 * NS},
		{"yesterday 14:05", 1795871100 * NS}, {"14:05:06.5", 1795957506 * NS + NS / 2},
		{"14:05Z", 1795961100 * NS}, {"yesterday 14:05 UTC", 1795874700 * NS},
	};
	size_t i;
	int64_t ns;

	in_zone("CET-1");
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ns = -1;
		CU_ASSERT_TRUE(rj_when_parse(cases[i].text, NOW, &ns));
		CU_ASSERT_EQUAL(ns, NOW - cases[i].s * NS);
	}
	for (i = 0; i < sizeof(days) / sizeof(days[0]); i++) {
		ns = -1;
		CU_ASSERT_TRUE(rj_when_parse(days[i].text, NOW, &ns));
		if (ns != days[i].ns)
			printf("# %s: %lld\n", days[i].text, (long long)(ns / NS));
		CU_ASSERT_EQUAL(ns, days[i].ns);
	}
}

static void what_is_no_time(void)
{
	static const char *const bad[] = {"", "soon", "@", "@-1", "@1.", "@1.5x", "-", "-10", "10m",
		"10 minutes", "10 parsecs ago", "2026-13-01", "2026-02-31", "2026-1", "24:00",
		"14:5", "14:60", "2026-11-28 ", "2026-11-28 14", "2026-11-28 14:05 ZZ",
		"2026-11-28 14:05+1", "2026-11-28 14:05+1:00", "1969-12-31 23:59:59Z",
		"99999999999w ago", "@9223372036854775807", "today 14:05 or so"};
	size_t i;
	int64_t ns = 7;

	in_zone("UTC0");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (rj_when_parse(bad[i], NOW, &ns))
			printf("# %s: read as %lld\n", bad[i], (long long)(ns / NS));
		CU_ASSERT_EQUAL(ns, 7);
	}
}

static void what_is_printed_is_read(void)
{
	uint64_t x = rjtest_seed();
	char text[RJ_WHEN_TEXT];
	int64_t ns, back;
	size_t i;

	for (i = 0; i < 30000; i++) {
		in_zone(zones[i % 3].tz);
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		ns = (int64_t)(x >> 2 & (x & 1 ? ~0ull : ~0ull << 30));
		ns -= x & 1 ? 0 : ns % NS;
		back = -1;
		CU_ASSERT_TRUE(rj_when_parse(rj_when_text(ns, text), NOW, &back));
		CU_ASSERT_EQUAL(back, ns);
		back = -1;
		CU_ASSERT_TRUE(rj_when_parse(rj_when_rfc3339(ns, text), NOW, &back));
		CU_ASSERT_EQUAL(back, ns);
	}
	in_zone("CET-1");
	CU_ASSERT_STRING_EQUAL(rj_when_text(NOW, text), "2026-11-29 15:00:00.000000005+01:00");
	CU_ASSERT_STRING_EQUAL(rj_when_seconds(NOW / NS, text), "2026-11-29 15:00:00+01:00");
	CU_ASSERT_STRING_EQUAL(rj_when_rfc3339(NOW, text), "2026-11-29T14:00:00.000000005Z");
	in_zone("UTC0");
	CU_ASSERT_STRING_EQUAL(rj_when_text(NOW, text), "2026-11-29 14:00:00.000000005Z");
}

int main(void)
{
	static const struct rjtest tests[] = {
		RJTEST(dates_as_date_reads_them),
		RJTEST(by_the_present),
		RJTEST(what_is_no_time),
		RJTEST(what_is_printed_is_read),
	};

	return RJTEST_RUN("when", tests);
}
