/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes of a large object, in pieces: it is checked as a whole before the first one, and each
 * piece is read again when it is to be sent. So an answer that no client takes costs one piece of
 * memory, and no object holds up the event loop.
 */
#ifndef RJSERVER_PIECES_H
#define RJSERVER_PIECES_H

#include "rjserver/store/store-read.h"

#define PIECE_BYTES (32u << 10)

/* All zero but WAIT's ready and arg, which the caller sets: nothing is begun. */
struct pieces {
	struct store *s;
	struct okey okey;
	uint32_t length, crc; /* of the object that was checked */
	uint32_t at;	      /* bytes that were taken */
	enum { PIECES_NONE, PIECES_CHECK, PIECES_SEND } state;
	bool waits; /* for the thread that reads the next piece */
	struct read_wait wait;
};

/* Is the object larger than a piece? False also if there is none. */
bool pieces_wanted(struct store *s, const struct okey *okey);
/*
 * Check the object OKEY, whose bytes then come by pieces_next(). 0, or as store_get();
 * RJ_E_BUSY: call this again when p->wait.ready was called.
 */
int pieces_begin(
	struct pieces *p, struct store *s, const struct okey *okey, struct rj_error *err);
/* Append the next piece to OUT; the last one when p->at is p->length. RJ_E_BUSY: as above. Any
 * other error: the object is not there any more, or cannot be read. */
int pieces_next(struct pieces *p, struct rj_buf *out, struct rj_error *err);
/* Get ready for another object. */
void pieces_end(struct pieces *p);

#endif
