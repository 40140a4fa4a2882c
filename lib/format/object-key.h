/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Write and parse the names of the remote log's objects, below a store's prefix:
 *   <uuid>/epoch/<E20>   <uuid>/log/<seq20>   <uuid>/hold/<N20>   <uuid>/mark/<N20>
 *   <uuid>/base/<N20>   <uuid>/drill/<N20>
 * The UUID is the journal's.
 * The numbers are decimal, zero padded to 20 digits, and start at 1.
 */
#ifndef RJ_FORMAT_OBJECT_KEY_H
#define RJ_FORMAT_OBJECT_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/uuid.h"

enum rj_key_kind {
	RJ_KEY_LOG,
	RJ_KEY_EPOCH,
	RJ_KEY_HOLD,
	RJ_KEY_POINT, /* a named mark, rjctl mark */
	RJ_KEY_BASE,  /* a piece of base N: N * RJ_BASE_PLACES and more, history/base/manifest.h */
	RJ_KEY_DRILL, /* that a drill succeeded: log/past/drill.h */
	RJ_KEY_KINDS, /* how many there are */
};

struct rj_key {
	enum rj_key_kind kind;
	uint8_t journal_uuid[RJ_UUID_BYTES];
	uint64_t number; /* 1 .. UINT64_MAX; 0 names the directory itself */
};

#define RJ_BASE_PLACES 10000000u /* the first is the manifest, which is put last */

/* May any client put and remove objects of that kind, without a claim: holds, named
 * marks, bases, drills? */
bool rj_key_unclaimed(enum rj_key_kind kind);

#define RJ_KEY_TEXT 72 /* longest key, with the NUL */

/* Write "<uuid>/log/<seq20>", or "<uuid>/log/" for number 0, into OUT; returns OUT. */
char *rj_key_text(const struct rj_key *key, char out[RJ_KEY_TEXT]);
/*
 * Parse exactly that form (LEN bytes, no NUL needed): lower-case uuid, 20 digits,
 * value from 1 to UINT64_MAX; or the directory form. False for anything else.
 */
bool rj_key_parse(const char *text, size_t len, struct rj_key *out);
/* Is NAME valid as in rj://host:port/NAME: 1 to 63 characters of [A-Za-z0-9._-], the
 * first a letter or digit? */
bool rj_key_name_valid(const char *name, size_t len);

#endif
