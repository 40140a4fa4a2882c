/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A moment that was restored becomes a volume of its own. */
#ifndef RJ_HISTORY_NEW_VOLUME_H
#define RJ_HISTORY_NEW_VOLUME_H

#include "history/base.h"
#include "recover/recover.h"

/*
 * Give the volume at PATH, a moment of the base with FACTS, another UUID and no journal, and do
 * what a recovery does last, checked as VERIFY says. *FD, open for reading and writing, stays the
 * caller's, and may be opened again. SUPER: 1024 bytes, the primary superblock of the moment; NULL:
 * the one that is there. Until the end it is marked as an unfinished base, which no tool takes for
 * a volume. RJ_E_CORRUPT: not sound; RJ_E_REFUSED: it has the feature encrypt; errors as of
 * rj_recover_settle() and rj_move().
 */
int rj_new_volume(const struct rj_base_facts *facts, const char *path, int *fd,
	const uint8_t *super, enum rj_verify_level verify, struct rj_error *err);

#endif
