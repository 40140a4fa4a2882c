// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdio.h>
#include <string.h>

#include "log/epoch.h"
#include "log/listing.h"
#include "log/retry.h"
#include "util/environ.h"
#include "util/hex.h"

#define MAX_OBJECT 4096

/* The text of an epoch's object, with a NUL behind it. */
static int get_text(struct rj_store *store, const struct rj_log_id *id,
	uint64_t number, int retry_ms, struct rj_buf *text,
	struct rj_error *err)
{
	struct rj_key key = rj_log_key(id, RJ_KEY_EPOCH, number);
	struct rj_retry retry;
	int rc;

	rj_retry_start(&retry, retry_ms);
	do {
		text->len = 0;
		rc = rj_store_get(store, &key, MAX_OBJECT, text, err);
	} while (rj_retry_again(&retry, rc));
	if (!rc && rj_buf_printf(text, "%c", 0))
		rc = rj_fail(err, RJ_E_NOMEM, "out of memory");
	return rc;
}

int rj_log_served_since(struct rj_store *store, const struct rj_log_id *id,
	uint64_t epoch, int retry_ms, uint64_t *since, struct rj_error *err)
{
	static const char word[] = "\ncontinues ";
	struct rj_buf text = {0};
	unsigned long long number;
	const char *at;
	int rc = get_text(store, id, epoch, retry_ms, &text, err);

	*since = epoch;
	at = rc ? NULL : strstr((char *)text.data, word);
	if (at && sscanf(at + sizeof(word) - 1, "%llu\n", &number) == 1)
		*since = number;
	rj_buf_free(&text);
	/* an object that was lost says nothing */
	return rc == -RJ_E_NOTFOUND ? 0 : rc;
}

const char *rj_log_other_writer(struct rj_store *store,
	const struct rj_log_id *id, uint64_t epoch, uint64_t time_ns,
	char out[RJ_LOG_OTHER_BYTES])
{
	char ours[RJ_EPOCH_HOST_BYTES], theirs[RJ_EPOCH_HOST_BYTES] = "";
	int64_t ago = rj_realtime_ns() - (int64_t)time_ns;
	struct rj_buf text = {0};
	const char *at = NULL;
	char *p;

	out[0] = 0;
	rj_epoch_host(ours);
	if (!get_text(store, id, epoch, 1, &text, NULL))
		at = strstr((char *)text.data, "\nhost ");
	if (at)
		sscanf(at, "\nhost %64s", theirs);
	rj_buf_free(&text);
	for (p = theirs; *p; p++) /* whoever can write there chose it */
		if (*p < '!' || *p > '~')
			*p = '_';
	if (theirs[0] && strcmp(theirs, "-") && strcmp(theirs, ours))
		snprintf(out, RJ_LOG_OTHER_BYTES, "%lld s ago by %s",
			(long long)(ago > 0 ? ago / 1000000000 : 0), theirs);
	return out;
}

/* Does the object of epoch NUMBER hold this nonce? */
static int is_ours(struct rj_store *store, const struct rj_log_id *id,
	uint64_t number, const uint8_t *nonce, int retry_ms, bool *ours,
	struct rj_error *err)
{
	char hex[2 * RJ_SEG_NONCE_BYTES + 1];
	struct rj_buf text = {0};
	int rc = get_text(store, id, number, retry_ms, &text, err);

	if (!rc)
		*ours = strstr((char *)text.data,
				rj_hex_text(nonce, RJ_SEG_NONCE_BYTES, hex)) !=
			NULL;
	rj_buf_free(&text);
	return rc;
}

int rj_log_heir(struct rj_store *store, const struct rj_log_id *id,
	uint64_t epoch, const uint8_t nonce[RJ_SEG_NONCE_BYTES], int retry_ms,
	uint64_t *newest, struct rj_error *err)
{
	bool ours = false;
	uint64_t highest;
	int rc;

	rc = rj_listing_epoch(store, id, retry_ms, &highest, err);
	if (rc)
		return rc;
	*newest = epoch;
	if (highest <= epoch)
		return 0;
	if (highest == epoch + 1) {
		rc = is_ours(store, id, highest, nonce, retry_ms, &ours, err);
		/* what cannot be read is nobody's yet */
		if (rc && rc != -RJ_E_NOTFOUND)
			return rc;
	}
	*newest = highest;
	return ours ? 0
		    : rj_fail(err, RJ_E_FENCED,
			      "%s: another writer took over with epoch %llu (ours was %llu)",
			      store->url, (unsigned long long)highest,
			      (unsigned long long)epoch);
}
