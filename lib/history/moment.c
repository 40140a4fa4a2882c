// SPDX-License-Identifier: LGPL-2.1-or-later
/* A moment, as people write it. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "format/object-key.h"
#include "history/history.h"

#define NS_PER_S 1000000000LL
#define LAST_S	 (INT64_MAX / NS_PER_S - 1)

/* ".5" is half a second; returns where it ends. */
static const char *fraction(const char *p, int64_t *ns)
{
	int64_t digit = NS_PER_S / 10;

	*ns = 0;
	if (*p != '.' || !isdigit((unsigned char)p[1]))
		return p;
	for (p++; isdigit((unsigned char)*p); p++, digit /= 10)
		*ns += (*p - '0') * digit;
	return p;
}

static bool parse_number(const char *text, uint64_t *out, const char **end)
{
	char *after;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*out = strtoull(text, &after, 10);
	*end = after;
	return !errno;
}

static bool parse_date(const char *text, int64_t *out)
{
	struct tm tm = {.tm_isdst = -1}, back;
	int64_t s, ns;
	const char *p = strptime(text, "%Y-%m-%d", &tm);

	if (!p || (*p != ' ' && *p != 'T'))
		return false;
	p = strptime(p + 1, "%H:%M:%S", &tm);
	if (!p)
		return false;
	back = tm;
	p = fraction(p, &ns);
	s = *p == 'Z' ? timegm(&tm) : mktime(&tm);
	/* the 31st of February is no day */
	if (p[*p == 'Z'] || s < 0 || s > LAST_S || tm.tm_mday != back.tm_mday)
		return false;
	*out = s * NS_PER_S + ns;
	return true;
}

int rj_moment_parse(
	const char *text, struct rj_moment *out, struct rj_error *err)
{
	struct rj_moment m = {0};
	const char *end = text;
	uint64_t s;
	int64_t ns;

	if (!strcmp(text, "latest")) {
		m.kind = RJ_AT_LATEST;
	} else if (!strncmp(text, "segment:", 8) &&
		   parse_number(text + 8, &m.segment, &end) && !*end &&
		   m.segment) {
		m.kind = RJ_AT_SEGMENT;
	} else if (!strncmp(text, "mark:", 5) &&
		   rj_key_name_valid(text + 5, strlen(text + 5))) {
		m.kind = RJ_AT_MARK;
		snprintf(m.mark, sizeof(m.mark), "%s", text + 5);
	} else if (*text == '@' && parse_number(text + 1, &s, &end) &&
		   s <= LAST_S && !*fraction(end, &ns)) {
		m.kind = RJ_AT_TIME;
		m.time_ns = (int64_t)s * NS_PER_S + ns;
	} else if (parse_date(text, &m.time_ns)) {
		m.kind = RJ_AT_TIME;
	} else {
		return rj_fail(err, RJ_E_INVAL,
			"\"%s\" is no moment: latest, segment:NUMBER, mark:NAME, \"YYYY-MM-DD HH:MM:SS\" (with Z: UTC) or @SECONDS since 1970",
			text);
	}
	*out = m;
	return 0;
}

const char *rj_place_text(const struct rj_history_place *p, char out[RJ_MOMENT_TEXT])
{
	char text[RJ_MOMENT_TEXT];

	if (p->time_ns)
		return rj_moment_text(p->time_ns, out);
	if (p->sealed_ns)
		snprintf(out, RJ_MOMENT_TEXT, "about %.48s", rj_moment_text(p->sealed_ns, text));
	else
		snprintf(out, RJ_MOMENT_TEXT, "a time that is not known");
	return out;
}

const char *rj_moment_text(int64_t time_ns, char out[RJ_MOMENT_TEXT])
{
	time_t s = (time_t)(time_ns / NS_PER_S);
	struct tm tm;
	size_t n;

	gmtime_r(&s, &tm);
	n = strftime(out, RJ_MOMENT_TEXT, "%Y-%m-%d %H:%M:%S", &tm);
	snprintf(out + n, RJ_MOMENT_TEXT - n, ".%09lldZ",
		(long long)(time_ns % NS_PER_S));
	return out;
}
