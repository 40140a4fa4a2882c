/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Clean the log: when more than half of it is dead, copy the live objects of the oldest
 * file to the end, so that the file can be dropped.
 */
#ifndef RJSERVER_STORE_CLEAN_H
#define RJSERVER_STORE_CLEAN_H

#include "store.h"

/* Add copies to the batch: up to twice the BYTES of new objects, within limits. */
void clean_add(struct store *s, uint64_t bytes);
/* Do one step of cleaning while there are no writes, if needed. True: it was, or the
 * disk is waited for. */
bool clean_step(struct store *s);
/* Stop cleaning: the store is about to be closed. */
void clean_stop(struct store *s);
void clean_free(struct clean *cl); /* NULL-safe */

#endif
