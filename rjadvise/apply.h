/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Make a data mode the default of a mounted volume. */
#ifndef RJADVISE_APPLY_H
#define RJADVISE_APPLY_H

#include "volume.h"

/*
 * Set the default mount options WORDS of the mounted volume V, by tune2fs(8), and read them
 * back. They count from the next mount on, and where that names no data= itself. RJ_E_IO, with
 * what tune2fs said: nothing is sure then.
 */
int apply_words(const struct volume *v, const char *words, struct rj_error *err);

#endif
