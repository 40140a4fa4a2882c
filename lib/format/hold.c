// SPDX-License-Identifier: LGPL-2.1-or-later
/* Encode and strictly decode the text of a hold. */
#include "format/hold.h"

#include <string.h>

#define FIRST "rj-hold 1\n"

int rj_hold_encode(const struct rj_hold *h, struct rj_buf *out)
{
	char journal[RJ_UUID_TEXT], time[RJ_CLAIM_VALUE], until[RJ_CLAIM_VALUE];

	return rj_buf_printf(out,
		FIRST "hold %llu\njournal %s\nfirst %llu\nhost %s\nprogram %s\ntime %s\nuntil %s\n",
		(unsigned long long)h->number,
		rj_uuid_text(h->journal_uuid, journal),
		(unsigned long long)h->first, h->host, h->program,
		rj_claim_time_text(h->time, time),
		rj_claim_time_text(h->until, until));
}

static bool decode(const char *p, const char *end, struct rj_hold *h)
{
	char v[RJ_CLAIM_VALUE];

	if (end - p < (long)strlen(FIRST) || memcmp(p, FIRST, strlen(FIRST)))
		return false;
	p += strlen(FIRST);
	return rj_claim_line(&p, end, "hold", v) &&
	       rj_claim_number(v, &h->number) &&
	       rj_claim_line(&p, end, "journal", v) &&
	       rj_uuid_parse(v, h->journal_uuid) &&
	       rj_claim_line(&p, end, "first", v) &&
	       rj_claim_number(v, &h->first) &&
	       rj_claim_line(&p, end, "host", v) && rj_claim_host(v, h->host) &&
	       rj_claim_line(&p, end, "program", v) &&
	       rj_claim_host(v, h->program) &&
	       rj_claim_line(&p, end, "time", v) && rj_claim_time(v, &h->time) &&
	       rj_claim_line(&p, end, "until", v) &&
	       rj_claim_time(v, &h->until) && p == end;
}

int rj_hold_decode(const void *text, size_t len, struct rj_hold *out,
	struct rj_error *err)
{
	struct rj_hold h = {0};

	if (!len || memchr(text, 0, len) ||
		!decode(text, (const char *)text + len, &h))
		return rj_fail(err, RJ_E_CORRUPT, "not the text of a hold");
	*out = h;
	return 0;
}
