// SPDX-License-Identifier: LGPL-2.1-or-later
/* Write, put and read the text of an epoch claim. */
#include "log/write/epoch.h"

#include <string.h>

#include "log/listing.h"
#include "log/own.h"
#include "os/hostname.h"
#include "segment/sealkey.h"
#include "util/environ.h"

#define TRIES 16

static int add_tag(const struct rj_log_id *id, struct rj_buf *out,
	struct rj_error *err)
{
	uint8_t tag[RJ_EPOCH_TAG_BYTES];
	int rc = rj_sealkey_tag(id->key, id->journal_uuid, out->data, out->len,
		tag, err);

	if (!rc && rj_epoch_claim_add_tag(tag, out))
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	return rc;
}

int rj_epoch_text(const struct rj_log_id *id, uint64_t epoch,
	const uint8_t nonce[RJ_SEG_NONCE_BYTES], uint64_t continues,
	struct rj_buf *out, struct rj_error *err)
{
	struct rj_epoch_claim c = {
		.epoch = epoch,
		.continues = continues,
		.host = "-", /* with a key, nothing readable is left at the store */
		.time = rj_realtime_ns() / 1000000000,
	};

	memcpy(c.volume_uuid, id->volume_uuid, RJ_UUID_BYTES);
	memcpy(c.journal_uuid, id->journal_uuid, RJ_UUID_BYTES);
	memcpy(c.nonce, nonce, RJ_SEG_NONCE_BYTES);
	if (!id->key)
		rj_host_name(c.host, sizeof(c.host));
	out->len = 0;
	if (rj_epoch_claim_encode(&c, out))
		return rj_fail(
			err, RJ_E_NOMEM, "out of memory to claim an epoch");
	return id->key ? add_tag(id, out, err) : 0;
}

bool rj_epoch_read(const struct rj_log_id *id, uint64_t epoch,
	const struct rj_buf *text, struct rj_epoch_claim *out)
{
	struct rj_epoch_claim c;

	if (rj_epoch_claim_decode(text->data, text->len, &c, NULL) ||
		c.epoch != epoch ||
		!rj_uuid_equal(c.volume_uuid, id->volume_uuid) ||
		!rj_uuid_equal(c.journal_uuid, id->journal_uuid))
		return false;
	if (id->key &&
		(!c.has_tag || !rj_sealkey_tag_fits(id->key, id->journal_uuid,
				       text->data, c.tagged, c.tag)))
		return false;
	*out = c;
	return true;
}

int rj_epoch_claim(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_epoch_want *want, uint64_t *epoch, struct rj_error *err)
{
	uint64_t above = want->above;
	struct rj_buf text = {0};
	struct rj_key key;
	int rc = 0, i;

	for (i = 0; i < (want->only_next ? 1 : TRIES); i++) {
		if (above == UINT64_MAX) {
			rc = rj_fail(err, RJ_E_CORRUPT,
				"%s: no epoch number is left", store->url);
			goto out;
		}
		above++;
		rc = rj_epoch_text(id, above, want->nonce, want->continues,
			&text, err);
		if (rc)
			goto out;
		key = rj_log_key(id, RJ_KEY_EPOCH, above);
		rc = rj_log_put_own(store, &key, &text, want->retry_ms, err);
		if (rc != -RJ_E_EXISTS)
			break;
	}
	if (rc == -RJ_E_EXISTS)
		rc = rj_fail(err, RJ_E_BUSY,
			"%s: others claimed epochs up to %llu at the same "
			"time: try again",
			store->url, (unsigned long long)above);
	else if (rc)
		rj_log_fail_store(store, "cannot claim epoch", above, err);
out:
	rj_buf_free(&text);
	*epoch = rc ? 0 : above;
	return rc;
}
