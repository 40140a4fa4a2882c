/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A store in memory: fast and deterministic. Any number of handles, each for
 * one thread, share one shelf of objects.
 */
#ifndef RJ_TEST_MEMSTORE_H
#define RJ_TEST_MEMSTORE_H

#include "store/store.h"

struct memshelf;

/* NULL when memory is short. */
struct memshelf *memshelf_new(void);
/* After its last handle was closed. NULL-safe. */
void memshelf_free(struct memshelf *shelf);
struct rj_store *memstore_open(struct memshelf *shelf);

#endif
