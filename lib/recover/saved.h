/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A journal that a rjournald saved when it was stopped while its store was away. */
#ifndef RJ_RECOVER_SAVED_H
#define RJ_RECOVER_SAVED_H

#include "ext4/volume.h"
#include "os/rundir.h"

/*
 * Find the journal of the volume with the facts F that was saved on this host last, into OUT, for
 * --from of rjrecover. False: there is none, or the volume went on since.
 */
bool rj_recover_saved(const struct rj_volume_facts *f, char out[RJ_SAVE_DIR_BYTES + 1]);

#endif
