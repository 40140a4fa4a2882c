// SPDX-License-Identifier: LGPL-2.1-or-later
/* Encode and strictly decode the text of a named mark. */
#include "format/point.h"

#include <string.h>

#include "format/object-key.h"

#define FIRST "rj-mark 1\n"

int rj_point_encode(const struct rj_point *p, struct rj_buf *out)
{
	char journal[RJ_UUID_TEXT], time[RJ_CLAIM_VALUE];

	return rj_buf_printf(out,
		FIRST "mark %s\njournal %s\nsegment %llu\nhost %s\nprogram %s\ntime %s\n",
		p->name, rj_uuid_text(p->journal_uuid, journal),
		(unsigned long long)p->segment, p->host, p->program,
		rj_claim_time_text(p->time, time));
}

static bool take_name(const char *value, char out[RJ_POINT_NAME])
{
	size_t len = strlen(value);

	if (!rj_key_name_valid(value, len))
		return false;
	memcpy(out, value, len + 1);
	return true;
}

static bool decode(const char *at, const char *end, struct rj_point *p)
{
	char v[RJ_CLAIM_VALUE];

	if (end - at < (long)strlen(FIRST) || memcmp(at, FIRST, strlen(FIRST)))
		return false;
	at += strlen(FIRST);
	return rj_claim_line(&at, end, "mark", v) && take_name(v, p->name) &&
	       rj_claim_line(&at, end, "journal", v) &&
	       rj_uuid_parse(v, p->journal_uuid) &&
	       rj_claim_line(&at, end, "segment", v) &&
	       rj_claim_number(v, &p->segment) &&
	       rj_claim_line(&at, end, "host", v) && rj_claim_host(v, p->host) &&
	       rj_claim_line(&at, end, "program", v) &&
	       rj_claim_host(v, p->program) &&
	       rj_claim_line(&at, end, "time", v) && rj_claim_time(v, &p->time) &&
	       at == end;
}

int rj_point_decode(const void *text, size_t len, struct rj_point *out,
	struct rj_error *err)
{
	struct rj_point p = {0};

	if (!len || memchr(text, 0, len) ||
		!decode(text, (const char *)text + len, &p))
		return rj_fail(err, RJ_E_CORRUPT, "not the text of a mark");
	*out = p;
	return 0;
}
