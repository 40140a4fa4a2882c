/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJCTL_JOURNAL_PROBE_H
#define RJCTL_JOURNAL_PROBE_H

#include "util/error.h"

/*
 * Write a random block to a new file in the directory DIR, fsync it, remove the file, and
 * look for the block in the journal that rjournald serves for the volume. RJ_E_REFUSED: the
 * journal lacks it, so ext4 wrote it to the volume alone. RJ_E_NOTFOUND: no rjournald serves
 * the volume. RJ_E_IO.
 */
int journal_probe(const char *dir, struct rj_error *err);

#endif
