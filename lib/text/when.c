// SPDX-License-Identifier: LGPL-2.1-or-later
#include "text/when.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "util/environ.h"

#define NS_PER_S 1000000000LL
#define LAST_S	 (INT64_MAX / NS_PER_S - 1)

struct reading {
	const char *p;
	struct tm tm; /* only the date and the time of the day */
	int64_t fraction; /* nanoseconds */
	int back; /* -1: the day is in TM; else how many days it is before the present one */
	bool zoned;
	int offset; /* seconds east of UTC; if ZONED */
};

/* Date, BETWEEN, time of the day, FRACTION (nanoseconds); returns how many bytes that is. */
static size_t put_clock(
	char out[RJ_WHEN_TEXT], const struct tm *tm, char between, int64_t fraction)
{
	size_t n = strftime(out, RJ_WHEN_TEXT, "%Y-%m-%d", tm);

	out[n++] = between;
	n += strftime(out + n, RJ_WHEN_TEXT - n, "%H:%M:%S", tm);
	if (fraction)
		n += (size_t)snprintf(
			out + n, RJ_WHEN_TEXT - n, ".%09lld", (long long)fraction);
	return n;
}

static const char *put_local(time_t s, int64_t fraction, char out[RJ_WHEN_TEXT])
{
	struct tm tm;
	size_t n;
	long zone;

	if (!localtime_r(&s, &tm)) {
		snprintf(out, RJ_WHEN_TEXT, "@%lld", (long long)s);
		return out;
	}
	n = put_clock(out, &tm, ' ', fraction);
	zone = labs(tm.tm_gmtoff) / 60;
	if (zone)
		snprintf(out + n, RJ_WHEN_TEXT - n, "%c%02ld:%02ld",
			tm.tm_gmtoff < 0 ? '-' : '+', zone / 60, zone % 60);
	else
		snprintf(out + n, RJ_WHEN_TEXT - n, "Z");
	return out;
}

const char *rj_when_text(int64_t time_ns, char out[RJ_WHEN_TEXT])
{
	return put_local((time_t)(time_ns / NS_PER_S), time_ns % NS_PER_S, out);
}

const char *rj_when_seconds(int64_t seconds, char out[RJ_WHEN_TEXT])
{
	return put_local((time_t)seconds, 0, out);
}

enum rj_end rj_when_ends(int64_t end_s)
{
	int64_t now = rj_realtime_ns() / NS_PER_S;

	return !end_s || end_s - RJ_ENDS_SOON_S > now ? RJ_END_LATER
	       : end_s > now			       ? RJ_END_SOON
						       : RJ_END_OVER;
}

const char *rj_when_rfc3339(int64_t time_ns, char out[RJ_WHEN_TEXT])
{
	time_t s = (time_t)(time_ns / NS_PER_S);
	struct tm tm = {0};
	size_t n;

	gmtime_r(&s, &tm);
	n = put_clock(out, &tm, 'T', time_ns % NS_PER_S);
	snprintf(out + n, RJ_WHEN_TEXT - n, "Z");
	return out;
}

/* Read a number of MIN to MAX digits. */
static bool take_number(struct reading *r, int min, int max, int64_t *out)
{
	int n;

	*out = 0;
	for (n = 0; n < max && isdigit((unsigned char)*r->p); n++)
		*out = *out * 10 + (*r->p++ - '0');
	return n >= min;
}

static bool take_char(struct reading *r, char c)
{
	if (*r->p != c)
		return false;
	r->p++;
	return true;
}

/* WORD, which ends there, or before the letter AFTER. */
static bool take_word(struct reading *r, const char *word, char after)
{
	size_t n = strlen(word);

	if (strncasecmp(r->p, word, n) || (isalnum((unsigned char)r->p[n]) && r->p[n] != after))
		return false;
	r->p += n;
	return true;
}

static void skip_blanks(struct reading *r)
{
	while (*r->p == ' ')
		r->p++;
}

/* ".5" is half a second; digits after the ninth do not count. */
static bool take_fraction(struct reading *r)
{
	int64_t digit = NS_PER_S / 10;

	if (*r->p != '.')
		return true;
	if (!isdigit((unsigned char)r->p[1]))
		return false;
	for (r->p++; isdigit((unsigned char)*r->p); r->p++, digit /= 10)
		r->fraction += (*r->p - '0') * digit;
	return true;
}

/* The seconds of the unit that the N bytes at WORD name; 0: none has that name. */
static int64_t unit_seconds(const char *word, size_t n)
{
	static const struct {
		const char *words; /* each with a blank after it */
		int64_t seconds;
	} units[] = {
		{"s sec second seconds ", 1},
		{"m min minute minutes ", 60},
		{"h hr hour hours ", 3600},
		{"d day days ", 86400},
		{"w week weeks ", 604800},
	};
	const char *p;
	size_t u;

	for (u = 0; u < sizeof(units) / sizeof(units[0]); u++)
		for (p = units[u].words; *p; p = strchr(p, ' ') + 1)
			if (!strncmp(p, word, n) && p[n] == ' ')
				return units[u].seconds;
	return 0;
}

