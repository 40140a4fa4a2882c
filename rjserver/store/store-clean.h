/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cleaning: when more than half of the log is dead, the little that lives in
 * the oldest file is copied to the end, so that the file can be dropped.
 */
#ifndef RJSERVER_STORE_CLEAN_H
#define RJSERVER_STORE_CLEAN_H

#include "store.h"

/* Add copies to the batch, as much as goes well with BYTES of new objects. */
void clean_add(struct store *s, uint64_t bytes);
/* Clean in a step of its own, while there are no writes, if needed; true if
 * there was, or the disk is waited for. */
bool clean_step(struct store *s);
/* No more cleaning: the store is about to be closed. */
void clean_stop(struct store *s);
void clean_free(struct clean *cl); /* NULL-safe */

#endif
