/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A tree that goes on trying, for tests whose way to the server is bad. What a
 * lost answer leaves in doubt stays in doubt: make() may say RJ_E_EXISTS of a
 * folder that an attempt of its own made.
 */
#ifndef TESTS_STORE_RETRYTREE_H
#define TESTS_STORE_RETRYTREE_H

#include "store/tree/tree.h"

/* Takes INNER. */
struct rj_tree *retrytree_open(struct rj_tree *inner);

#endif