/* "1h30m", "10 minutes": how many seconds? */
static bool take_span(struct reading *r, int64_t *seconds)
{
	int64_t count, unit;
	size_t n;

	*seconds = 0;
	while (isdigit((unsigned char)*r->p)) {
		take_number(r, 1, 10, &count);
		skip_blanks(r);
		n = strspn(r->p, "abcdefghijklmnopqrstuvwxyz");
		unit = n ? unit_seconds(r->p, n) : 0;
		if (!unit)
			return false;
		*seconds += count * unit;
		r->p += n;
		skip_blanks(r);
	}
	return *seconds > 0;
}

/* "-1h30m", "10 minutes ago" */
static bool parse_ago(const char *text, int64_t now_ns, int64_t *out)
{
	struct reading r = {.p = text};
	bool minus = take_char(&r, '-');
	int64_t s;

	if (!take_span(&r, &s) || (!minus && !take_word(&r, "ago", 0)) || *r.p ||
		s > now_ns / NS_PER_S)
		return false;
	*out = now_ns - s * NS_PER_S;
	return true;
}

static bool parse_epoch(const char *text, int64_t *out)
{
	struct reading r = {.p = text};
	int64_t s;

	if (!take_char(&r, '@') || !take_number(&r, 1, 18, &s) || !take_fraction(&r) || *r.p ||
		s > LAST_S)
		return false;
	*out = s * NS_PER_S + r.fraction;
	return true;
}

static bool take_date(struct reading *r)
{
	int64_t year, month, day;

	r->back = take_word(r, "today", 'T') ? 0 : take_word(r, "yesterday", 'T') ? 1 : -1;
	if (r->back >= 0)
		return true;
	if (!take_number(r, 4, 4, &year) || !take_char(r, '-') || !take_number(r, 1, 2, &month) ||
		!take_char(r, '-') || !take_number(r, 1, 2, &day) || month < 1 || month > 12)
		return false;
	r->tm.tm_year = (int)year - 1900;
	r->tm.tm_mon = (int)month - 1;
	r->tm.tm_mday = (int)day;
	return true;
}

/* "14:05", "14:05:06.5" */
static bool take_clock(struct reading *r)
{
	int64_t hour, minute, second = 0;

	if (!take_number(r, 1, 2, &hour) || !take_char(r, ':') || !take_number(r, 2, 2, &minute))
		return false;
	if (take_char(r, ':') && (!take_number(r, 2, 2, &second) || !take_fraction(r)))
		return false;
	r->tm.tm_hour = (int)hour;
	r->tm.tm_min = (int)minute;
	r->tm.tm_sec = (int)second;
	return hour < 24 && minute < 60 && second <= 60;
}

static bool take_zone(struct reading *r)
{
	int64_t hours, minutes = 0;
	bool west;

	skip_blanks(r);
	r->zoned = true;
	if (!*r->p)
		r->zoned = false;
	else if (take_word(r, "Z", 0) || take_word(r, "UTC", 0))
		r->offset = 0;
	else if (*r->p == '+' || *r->p == '-') {
		west = *r->p++ == '-';
		if (!take_number(r, 2, 2, &hours) ||
			((take_char(r, ':') || *r->p) && !take_number(r, 2, 2, &minutes)) ||
			hours > 24 || minutes > 59)
			return false;
		r->offset = (int)(hours * 3600 + minutes * 60) * (west ? -1 : 1);
	}
	return !*r->p;
}

/* What was read, as a time; the 31st of February is none. */
static bool settle(struct reading *r, int64_t now_ns, int64_t *out)
{
	time_t now = (time_t)(now_ns / NS_PER_S) + r->offset;
	struct tm day, tm = r->tm;
	time_t s;

	if (r->back >= 0) {
		if (!(r->zoned ? gmtime_r(&now, &day) : localtime_r(&now, &day)))
			return false;
		tm.tm_year = day.tm_year;
		tm.tm_mon = day.tm_mon;
		tm.tm_mday = day.tm_mday - r->back;
	}
	tm.tm_isdst = -1;
	s = r->zoned ? timegm(&tm) - r->offset : mktime(&tm);
	if (s < 0 || s > LAST_S || (r->back < 0 && tm.tm_mday != r->tm.tm_mday))
		return false;
	*out = s * NS_PER_S + r->fraction;
	return true;
}

/* A day, a time of the day, or both. */
static bool parse_date(const char *text, int64_t now_ns, int64_t *out)
{
	struct reading r = {.p = text}, clock = {.p = text};

	if (take_clock(&clock))
		return take_zone(&clock) && settle(&clock, now_ns, out);
	if (!take_date(&r))
		return false;
	if (!*r.p)
		return settle(&r, now_ns, out);
	return (take_char(&r, ' ') || take_char(&r, 'T')) && take_clock(&r) && take_zone(&r) &&
	       settle(&r, now_ns, out);
}

bool rj_when_parse(const char *text, int64_t now_ns, int64_t *out)
{
	if (!strcmp(text, "now")) {
		*out = now_ns;
		return true;
	}
	return parse_epoch(text, out) || parse_ago(text, now_ns, out) ||
	       parse_date(text, now_ns, out);
}
