/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Encode and decode the fallback file's header and the head of its records; pure. The
 * bytes are in doc/fallback.md.
 *
 * Two header slots of RJ_FALLBACK_ALIGN bytes, written in turn; of those that
 * have a right checksum, the higher generation counts. After them the area, a ring of
 * records: each a head, then a sealed segment as the store would get it, then zeros up
 * to a multiple of RJ_FALLBACK_ALIGN. A position counts the bytes of the area since the
 * outage (SESSION) began; its place in the area is the position modulo area_bytes. A record that
 * would cross the area's end begins at the area's start instead.
 */
#ifndef RJ_FORMAT_FALLBACK_HDR_H
#define RJ_FORMAT_FALLBACK_HDR_H

#include <stdbool.h>
#include <stdint.h>

#include "format/seghdr.h"
#include "util/error.h"
#include "util/uuid.h"

#define RJ_FALLBACK_MAGIC	      "RJFALLBK"
#define RJ_FALLBACK_VERSION      1
#define RJ_FALLBACK_ALIGN	      4096u
#define RJ_FALLBACK_HEADER_BYTES 256u
#define RJ_FALLBACK_AREA              (2 * RJ_FALLBACK_ALIGN) /* where the area begins */
#define RJ_FALLBACK_RECORD_MAGIC "RJFBREC1"
#define RJ_FALLBACK_RECORD_HEAD  64u

enum rj_fallback_state {
	RJ_FALLBACK_IDLE = 0,  /* the store has all that was acknowledged */
	RJ_FALLBACK_LOCAL = 1, /* segments from FROM on may be only here */
	/* As LOCAL, but another writer took over at the store, or the volume
	 * went on without these segments: they are left for the administrator, and
	 * no program uses them again. */
	RJ_FALLBACK_GIVEN_UP = 2,
};

struct rj_fallback_header {
	uint64_t generation;
	uint8_t volume_uuid[RJ_UUID_BYTES];
	uint8_t journal_uuid[RJ_UUID_BYTES];
	enum rj_fallback_state state;
	uint64_t area_bytes; /* a multiple of RJ_FALLBACK_ALIGN */
	uint64_t epoch; /* of the last writer that had this file open */
	/* The rest is zero if no segment was ever written here. */
	uint64_t session; /* names the records of this outage */
	uint64_t fence;	  /* the number of that epoch's fence */
	uint64_t from;	  /* the first segment written here */
	/* The store has acknowledged the segments below this one; this one's record
	 * is at POSITION. Never below FROM. */
	uint64_t next;
	uint64_t position;
	uint64_t last; /* segments up to this one are certainly here; 0: none */
	int64_t since_ns; /* realtime: when the store was lost */
	uint8_t chain[RJ_SEG_HASH_BYTES]; /* of segment FROM - 1 */
	/* The last segment that this host saw acknowledged, noted while the file was
	 * idle; all 0: none. Older releases write zeros here. */
	uint64_t floor_epoch, floor_sequence;
	uint8_t floor_chain[RJ_SEG_HASH_BYTES];
	uint64_t made; /* the epoch of the first writer; 0: none yet, or an older release's file */
};

struct rj_fallback_record {
	uint64_t session, sequence, epoch, position;
	uint32_t bytes;	  /* of the segment */
	uint32_t payload; /* CRC-32C of the segment */
};

/* Decode a header. OUT is written only on success. RJ_E_NOTRJ: no magic. RJ_E_CORRUPT:
 * a wrong CRC or a field out of range. RJ_E_UNSUPPORTED: a newer version. */
int rj_fallback_header_decode(const uint8_t raw[RJ_FALLBACK_HEADER_BYTES],
	struct rj_fallback_header *out, struct rj_error *err);
void rj_fallback_header_encode(const struct rj_fallback_header *h,
	uint8_t raw[RJ_FALLBACK_HEADER_BYTES]);
/* Does a header begin in one of the two slots, also a damaged one? RAW: the file's beginning. */
bool rj_fallback_is_here(const uint8_t raw[RJ_FALLBACK_AREA]);
/* Decode a record's head, with the same errors. Its own CRC is checked here, the
 * payload's by the caller. */
int rj_fallback_record_decode(const uint8_t raw[RJ_FALLBACK_RECORD_HEAD],
	struct rj_fallback_record *out, struct rj_error *err);
void rj_fallback_record_encode(const struct rj_fallback_record *r,
	uint8_t raw[RJ_FALLBACK_RECORD_HEAD]);
/* Get the bytes of the area that the record of a segment of BYTES takes. */
uint64_t rj_fallback_record_bytes(uint64_t bytes);

#endif
