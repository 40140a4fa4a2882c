// SPDX-License-Identifier: LGPL-2.1-or-later
#include "log/past/drill.h"

#include <string.h>

#include "format/claim-text.h"
#include "log/listing.h"
#include "log/own.h"

/* Of two drills at the same time none may remove the later one's object. */
static int remove_earlier(struct rj_store *store, const struct rj_log_id *id, uint64_t when_s,
	struct rj_error *err)
{
	struct rj_key key = rj_log_key(id, RJ_KEY_DRILL, 0);
	struct rj_buf numbers = {0};
	size_t i;
	int rc = rj_log_list_own(store, id, RJ_KEY_DRILL, 0, &numbers, err);

	for (i = 0; i < numbers.len && !rc; i += sizeof(key.number)) {
		memcpy(&key.number, numbers.data + i, sizeof(key.number));
		if (key.number < when_s)
			rc = rj_log_remove_own(store, &key, err);
		if (rc == -RJ_E_NOTFOUND) /* another drill did it */
			rc = 0;
	}
	rj_buf_free(&numbers);
	return rc;
}

int rj_drill_put(struct rj_store *store, const struct rj_log_id *id, uint64_t when_s,
	uint64_t segment, struct rj_error *err)
{
	struct rj_key key = rj_log_key(id, RJ_KEY_DRILL, when_s);
	struct rj_buf text = {0};
	char time[RJ_CLAIM_VALUE];
	int rc = rj_buf_printf(&text, "rj-drill 1\nsegment %llu\ntime %s\n",
		(unsigned long long)segment, rj_claim_time_text(when_s, time));

	rc = rc ? rj_fail(err, RJ_E_NOMEM, "out of memory")
		: rj_log_put_own(store, &key, &text, 0, err);
	rj_buf_free(&text);
	if (rc == -RJ_E_EXISTS) /* of another drill in the same second */
		rc = 0;
	return rc ? rc : remove_earlier(store, id, when_s, err);
}
