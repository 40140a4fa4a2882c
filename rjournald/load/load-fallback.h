/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Open the fallback file of a volume that is to be served, bring the segments that it
 * holds to the store, and start the fallback sink. */
#ifndef RJ_JOURNALD_LOAD_FALLBACK_H
#define RJ_JOURNALD_LOAD_FALLBACK_H

#include "load.h"
#include "util/error.h"

/*
 * Open the fallback file of the volume L, if it has one, and put into the store the
 * segments that only the file has. To be called before the log is read. RJ_E_REFUSED:
 * the file is missing, is not the one that was used last, or its segments were given
 * up. RJ_E_FENCED: another writer continued the store's log without those segments.
 * RJ_E_UNREACHABLE and others of rj_fallback_ship().
 */
int rj_load_fallback_open(struct rj_loaded *l, struct rj_error *err);
/* Make the fallback file where rj_load_fallback_open() found none. To be called when the log is
 * known to be this volume's: a file that was made for another UUID would be in the way. */
int rj_load_fallback_make(struct rj_loaded *l, struct rj_error *err);
/* Open the fallback file only, or make it where l->facts allows it to be missing. */
int rj_load_fallback_file(struct rj_loaded *l, struct rj_error *err);
/* Bind the fallback file to the new epoch, after the claim and before the volume is
 * marked with that epoch. Does nothing without a fallback file. */
int rj_load_fallback_serve(struct rj_loaded *l, struct rj_error *err);
/* Open the store handles with short time limits, and start the fallback sink. L has its
 * writer, and stays where it is. Does nothing without a fallback file. */
int rj_load_fallback_start(struct rj_loaded *l, struct rj_error *err);
/* End the fallback sink, after a durable note in the file of what the store has. */
int rj_load_fallback_stop(struct rj_loaded *l, struct rj_error *err);
/* Is the file without a segment that is still needed? */
bool rj_load_fallback_idle(const struct rj_loaded *l);
/* Close the file and the handles. */
void rj_load_fallback_close(struct rj_loaded *l);

#endif
