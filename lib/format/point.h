/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The text of a named mark (rjctl mark), as doc/log-format.md has it. In the code it is a
 * point: struct rj_mark is the mark in the volume (format/mark.h).
 */
#ifndef RJ_FORMAT_POINT_H
#define RJ_FORMAT_POINT_H

#include <stdint.h>

#include "format/claim-text.h"
#include "util/buf.h"
#include "util/error.h"
#include "util/uuid.h"

#define RJ_POINT_NAME 64 /* longest name, with the NUL: rj_key_name_valid() */

/* The moment after SEGMENT has a name. */
struct rj_point {
	uint64_t segment; /* from 1 */
	uint8_t journal_uuid[RJ_UUID_BYTES];
	char name[RJ_POINT_NAME];
	char host[RJ_CLAIM_HOST];    /* visible ASCII; "-": not said */
	char program[RJ_CLAIM_HOST]; /* visible ASCII */
	int64_t time;		     /* seconds since 1970 */
};

/* P's text, appended to OUT. 0 or RJ_E_NOMEM. */
int rj_point_encode(const struct rj_point *p, struct rj_buf *out);
/* The LEN bytes TEXT, each line in its place and nothing else. OUT is written
 * only on success. RJ_E_CORRUPT. */
int rj_point_decode(const void *text, size_t len, struct rj_point *out,
	struct rj_error *err);

#endif
