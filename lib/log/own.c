// SPDX-License-Identifier: LGPL-2.1-or-later
#include "log/own.h"

#include <string.h>

#include "log/listing.h"
#include "log/retry.h"
#include "util/error-class.h"

#define MAX_OBJECT 4096

int rj_log_put_own(struct rj_store *store, const struct rj_key *key,
	const struct rj_buf *text, int retry_ms, struct rj_error *err)
{
	struct rj_buf back = {0};
	struct rj_retry retry;
	int rc, seen;

	rj_retry_start(&retry, retry_ms);
	do {
		rc = rj_store_put_new(store, key, text->data, text->len, err);
		if (rc != -RJ_E_EXISTS)
			continue;
		back.len = 0;
		seen = rj_store_get(store, key, text->len + 1, &back, err);
		if (rj_code_transient(seen))
			rc = seen;
		else if (!seen && back.len == text->len &&
			 !memcmp(back.data, text->data, text->len))
			rc = 0;
	} while (rj_retry_again(&retry, rc));
	rj_buf_free(&back);
	return rc;
}

int rj_log_get_own(struct rj_store *store, const struct rj_key *key,
	int retry_ms, struct rj_buf *out, struct rj_error *err)
{
	struct rj_retry retry;
	int rc;

	rj_retry_start(&retry, retry_ms);
	do {
		out->len = 0;
		rc = rj_store_get(store, key, MAX_OBJECT, out, err);
	} while (rj_retry_again(&retry, rc));
	return rc;
}

static int note(void *arg, uint64_t number, uint64_t bytes)
{
	(void)bytes;
	return rj_buf_append(arg, &number, sizeof(number));
}

int rj_log_list_own(struct rj_store *store, const struct rj_log_id *id,
	enum rj_key_kind kind, int retry_ms, struct rj_buf *out,
	struct rj_error *err)
{
	struct rj_key dir = rj_log_key(id, kind, 0);
	size_t before = out->len;
	struct rj_retry retry;
	int rc;

	rj_retry_start(&retry, retry_ms);
	do {
		out->len = before;
		rc = rj_store_list(store, &dir, 0, note, out, err);
		if (rc == -RJ_E_NOMEM)
			rj_fail(err, RJ_E_NOMEM, "out of memory for a listing");
	} while (rj_retry_again(&retry, rc));
	return rc;
}

bool rj_log_own_listed(const struct rj_buf *numbers, uint64_t number)
{
	const uint64_t *n = (const void *)numbers->data;
	size_t i;

	for (i = 0; i < numbers->len / sizeof(*n); i++)
		if (n[i] == number)
			return true;
	return false;
}

int rj_log_remove_own(struct rj_store *store, const struct rj_key *key,
	struct rj_error *err)
{
	struct rj_retry retry;
	bool again = false;
	int rc;

	rj_retry_start(&retry, 0);
	do {
		rc = rj_store_remove(store, key, err);
		if (rc == -RJ_E_NOTFOUND && again)
			rc = 0; /* the answer of the first try was lost */
		again = true;
	} while (rj_retry_again(&retry, rc));
	return rc;
}
