// SPDX-License-Identifier: LGPL-2.1-or-later
#include "recover/saved.h"

#include <stdio.h>
#include <string.h>

#include "log/listing.h"

#define RETRY_MS 1

bool rj_recover_saved(const struct rj_volume_facts *f, char out[RJ_SAVE_DIR_BYTES + 1])
{
	char url[RJ_SAVE_DIR_BYTES + sizeof("file://")];
	struct rj_store *store = NULL;
	struct rj_log_id id = {0};
	uint64_t epoch = 0;

	if (!rj_saved_find(f->uuid, out))
		return false;
	snprintf(url, sizeof(url), "file://%s", out);
	memcpy(id.journal_uuid, f->sbx.journal_uuid, RJ_UUID_BYTES);
	if (!rj_store_open(url, NULL, &store, NULL))
		rj_listing_epoch(store, &id, RETRY_MS, &epoch, NULL);
	rj_store_close(store);
	return epoch > f->sbx.epoch;
}
