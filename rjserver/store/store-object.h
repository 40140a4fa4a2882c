/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Find an object's bytes in the data files, read them, and check them against their
 * checksum. Errors are those of store_get(). Nothing of the object may be in the batch.
 */
#ifndef RJSERVER_STORE_OBJECT_H
#define RJSERVER_STORE_OBJECT_H

#include "store.h"

/* Where the bytes of an object are; F until the next flush. */
struct object_place {
	struct datafile *f;
	uint64_t pos; /* of the record */
	uint32_t length, crc;
};

/* Find the place of OKEY. */
int object_find(struct store *s, const struct okey *okey,
	struct object_place *out, struct rj_error *err);
/* Find the place of OKEY, and reserve memory for its bytes at the end of OUT. */
int object_reserve(struct store *s, const struct okey *okey,
	struct object_place *at, struct rj_buf *out, struct rj_error *err);
/* The bytes of AT are after what OUT has; check them and count them in. */
int object_take(struct store *s, const struct okey *okey,
	const struct object_place *at, struct rj_buf *out,
	struct rj_error *err);
/* Read the object's bytes, and append them to OUT. */
int object_get(struct store *s, const struct okey *okey, struct rj_buf *out,
	struct rj_error *err);
/* Offset of the object's bytes in its file. */
uint64_t object_offset(const struct object_place *at);
/* Do the bytes DATA have the checksum of the object? */
bool object_whole(const struct object_place *at, const void *data);
/* Log that the object is damaged. Returns RJ_E_CORRUPT. */
int object_damaged(struct store *s, const struct okey *okey,
	const struct object_place *at, struct rj_error *err);
/* Log that the object's bytes could not be read, and WHY: which says nothing of the bytes.
 * Returns RJ_E_IO. */
int object_unread(struct store *s, const struct okey *okey,
	const struct object_place *at, const char *why, struct rj_error *err);
/* When the object of E was stored, to the second before; what an old checkpoint
 * does not say is read, once. RJ_E_IO: it could not be; RJ_E_CORRUPT: it is damaged. */
int store_time(struct store *s, struct idx_entry *e, uint64_t *time_ns);

#endif
