// SPDX-License-Identifier: LGPL-2.1-or-later
/* Find the newest epoch that a dead writer or its successors claimed. */
#include <stdio.h>
#include <string.h>

#include "log/listing.h"
#include "log/retry.h"
#include "log/write/epoch.h"
#include "os/hostname.h"
#include "util/environ.h"
#include "util/log.h"

#define MAX_OBJECT 4096
/* How long another host may take from its folder to the text in it, and how often to look. */
#define TEXT_NS	      3000000000LL
#define TEXT_AGAIN_NS 100000000LL

/* The claim of epoch NUMBER. *OUT is all zero, and of epoch 0, if the object says
 * nothing that can be believed. */
static int get_claim(struct rj_store *store, const struct rj_log_id *id,
	uint64_t number, int retry_ms, struct rj_epoch_claim *out,
	struct rj_error *err)
{
	struct rj_key key = rj_log_key(id, RJ_KEY_EPOCH, number);
	struct rj_buf text = {0};
	struct rj_retry retry;
	int rc;

	memset(out, 0, sizeof(*out));
	rj_retry_start(&retry, retry_ms);
	do {
		text.len = 0;
		rc = rj_store_get(store, &key, MAX_OBJECT, &text, err);
	} while (rj_retry_again(&retry, rc));
	if (!rc)
		rj_epoch_read(id, number, &text, out);
	rj_buf_free(&text);
	return rc;
}

int rj_log_served_since(struct rj_store *store, const struct rj_log_id *id,
	uint64_t epoch, int retry_ms, uint64_t *since, struct rj_error *err)
{
	struct rj_epoch_claim c;
	int rc = get_claim(store, id, epoch, retry_ms, &c, err);

	if (!rc && id->key && !c.epoch)
		rj_log(RJ_LOG_WARNING,
			"%s: the claim of epoch %llu does not bear the tag of the volume's key, and is not believed: the store made it, or a version of rjprogs that made no tags; rjrecover(8) says what to do",
			store->url, (unsigned long long)epoch);
	*since = c.continues ? c.continues : epoch;
	/* an object that was lost says nothing */
	return rc == -RJ_E_NOTFOUND ? 0 : rc;
}

const char *rj_log_other_writer(struct rj_store *store,
	const struct rj_log_id *id, uint64_t epoch, uint64_t time_ns,
	char out[RJ_LOG_OTHER_BYTES])
{
	int64_t ago = rj_realtime_ns() - (int64_t)time_ns;
	char ours[RJ_CLAIM_HOST];
	struct rj_epoch_claim c;

	out[0] = 0;
	rj_host_name(ours, sizeof(ours));
	get_claim(store, id, epoch, 1, &c, NULL);
	if (c.host[0] && strcmp(c.host, "-") && strcmp(c.host, ours))
		snprintf(out, RJ_LOG_OTHER_BYTES, "%lld s ago by %s",
			(long long)(ago > 0 ? ago / 1000000000 : 0), c.host);
	return out;
}

/* Does the object of epoch NUMBER hold this nonce? */
static int is_ours(struct rj_store *store, const struct rj_log_id *id,
	uint64_t number, const uint8_t *nonce, int retry_ms, bool *ours,
	struct rj_error *err)
{
	struct rj_epoch_claim c;
	int rc = get_claim(store, id, number, retry_ms, &c, err);

	*ours = !rc && c.epoch && !memcmp(c.nonce, nonce, sizeof(c.nonce));
	return rc;
}

int rj_log_successor(struct rj_store *store, const struct rj_log_id *id,
	uint64_t epoch, const uint8_t nonce[RJ_SEG_NONCE_BYTES], bool begun,
	int retry_ms, uint64_t *newest, struct rj_error *err)
{
	int64_t until = rj_monotonic_ns() + TEXT_NS;
	bool cut_off = begun && !store->caps.put_new, ours = false;
	uint64_t highest;
	int rc;

	rc = rj_listing_epoch(store, id, retry_ms, &highest, err);
	if (rc)
		return rc;
	*newest = epoch;
	if (highest <= epoch)
		return 0;
	while ((rc = is_ours(store, id, highest, nonce, retry_ms, &ours, err)) ==
			-RJ_E_NOTFOUND &&
		cut_off && rj_monotonic_ns() < until)
		rj_sleep_ns(TEXT_AGAIN_NS);
	if (rc && rc != -RJ_E_NOTFOUND)
		return rc;
	ours |= rc && cut_off;
	*newest = highest;
	return ours ? 0
		    : rj_fail(err, RJ_E_FENCED,
			      "%s: another writer took over with epoch %llu (ours was %llu)",
			      store->url, (unsigned long long)highest,
			      (unsigned long long)epoch);
}
