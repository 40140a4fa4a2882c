// SPDX-License-Identifier: LGPL-2.1-or-later
#include "jbd2/engine.h"

#include <stdlib.h>
#include <string.h>

int jbd2_engine_init(struct jbd2_engine *e, struct rj_bio *log,
	struct rj_bio *fs, uint32_t block_size, size_t copies,
	struct rj_error *err)
{
	e->log = log;
	e->fs = fs;
	e->block_size = block_size;
	e->batch = JBD2_BATCH_BYTES / block_size;
	if (e->batch > copies)
		e->batch = (uint32_t)copies;
	e->data = malloc((size_t)e->batch * block_size);
	e->bounce = malloc(log->size_bytes < JBD2_RUN_BYTES ? log->size_bytes
							    : JBD2_RUN_BYTES);
	e->order = malloc(e->batch * sizeof(*e->order));
	if (!e->data || !e->bounce || !e->order)
		return rj_fail(err, RJ_E_NOMEM, "out of memory for replay");
	return 0;
}

void jbd2_engine_free(struct jbd2_engine *e)
{
	free(e->data);
	free(e->bounce);
	free(e->order);
}

static int by_log(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint32_t log_of(uint64_t order)
{
	return (uint32_t)(order >> 32);
}

/* How many of order[I..N) one read fetches, gaps included. */
static uint32_t reach(const struct jbd2_engine *e, uint32_t i, uint32_t n)
{
	uint32_t most = JBD2_RUN_BYTES / e->block_size;
	uint32_t gap = JBD2_GAP_BYTES / e->block_size + 1;
	uint32_t first = log_of(e->order[i]), j;

	for (j = i + 1; j < n; j++)
		if (log_of(e->order[j]) - first >= most ||
			log_of(e->order[j]) - log_of(e->order[j - 1]) > gap)
			break;
	return j - i;
}

static void place(struct jbd2_engine *e, const struct jbd2_copy *c,
	const uint8_t *from, uint32_t at)
{
	uint8_t *to = e->data + (size_t)at * e->block_size;

	memcpy(to, from, e->block_size);
	if (c[at].key & JBD2_COPY_ESCAPED)
		rj_put_be32(to, RJ_JBD2_MAGIC);
}

/* Fetch order[I..I+COUNT) and put each into its place. */
static int fetch(struct jbd2_engine *e, const struct jbd2_copy *c, uint32_t i,
	uint32_t count, struct rj_error *err)
{
	uint32_t first = log_of(e->order[i]), j, bs = e->block_size;
	uint32_t blocks = log_of(e->order[i + count - 1]) - first + 1;
	int rc = e->log->read(e->log, e->bounce, (size_t)blocks * bs,
		(uint64_t)first * bs, err);

	if (rc && blocks > 1) {
		/* the bad sector may be in a gap, in a block nobody wants */
		for (j = i, rc = 0; !rc && j < i + count; j++)
			rc = fetch(e, c, j, 1, err);
		return rc;
	}
	for (j = i; !rc && j < i + count; j++)
		place(e, c,
			e->bounce + (size_t)(log_of(e->order[j]) - first) * bs,
			(uint32_t)e->order[j]);
	return rc;
}

int jbd2_engine_load(struct jbd2_engine *e, const struct jbd2_copy *c,
	uint32_t n, struct rj_error *err)
{
	uint32_t i, count;
	int rc = 0;

	for (i = 0; i < n; i++)
		e->order[i] = (uint64_t)c[i].log << 32 | i;
	qsort(e->order, n, sizeof(*e->order), by_log);
	for (i = 0; !rc && i < n; i += count) {
		count = reach(e, i, n);
		rc = fetch(e, c, i, count, err);
	}
	return rc;
}

int jbd2_engine_store(struct jbd2_engine *e, const struct jbd2_copy *c,
	uint32_t at, uint32_t n, uint32_t *written, struct rj_error *err)
{
	uint32_t most = JBD2_RUN_BYTES / e->block_size, count = 1;
	uint64_t block = c[at].key & JBD2_COPY_BLOCK;

	while (at + count < n && count < most &&
		(c[at + count].key & JBD2_COPY_BLOCK) == block + count)
		count++;
	*written = count;
	return e->fs->write(e->fs, e->data + (size_t)at * e->block_size,
		(size_t)count * e->block_size, block * e->block_size, err);
}
