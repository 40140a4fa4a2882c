/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Encode and decode a floor: the last segment of a journal that was acknowledged. Its
 * bytes and its use are in doc/floor.md. */
#ifndef RJ_FORMAT_FLOOR_RECORD_H
#define RJ_FORMAT_FLOOR_RECORD_H

#include <stdint.h>

#include "format/seghdr.h"
#include "util/error.h"
#include "util/uuid.h"

#define RJ_FLOOR_BYTES 512 /* of one record; a file has two of them */

struct rj_floor_record {
	uint64_t generation; /* the higher one of a file counts */
	uint8_t journal_uuid[RJ_UUID_BYTES];
	uint64_t epoch, sequence; /* of that segment */
	uint8_t chain[RJ_SEG_HASH_BYTES];
};

void rj_floor_record_encode(
	const struct rj_floor_record *rec, uint8_t raw[RJ_FLOOR_BYTES]);
/* Decode a record. RJ_E_NOTRJ: all zeros, or another magic. RJ_E_CORRUPT. */
int rj_floor_record_decode(const uint8_t raw[RJ_FLOOR_BYTES],
	struct rj_floor_record *out, struct rj_error *err);

#endif
