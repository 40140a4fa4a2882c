/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Handles of mode B with one of its rules left out (doc/log-format.md), and
 * faults below: for a test that has to find out.
 */
#ifndef RJ_TEST_TREERULES_H
#define RJ_TEST_TREERULES_H

#include "support/memtree.h"

/*
 * RULE: "faults" (none is left out), "shared" (a folder that is there is taken
 * for one's own), "nolook" (no look for a newer epoch after a put), "blind" (a
 * list without the own epoch is believed), "early" (the end of the log is
 * looked for before the claim). NULL: no such rule, or memory is short.
 */
struct rj_store *treerules_store(struct memgrove *g, const char *rule);
/* No more faults, of any handle (the rule stays left out); or again. */
void treerules_calm(bool on);

#endif
