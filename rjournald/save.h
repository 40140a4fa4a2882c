/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Save the journal in memory to a directory, before a daemon ends whose store lacks a part. */
#ifndef RJ_JOURNALD_SAVE_H
#define RJ_JOURNALD_SAVE_H

#include "daemon.h"
#include "os/rundir.h"

/* Does the kernel wait for a store that is lost? */
bool rj_save_needed(const struct rj_daemon *d);
/*
 * Make the directory DIR (an absolute path, of a directory that is new or empty; NULL: a new one
 * in the state directory) and check that it has space for the journal. PATH gets its name.
 * RJ_E_NOSPACE, RJ_E_IO: nothing is left of it.
 */
int rj_save_prepare(const struct rj_daemon *d, const char *dir, char path[RJ_SAVE_DIR_BYTES + 1],
	struct rj_error *err);
/* Save the journal as a log in PATH, after rj_pipeline_abandon(). Logs what came of it. RJ_E_IO,
 * RJ_E_NOSPACE, RJ_E_KEY. */
int rj_save(struct rj_daemon *d, const char *path, struct rj_error *err);

#endif
