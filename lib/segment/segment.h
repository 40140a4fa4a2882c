/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Seal and open one segment: the header, a list of runs, the journal blocks
 * themselves, and the checksum or the AES-GCM tag that binds them. The only
 * folder that uses zstd and xxHash; lib/store/http and rjserver use OpenSSL too.
 */
#ifndef RJ_SEGMENT_SEGMENT_H
#define RJ_SEGMENT_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "format/seghdr.h"
#include "segment/sealkey.h"
#include "util/buf.h"
#include "util/error.h"

/* COUNT consecutive blocks of the ring from BLOCK. */
struct rj_seg_run {
	uint32_t block;
	uint32_t count;
};

/*
 * What to seal. Blocks are taken from RING, the whole journal image in
 * memory: block b at RING + b * body.block_size. A fence has no runs.
 */
struct rj_seg_draft {
	struct rj_seghdr
		header; /* seal, sizes, key_fingerprint, ZSTD and AESGCM are
			 * computed */
	struct rj_segbody body; /* run_count is computed */
	const struct rj_seg_run *runs;
	uint32_t run_count;
	const uint8_t *ring;
	const struct rj_sealkey *key; /* encrypt with it; NULL: a checksum only */
	bool compress;            /* with zstd, where that saves enough */
};

/*
 * Seal DRAFT into OUT (emptied first; its memory is reused, so that a warm
 * buffer means no allocation). CHAIN gets the SHA-256 of the finished header,
 * which the next segment carries as prev_chain. The runs may come in any order;
 * they are stored in ascending order.
 * RJ_E_INVAL: too large, a run beyond the ring, a block named twice, or a
 * header that contradicts itself. RJ_E_NOMEM, RJ_E_IO: OpenSSL.
 */
int rj_segment_seal(const struct rj_seg_draft *draft, struct rj_buf *out,
	uint8_t chain[RJ_SEG_HASH_BYTES], struct rj_error *err);

/*
 * Seal DRAFT as rj_segment_seal(), but leave the blocks in the ring: the segment is *COUNT
 * parts, one after the other, of OUT and of the ring, which stay as they are as long as PARTS
 * are used. Encrypted, compressed, or with MAX runs or more the blocks are in OUT, and it is
 * one part.
 */
int rj_segment_seal_in_place(const struct rj_seg_draft *draft,
	struct rj_buf *out, struct iovec *parts, int max, int *count,
	uint8_t chain[RJ_SEG_HASH_BYTES], struct rj_error *err);

/* An opened segment: pointers into the bytes it was opened from, or into its
 * own where those are encrypted or compressed. */
struct rj_segment {
	struct rj_seghdr header;
	struct rj_segbody body;
	uint8_t chain[RJ_SEG_HASH_BYTES]; /* SHA-256 of its header */
	struct rj_seg_run *runs;          /* owned; rj_segment_release() */
	const uint8_t *blocks; /* the runs' blocks, in order of the runs */
	uint64_t block_count;  /* sum of the runs' counts */
	uint8_t *own;          /* owned: the body in plain, or NULL */
};

/*
 * Check LEN bytes DATA as one segment, whole: magic, ranges, exact length,
 * seal, runs inside the ring and not overlapping. OUT points into DATA and is
 * valid while DATA is; release it with rj_segment_release().
 * RJ_E_CORRUPT, RJ_E_UNSUPPORTED. RJ_E_KEY: encrypted, and it takes a key to
 * read it.
 * One that is only compressed is expanded.
 */
int rj_segment_open(const uint8_t *data, size_t len, struct rj_segment *out,
	struct rj_error *err);

/*
 * The same with the volume's key (NULL: as above). With a key, a segment that
 * is not encrypted is RJ_E_CORRUPT: anyone who can write to the store could have
 * made it. RJ_E_KEY: encrypted with another key.
 */
int rj_segment_open_with(const uint8_t *data, size_t len,
	const struct rj_sealkey *key, struct rj_segment *out,
	struct rj_error *err);
void rj_segment_release(struct rj_segment *seg);

#endif
