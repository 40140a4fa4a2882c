// SPDX-License-Identifier: LGPL-2.1-or-later
#include "log/put-own.h"

#include <string.h>

#include "log/retry.h"
#include "util/error-class.h"

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
