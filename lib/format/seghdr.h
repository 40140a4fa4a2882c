/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Encode and decode the 256-byte header of a segment, and the 32-byte head of its body.
 * The bytes are in doc/log-format.md. All integers are little-endian. The header is
 * never encrypted. The body (head, runs, blocks) can be compressed by zstd and
 * encrypted by AES-GCM: with a key a store sees only sizes and times.
 */
#ifndef RJ_FORMAT_SEGHDR_H
#define RJ_FORMAT_SEGHDR_H

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"
#include "util/uuid.h"

#define RJ_SEG_MAGIC        "RJSEGMNT"
#define RJ_SEG_VERSION      2 /* what is written; 1 is read, too: its seal is a SHA-256 */
#define RJ_SEG_HEADER_BYTES 256
#define RJ_SEG_BODY_HEAD    32
#define RJ_SEG_RUN_BYTES    8
#define RJ_SEG_NONCE_BYTES  16
#define RJ_SEG_HASH_BYTES   32
#define RJ_SEG_MAX_BYTES    (16u << 20) /* whole segment; stores must accept it */
/* Offsets in the raw header, for the computation of the seal. */
#define RJ_SEG_VERSION_OFFSET 8
#define RJ_SEG_KIND_OFFSET    12
#define RJ_SEG_SEAL_OFFSET    168

enum rj_seg_kind {
	RJ_SEG_DATA = 1,  /* journal blocks */
	RJ_SEG_FENCE = 2, /* first segment of an epoch; carries no blocks */
	RJ_SEG_BRIDGE = 3, /* reserved: of two stores for one log; refused */
};

#define RJ_SEG_F_BASE   0x1 /* needs no earlier segment: oldest == sequence */
#define RJ_SEG_F_ZSTD   0x2
#define RJ_SEG_F_AESGCM 0x4
#define RJ_SEG_F_BREAK                                                         \
	0x8 /* the segment before could not be verified, so                    \
	     * prev_chain is zero; nothing before is needed */
#define RJ_SEG_F_RECOVERED                                                     \
	0x10 /* a base that a recovery put: the log before it was             \
	      * replayed into the volume, or given up */
#define RJ_SEG_F_ALONE 0x60 /* reserved: both bits, of two stores for one log;  \
			     * refused */
#define RJ_SEG_F_CLEAN                                                         \
	0x80 /* a fence put while the volume was clean and about to leave     \
	      * this log: it needs nothing that is before */
#define RJ_SEG_F_MARKED                                                        \
	0x100 /* when this was sealed the volume had a mark (format/mark.h)   \
	       * of this oldest or a later one */
#define RJ_SEG_F_KNOWN   0x19F

struct rj_seghdr {
	uint32_t version; /* 1 or 2 */
	enum rj_seg_kind kind;
	uint32_t flags;
	uint64_t sequence; /* from 1 */
	uint64_t epoch;    /* from 1 */
	uint8_t volume_uuid[RJ_UUID_BYTES];
	uint8_t journal_uuid[RJ_UUID_BYTES];
	uint8_t nonce[RJ_SEG_NONCE_BYTES]; /* of the writer, new in each epoch */
	uint8_t prev_chain[RJ_SEG_HASH_BYTES]; /* SHA-256 of segment
						* sequence-1's header (its 256
						* bytes); zero for sequence 1 */
	uint64_t oldest;  /* the ring can be rebuilt from segments >= this */
	uint64_t time_ns; /* when sealed, since 1970 UTC */
	uint64_t stored_bytes; /* body as stored */
	uint64_t raw_bytes;    /* body before zstd */
	uint8_t key_fingerprint[16];
	uint8_t seal[RJ_SEG_HASH_BYTES]; /* XXH3-128 (version 1: SHA-256) over the
					  * header with this field zero, then the
					  * stored body; or the GCM tag. XXH3-128
					  * and the tag: 16 bytes, then zeros */
};

/* All zero in a fence, which has no blocks. */
struct rj_segbody {
	uint32_t block_size;     /* bytes: 1024, 2048, 4096 .. 65536 */
	uint32_t journal_blocks; /* length of the ring */
	uint32_t run_count;
	uint32_t
		tid_count; /* 0: no descriptor, revoke or commit block inside */
	uint32_t first_tid, last_tid;
};

/*
 * Decode a header of exactly 256 bytes; OUT is written only on success.
 * RJ_E_CORRUPT: bad magic, or a field out of range (sizes beyond
 * RJ_SEG_MAX_BYTES, sequence or epoch 0, oldest 0 or > sequence, reserved
 * bytes not zero). RJ_E_UNSUPPORTED: a newer version, kind or flag.
 */
int rj_seghdr_decode(const uint8_t raw[RJ_SEG_HEADER_BYTES],
	struct rj_seghdr *out, struct rj_error *err);
void rj_seghdr_encode(
	const struct rj_seghdr *h, uint8_t raw[RJ_SEG_HEADER_BYTES]);
int rj_segbody_decode(const uint8_t raw[RJ_SEG_BODY_HEAD],
	struct rj_segbody *out, struct rj_error *err);
void rj_segbody_encode(
	const struct rj_segbody *b, uint8_t raw[RJ_SEG_BODY_HEAD]);

#endif
