/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJSERVER_STORE_CHECKPOINT_H
#define RJSERVER_STORE_CHECKPOINT_H

#include "store.h"

/* Where the log goes on after a checkpoint; all zero: there is none. */
struct checkpoint_place {
	uint64_t pos;  /* everything before it is in the checkpoint */
	uint64_t last; /* the record before it */
};

/* store-checkpoint.c */
/* Begin one when it is time; take over the result of one that has ended. */
void store_checkpoint_tick(struct store *s);
/* Write one, if it is time, and wait for it. */
void store_checkpoint_now(struct store *s);
/* Wait for one that is being written. */
void store_checkpoint_end(struct store *s);
/* Remove it durably: then any file may be dropped, and a start reads all. */
int store_checkpoint_forget(struct store *s, struct rj_error *err);
/* Fill the index from DIR's checkpoint, if it has a good one. */
int store_checkpoint_read(struct store *s, struct checkpoint_place *at,
	struct rj_error *err);

/* checkpoint-format.c: pure */
int checkpoint_encode(struct store *s, struct rj_buf *out);
/* RJ_E_CORRUPT: not whole; S is as it was. RJ_E_REFUSED: of another store. */
int checkpoint_decode(struct store *s, const struct rj_buf *data,
	struct checkpoint_place *at, const char *path, struct rj_error *err);

#endif
