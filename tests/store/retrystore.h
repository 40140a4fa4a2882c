/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A store that goes on trying while the one below does not answer, and settles
 * what a lost answer leaves open by reading back, as lib/log does.
 */
#ifndef RJ_TEST_STORE_RETRYSTORE_H
#define RJ_TEST_STORE_RETRYSTORE_H

#include "store/store.h"

/* INNER then belongs to the result. Ends the program without memory. */
struct rj_store *retrystore_open(struct rj_store *inner);

#endif
