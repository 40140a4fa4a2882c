// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history/base/manifest.h"

#include <string.h>

#include "util/bytes.h"

#define MAGIC	"RJBASEMF"
#define VERSION 1
/* byte offsets */
#define M_VERSION    8
#define M_BLOCK_SIZE 12
#define M_BLOCKS     16
#define M_FROM	     24
#define M_WHOLE	     32
#define M_HOLD	     40
#define M_TIME	     48
#define M_CHUNK	     56
#define M_CHAIN	     60
#define M_RESERVED   68
#define M_HEAD	     RJ_BASE_PAGE
#define M_CHUNKS     (RJ_BASE_PAGE + RJ_BASE_HEAD)

uint64_t rj_base_chunks(uint64_t bytes)
{
	return bytes / RJ_BASE_CHUNK_BYTES + (bytes % RJ_BASE_CHUNK_BYTES != 0);
}

bool rj_base_has_chunk(const struct rj_base_manifest *m, uint64_t i)
{
	return i / 8 < m->chunks.len && m->chunks.data[i / 8] >> i % 8 & 1;
}

static int check(const struct rj_base_manifest *m, uint64_t *chunks)
{
	uint64_t bytes;

	if (m->block_size < 1024 || m->block_size > 65536 || m->block_size & (m->block_size - 1))
		return -1;
	if (!m->blocks || __builtin_mul_overflow(m->blocks, m->block_size, &bytes))
		return -1;
	*chunks = rj_base_chunks(bytes);
	if (*chunks > RJ_BASE_PLACES - 2)
		return -1;
	return !m->record.from || (m->record.whole && m->record.whole < m->record.from) ? -1 : 0;
}

static size_t pages(uint64_t chunks)
{
	return (size_t)((chunks + 8 * RJ_BASE_PAGE - 1) / (8 * RJ_BASE_PAGE)) * RJ_BASE_PAGE;
}

int rj_base_manifest_encode(
	const struct rj_base_manifest *m, struct rj_buf *out, struct rj_error *err)
{
	uint64_t chunks;
	size_t bitmap;
	uint8_t *p;

	out->len = 0;
	if (check(m, &chunks) || m->chunks.len > (chunks + 7) / 8)
		return rj_fail(err, RJ_E_INVAL,
			"a base of %llu blocks of %u bytes cannot be kept at a store",
			(unsigned long long)m->blocks, m->block_size);
	bitmap = pages(chunks);
	if (rj_buf_reserve(out, M_CHUNKS + bitmap))
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	p = out->data;
	out->len = M_CHUNKS + bitmap;
	memset(p, 0, out->len);
	memcpy(p, MAGIC, 8);
	rj_put_le32(p + M_VERSION, VERSION);
	rj_put_le32(p + M_BLOCK_SIZE, m->block_size);
	rj_put_le64(p + M_BLOCKS, m->blocks);
	rj_put_le64(p + M_FROM, m->record.from);
	rj_put_le64(p + M_WHOLE, m->record.whole);
	rj_put_le64(p + M_HOLD, m->hold);
	rj_put_le64(p + M_TIME, m->time);
	rj_put_le32(p + M_CHUNK, RJ_BASE_CHUNK_BYTES);
	rj_put_le64(p + M_CHAIN, m->record.chain);
	memcpy(p + M_HEAD, m->head, RJ_BASE_HEAD);
	if (m->chunks.len)
		memcpy(p + M_CHUNKS, m->chunks.data, m->chunks.len);
	return 0;
}

static bool zeros(const uint8_t *p, size_t len)
{
	while (len && !*p)
		p++, len--;
	return !len;
}

static int bad(struct rj_error *err, const char *what)
{
	return rj_fail(err, RJ_E_CORRUPT, "the manifest of a base is not valid: %s", what);
}

int rj_base_manifest_decode(const uint8_t *data, size_t len, struct rj_base_manifest *out,
	struct rj_error *err)
{
	struct rj_base_manifest m = {.chunks = {0}};
	uint64_t chunks;
	size_t used;

	if (len < M_CHUNKS || memcmp(data, MAGIC, 8))
		return bad(err, "magic or length");
	if (rj_get_le32(data + M_VERSION) != VERSION)
		return rj_fail(err, RJ_E_UNSUPPORTED,
			"the manifest of a base has version %u, and this program knows %u",
			rj_get_le32(data + M_VERSION), VERSION);
	m.block_size = rj_get_le32(data + M_BLOCK_SIZE);
	m.blocks = rj_get_le64(data + M_BLOCKS);
	m.record.from = rj_get_le64(data + M_FROM);
	m.record.whole = rj_get_le64(data + M_WHOLE);
	m.hold = rj_get_le64(data + M_HOLD);
	m.time = rj_get_le64(data + M_TIME);
	m.record.chain = rj_get_le64(data + M_CHAIN);
	if (check(&m, &chunks))
		return bad(err, "sizes or segments");
	if (rj_get_le32(data + M_CHUNK) != RJ_BASE_CHUNK_BYTES ||
		!zeros(data + M_RESERVED, M_HEAD - M_RESERVED))
		return bad(err, "chunk size or what is reserved");
	if (len != M_CHUNKS + pages(chunks))
		return bad(err, "length");
	used = (size_t)((chunks + 7) / 8);
	if (!zeros(data + M_CHUNKS + used, len - M_CHUNKS - used) ||
		(chunks % 8 && data[M_CHUNKS + used - 1] >> chunks % 8))
		return bad(err, "chunks beyond the volume's end");
	memcpy(m.head, data + M_HEAD, RJ_BASE_HEAD);
	if (rj_buf_append(&m.chunks, data + M_CHUNKS, used))
		return rj_fail(err, RJ_E_NOMEM, "out of memory");
	*out = m;
	return 0;
}

void rj_base_manifest_free(struct rj_base_manifest *m)
{
	rj_buf_free(&m->chunks);
}
