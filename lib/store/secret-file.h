/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Read files that hold secrets. Private to lib/store. */
#ifndef RJ_STORE_SECRET_FILE_H
#define RJ_STORE_SECRET_FILE_H

#include <stddef.h>

#include "store/conf.h"

/*
 * Read PATH, at most 1 MiB of text, into memory of malloc (NUL-terminated,
 * for rj_secret_free()). RJ_E_NOTFOUND; RJ_E_DENIED: the file belongs neither to root
 * nor to the user of this process, or is not closed to group and others; RJ_E_INVAL:
 * not a file of text.
 */
int rj_secret_file_read(const char *path, char **out, struct rj_error *err);
/* Overwrite LEN bytes and free. NULL-safe. */
void rj_secret_wipe_free(char *s, size_t len);

#endif
