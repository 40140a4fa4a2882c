/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory that the kernel can write out: a shared mapping of a file without a
 * name in $TMPDIR or /var/tmp, whose blocks are reserved.
 */
#ifndef RJ_LOG_SPILL_H
#define RJ_LOG_SPILL_H

#include <stddef.h>

/* BYTES of zeros; *FD stays open for rj_spill_clear(). NULL: there is no such
 * directory, or no space; errno says why. */
void *rj_spill_map(size_t bytes, int *fd);
/* Zeros again. Returns 0, or -1 if it must be done by hand. */
int rj_spill_clear(int fd, size_t bytes);

#endif
