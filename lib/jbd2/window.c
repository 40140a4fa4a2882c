// SPDX-License-Identifier: LGPL-2.1-or-later
/* The log, read forwards in large pieces. */
#include <stdlib.h>

#include "jbd2/jbd2-priv.h"

int jbd2_window_init(struct jbd2_window *w, struct rj_bio *bio,
	struct jbd2_log_cache *cache, uint32_t block_size, uint32_t end,
	struct rj_error *err)
{
	uint64_t bytes = (uint64_t)end * block_size;

	if (bytes > JBD2_WINDOW_BYTES)
		bytes = JBD2_WINDOW_BYTES;
	w->bio = bio;
	w->cache = cache;
	w->block_size = block_size;
	w->end = end;
	w->first = w->count = 0;
	w->buf = malloc(bytes);
	if (!w->buf)
		return rj_fail(err, RJ_E_NOMEM, "%s: out of memory", bio->name);
	return 0;
}

void jbd2_window_free(struct jbd2_window *w)
{
	free(w->buf);
	w->buf = NULL;
}

static int from_window(struct jbd2_window *w, uint32_t block,
	const uint8_t **out, struct rj_error *err)
{
	uint32_t count = JBD2_WINDOW_BYTES / w->block_size;
	uint64_t off = (uint64_t)block * w->block_size;
	int rc;

	if (block < w->first || block - w->first >= w->count) {
		if (block >= w->end)
			return rj_fail(err, RJ_E_CORRUPT,
				"%s: no log block %u: the log ends at %u",
				w->bio->name, block, w->end);
		if (count > w->end - block)
			count = w->end - block;
		w->count = 0;
		rc = w->bio->read(w->bio, w->buf, (size_t)count * w->block_size,
			off, err);
		if (rc && count > 1) {
			/* a bad sector further on must not hide this block */
			count = 1;
			rc = w->bio->read(
				w->bio, w->buf, w->block_size, off, err);
		}
		if (rc)
			return rc;
		w->first = block;
		w->count = count;
	}
	*out = w->buf + (size_t)(block - w->first) * w->block_size;
	return 0;
}

int jbd2_window_get(struct jbd2_window *w, uint32_t block, const uint8_t **out,
	struct rj_error *err)
{
	if (w->bio->map && block < w->end) {
		*out = w->bio->map(
			w->bio, w->block_size, (uint64_t)block * w->block_size);
		if (*out)
			return 0;
	}
	*out = jbd2_log_cache_fetch(w->cache, block);
	return *out ? 0 : from_window(w, block, out, err);
}
