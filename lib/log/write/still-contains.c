// SPDX-License-Identifier: LGPL-2.1-or-later
/* Check that a tail read earlier is still part of the log before our fence. */
#include <string.h>

#include "log/listing.h"
#include "log/log.h"
#include "log/verify.h"
#include "util/error-class.h"

int rj_log_still_contains(struct rj_store *store, const struct rj_log_id *id,
	const struct rj_log_tail *tail, const struct rj_log_writer *w,
	int retry_ms, bool *holds, struct rj_error *err)
{
	struct rj_segment seg = {0};
	struct rj_buf buf = {0};
	struct rj_error local;
	struct rj_verify v;
	int rc;

	*holds = !tail->sequence ||
		 rj_log_writer_tail(w)->oldest <= tail->sequence + 1;
	if (!*holds)
		return 0;
	if (!tail->sequence || store->caps.put_new)
		return 0;
	if (!err)
		err = &local;
	rc = rj_log_fetch(store, id, tail->sequence, retry_ms, &buf, err);
	if (!rc) {
		rj_verify_start(&v, store->url, id, tail->sequence);
		rc = rj_verify_next(&v, buf.data, buf.len, &seg, err);
		if (!rc)
			*holds = !memcmp(v.tail.chain, tail->chain,
				sizeof(tail->chain));
		rj_segment_release(&seg);
	}
	rj_buf_free(&buf);
	/* the next read of the whole log says what is wrong with it */
	if (rj_code_damage(rc)) {
		*holds = false;
		rc = 0;
	}
	return rc;
}
