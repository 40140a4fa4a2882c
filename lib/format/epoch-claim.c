// SPDX-License-Identifier: LGPL-2.1-or-later
/* Encode and strictly decode the text of an epoch claim. */
#include "format/epoch-claim.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/hex.h"

#define FIRST	    "rj-epoch 1\n"
#define TIME_FORMAT "%Y-%m-%dT%H:%M:%SZ"
#define VALUE_BYTES 80

int rj_epoch_claim_encode(const struct rj_epoch_claim *c, struct rj_buf *out)
{
	char volume[RJ_UUID_TEXT], journal[RJ_UUID_TEXT], when[32];
	char hex[2 * RJ_SEG_NONCE_BYTES + 1];
	time_t at = (time_t)c->time;
	struct tm tm = {0};
	int rc;

	gmtime_r(&at, &tm);
	strftime(when, sizeof(when), TIME_FORMAT, &tm);
	rc = rj_buf_printf(out,
		FIRST "epoch %llu\nvolume %s\njournal %s\nnonce %s\nhost %s\ntime %s\n",
		(unsigned long long)c->epoch,
		rj_uuid_text(c->volume_uuid, volume),
		rj_uuid_text(c->journal_uuid, journal),
		rj_hex_text(c->nonce, sizeof(c->nonce), hex), c->host, when);
	if (!rc && c->continues)
		rc = rj_buf_printf(out, "continues %llu\n",
			(unsigned long long)c->continues);
	return rc;
}

int rj_epoch_claim_add_tag(
	const uint8_t tag[RJ_EPOCH_TAG_BYTES], struct rj_buf *out)
{
	char hex[2 * RJ_EPOCH_TAG_BYTES + 1];

	return rj_buf_printf(
		out, "tag %s\n", rj_hex_text(tag, RJ_EPOCH_TAG_BYTES, hex));
}

/* The value of the line that begins with WORD and a blank at *P; *P is after it. */
static bool line(const char **p, const char *end, const char *word,
	char value[VALUE_BYTES])
{
	size_t len = strlen(word);
	const char *from = *p + len + 1, *to;

	if (end - *p <= (long)len || strncmp(*p, word, len) != 0 ||
		from[-1] != ' ')
		return false;
	to = memchr(from, '\n', (size_t)(end - from));
	if (!to || to == from || to - from >= VALUE_BYTES)
		return false;
	memcpy(value, from, (size_t)(to - from));
	value[to - from] = 0;
	*p = to + 1;
	return true;
}

static bool number(const char *s, uint64_t *out)
{
	size_t len = strlen(s);

	if (strspn(s, "0123456789") != len || s[0] == '0')
		return false;
	errno = 0;
	*out = strtoull(s, NULL, 10);
	return !errno;
}

static bool hex(const char *s, size_t len, uint8_t *out)
{
	return strlen(s) == 2 * len && rj_hex_parse(s, len, out);
}

static bool host(const char *s, char out[RJ_EPOCH_HOST_BYTES])
{
	const char *p;

	for (p = s; *p > ' ' && *p <= '~'; p++)
		;
	if (*p || p - s >= RJ_EPOCH_HOST_BYTES)
		return false;
	memcpy(out, s, (size_t)(p - s) + 1);
	return true;
}

/* As it is encoded: strptime() takes more than one text for a moment. */
static bool moment(const char *s, int64_t *out)
{
	char text[VALUE_BYTES];
	struct tm tm = {0};
	time_t t;

	if (!strptime(s, TIME_FORMAT, &tm))
		return false;
	*out = t = timegm(&tm);
	return *out >= 0 && gmtime_r(&t, &tm) &&
	       strftime(text, sizeof(text), TIME_FORMAT, &tm) &&
	       !strcmp(text, s);
}

static bool decode(const char *p, const char *end, struct rj_epoch_claim *c)
{
	const char *text = p;
	char v[VALUE_BYTES];

	if (end - p < (long)strlen(FIRST) || memcmp(p, FIRST, strlen(FIRST)))
		return false;
	p += strlen(FIRST);
	if (!line(&p, end, "epoch", v) || !number(v, &c->epoch) ||
		!line(&p, end, "volume", v) ||
		!rj_uuid_parse(v, c->volume_uuid) ||
		!line(&p, end, "journal", v) ||
		!rj_uuid_parse(v, c->journal_uuid) ||
		!line(&p, end, "nonce", v) ||
		!hex(v, sizeof(c->nonce), c->nonce) ||
		!line(&p, end, "host", v) || !host(v, c->host) ||
		!line(&p, end, "time", v) || !moment(v, &c->time))
		return false;
	if (line(&p, end, "continues", v) && !number(v, &c->continues))
		return false;
	c->tagged = (size_t)(p - text);
	c->has_tag = line(&p, end, "tag", v);
	return p == end && (!c->has_tag || hex(v, sizeof(c->tag), c->tag));
}

int rj_epoch_claim_decode(const void *text, size_t len,
	struct rj_epoch_claim *out, struct rj_error *err)
{
	struct rj_epoch_claim c = {0};

	if (memchr(text, 0, len) || !decode(text, (const char *)text + len, &c))
		return rj_fail(err, RJ_E_CORRUPT, "not the text of a claim");
	*out = c;
	return 0;
}
