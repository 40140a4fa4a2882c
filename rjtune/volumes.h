/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The volumes of --all. */
#ifndef RJTUNE_VOLUMES_H
#define RJTUNE_VOLUMES_H

#include <stddef.h>

#include "util/error.h"

struct volumes {
	char **names;
	size_t count;
};

/*
 * Read the names in FILE ("-": standard input) into OUT (released with volumes_free(), also after
 * a failure): one on each line; or a table like fstab(5), of which the lines of type ext3, ext4
 * and rj count; or what rjctl status --json prints. Empty lines and those that begin with #
 * count in none. A name that is there twice is taken once.
 */
int volumes_read(const char *file, struct volumes *out, struct rj_error *err);
void volumes_free(struct volumes *v);

/* Append WORDS to OUT, NUL-terminated, with the UUID of the volume at DEVICE in the place of each
 * %u, the host's name in that of %h, and % in that of %%. RJ_E_INVAL: another letter. Errors of
 * rj_volume_open(). */
struct rj_buf;
int volumes_expand(const char *words, const char *device, struct rj_buf *out,
	struct rj_error *err);

#endif
