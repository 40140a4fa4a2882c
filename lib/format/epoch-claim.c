// SPDX-License-Identifier: LGPL-2.1-or-later
/* Encode and strictly decode the text of an epoch claim. */
#include "format/epoch-claim.h"

#include <string.h>

#include "util/hex.h"

#define FIRST "rj-epoch 1\n"

int rj_epoch_claim_encode(const struct rj_epoch_claim *c, struct rj_buf *out)
{
	char volume[RJ_UUID_TEXT], journal[RJ_UUID_TEXT];
	char hex[2 * RJ_SEG_NONCE_BYTES + 1], when[RJ_CLAIM_VALUE];
	int rc;

	rc = rj_buf_printf(out,
		FIRST "epoch %llu\nvolume %s\njournal %s\nnonce %s\nhost %s\ntime %s\n",
		(unsigned long long)c->epoch,
		rj_uuid_text(c->volume_uuid, volume),
		rj_uuid_text(c->journal_uuid, journal),
		rj_hex_text(c->nonce, sizeof(c->nonce), hex), c->host,
		rj_claim_time_text(c->time, when));
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

static bool hex(const char *s, size_t len, uint8_t *out)
{
	return strlen(s) == 2 * len && rj_hex_parse(s, len, out);
}

static bool decode(const char *p, const char *end, struct rj_epoch_claim *c)
{
	const char *text = p;
	char v[RJ_CLAIM_VALUE];

	if (end - p < (long)strlen(FIRST) || memcmp(p, FIRST, strlen(FIRST)))
		return false;
	p += strlen(FIRST);
	if (!rj_claim_line(&p, end, "epoch", v) ||
		!rj_claim_number(v, &c->epoch) ||
		!rj_claim_line(&p, end, "volume", v) ||
		!rj_uuid_parse(v, c->volume_uuid) ||
		!rj_claim_line(&p, end, "journal", v) ||
		!rj_uuid_parse(v, c->journal_uuid) ||
		!rj_claim_line(&p, end, "nonce", v) ||
		!hex(v, sizeof(c->nonce), c->nonce) ||
		!rj_claim_line(&p, end, "host", v) ||
		!rj_claim_host(v, c->host) ||
		!rj_claim_line(&p, end, "time", v) ||
		!rj_claim_time(v, &c->time))
		return false;
	if (rj_claim_line(&p, end, "continues", v) &&
		!rj_claim_number(v, &c->continues))
		return false;
	c->tagged = (size_t)(p - text);
	c->has_tag = rj_claim_line(&p, end, "tag", v);
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
