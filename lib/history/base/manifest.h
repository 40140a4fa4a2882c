/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a base at a store is made of, and what says so: byte for byte in doc/log-format.md.
 * A base N has the objects N * RJ_BASE_PLACES + P: P 0 is the manifest, P 1 + I is chunk I,
 * and P RJ_BASE_PLACES - 1 the note that it was begun, which is a manifest, too.
 */
#ifndef RJ_HISTORY_BASE_MANIFEST_H
#define RJ_HISTORY_BASE_MANIFEST_H

#include <stdbool.h>
#include <stdint.h>

#include "format/object-key.h"
#include "format/sbx-base.h"
#include "util/buf.h"
#include "util/error.h"

#define RJ_BASE_NUMBERS	    1000000000000u /* bases are numbered from 1, below this */
#define RJ_BASE_CHUNK_BYTES 8388608u	   /* of the volume; the last one may be shorter */
#define RJ_BASE_HEAD	    4096u
#define RJ_BASE_PAGE	    4096u /* a manifest is pages of this */

struct rj_base_manifest {
	struct rj_base_record record; /* whole 0: begun, and not finished; no id, no hold */
	uint32_t block_size;	      /* bytes, of the volume */
	uint64_t blocks;
	uint64_t hold;		    /* its number; 0: none */
	uint64_t time;		    /* seconds since 1970 */
	uint8_t head[RJ_BASE_HEAD]; /* the first bytes of the base; zero if begun */
	struct rj_buf chunks;	    /* a bit for each chunk: there is an object; owned */
};

/* How many chunks a volume of BYTES has. */
uint64_t rj_base_chunks(uint64_t bytes);
/* Does M have chunk I? */
bool rj_base_has_chunk(const struct rj_base_manifest *m, uint64_t i);
/* M's bytes, whole pages, into OUT (emptied first). RJ_E_NOMEM; RJ_E_INVAL: too large. */
int rj_base_manifest_encode(
	const struct rj_base_manifest *m, struct rj_buf *out, struct rj_error *err);
/* LEN bytes DATA, exactly. OUT is written only on success. RJ_E_CORRUPT, RJ_E_UNSUPPORTED,
 * RJ_E_NOMEM. */
int rj_base_manifest_decode(const uint8_t *data, size_t len, struct rj_base_manifest *out,
	struct rj_error *err);
void rj_base_manifest_free(struct rj_base_manifest *m);

#endif
