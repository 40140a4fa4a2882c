/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Encode and decode the superblock extension of a base: a copy of a volume that was made
 * while the volume was in use, and is consistent only after a part of the log was applied.
 * See doc/history.md.
 */
#ifndef RJ_FORMAT_SBX_BASE_H
#define RJ_FORMAT_SBX_BASE_H

#include "format/seghdr.h"
#include "format/sbx.h"

struct rj_base_record {
	/* The log is read as for a replay that ends with this segment, the last one
	 * when the copy began, and from there on. */
	uint64_t from;
	/* The base is whole once the log was applied up to this segment. */
	uint64_t whole;
	/* Drawn at random when the base was made; a copy of the file has the same. 0: by a
	 * version that drew none, or nothing yet. */
	uint64_t id;
	/* The number of the hold that rjbackup base put for it (format/hold.h), below 2^40; 0:
	 * none. */
	uint64_t hold;
	/* rj_base_chain() of segment WHOLE; of a base at a store that is only begun, of FROM:
	 * another log can have other segments under these numbers. 0: made by a version that
	 * noted none. */
	uint64_t chain;
};

/* The record of what is no base yet, and may never be one: all numbers are 0. */
#define RJ_BASE_UNFINISHED ((struct rj_base_record){0})

/* What a base notes of a segment whose chain of hashes is CHAIN; never 0. */
uint64_t rj_base_chain(const uint8_t chain[RJ_SEG_HASH_BYTES]);
/* Change RAW, a volume's good extension, into that of a base. */
void rj_sbx_base_put(
	uint8_t raw[RJ_SBX_BYTES], const struct rj_base_record *base);
/*
 * Decode the extension RAW of a base: BASE, and what the volume had into SBX, but its floor (0).
 * RJ_E_INVAL: it is a volume's, not a base's; or unfinished (BASE is all 0 then). Also the
 * errors of rj_sbx_decode().
 */
int rj_sbx_base_get(const uint8_t raw[RJ_SBX_BYTES],
	struct rj_base_record *base, struct rj_sbx *sbx, struct rj_error *err);

#endif
