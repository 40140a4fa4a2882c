// SPDX-License-Identifier: LGPL-2.1-or-later
#include "format/claim-text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TIME_FORMAT "%Y-%m-%dT%H:%M:%SZ"

bool rj_claim_line(const char **p, const char *end, const char *word,
	char value[RJ_CLAIM_VALUE])
{
	size_t len = strlen(word);
	const char *from = *p + len + 1, *to;

	if (end - *p <= (long)len || strncmp(*p, word, len) != 0 ||
		from[-1] != ' ')
		return false;
	to = memchr(from, '\n', (size_t)(end - from));
	if (!to || to == from || to - from >= RJ_CLAIM_VALUE)
		return false;
	memcpy(value, from, (size_t)(to - from));
	value[to - from] = 0;
	*p = to + 1;
	return true;
}

bool rj_claim_number(const char *value, uint64_t *out)
{
	size_t len = strlen(value);

	if (!len || strspn(value, "0123456789") != len || value[0] == '0')
		return false;
	errno = 0;
	*out = strtoull(value, NULL, 10);
	return !errno;
}

bool rj_claim_host(const char *value, char out[RJ_CLAIM_HOST])
{
	const char *p;

	for (p = value; *p > ' ' && *p <= '~'; p++)
		;
	if (*p || p - value >= RJ_CLAIM_HOST)
		return false;
	memcpy(out, value, (size_t)(p - value) + 1);
	return true;
}

/* As it is encoded: strptime() takes more than one text for a moment. */
bool rj_claim_time(const char *value, int64_t *out)
{
	char text[RJ_CLAIM_VALUE];
	struct tm tm = {0};

	if (!strptime(value, TIME_FORMAT, &tm))
		return false;
	*out = timegm(&tm);
	return *out >= 0 && !strcmp(rj_claim_time_text(*out, text), value);
}

const char *rj_claim_time_text(int64_t time, char out[RJ_CLAIM_VALUE])
{
	time_t at = (time_t)time;
	struct tm tm = {0};

	gmtime_r(&at, &tm);
	strftime(out, RJ_CLAIM_VALUE, TIME_FORMAT, &tm);
	return out;
}
