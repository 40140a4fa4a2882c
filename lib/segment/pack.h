/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * zstd for the segment room. One context per thread, made at first use.
 */
#ifndef RJ_SEGMENT_PACK_H
#define RJ_SEGMENT_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

/*
 * Compress the LEN bytes at DATA in place if that saves at least an eighth;
 * PACKED gets the new length, or LEN when it does not pay. RJ_E_NOMEM.
 */
int rj_pack(uint8_t *data, size_t len, size_t *packed, struct rj_error *err);

/* Expand LEN bytes IN to exactly RAW bytes OUT. RJ_E_CORRUPT: not one zstd
 * frame of that length. */
int rj_unpack(const uint8_t *in, size_t len, uint8_t *out, size_t raw,
	struct rj_error *err);

#endif
