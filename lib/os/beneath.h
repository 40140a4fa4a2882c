/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Paths that a stranger chose: opened below one directory, and not elsewhere. */
#ifndef RJ_OS_BENEATH_H
#define RJ_OS_BENEATH_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

/*
 * Open the directory that holds REST, a path below the directory ROOT (which may
 * be a link). *DIR gets a descriptor (O_PATH) that the caller closes, *NAME the
 * last part of REST, inside it, which may be a link: use it with O_NOFOLLOW.
 * RJ_E_REFUSED: a part of REST is "..", ".", or a symbolic link to be followed.
 * RJ_E_NOTFOUND; RJ_E_IO.
 */
int rj_beneath_open(const char *root, const char *rest, int *dir,
	const char **name, struct rj_error *err);

/*
 * Open PATH below the directory DIR with FLAGS (no O_CREAT), as openat(2): no part of it, the
 * last one neither, may be a symbolic link or lead out of DIR: errno ELOOP, or EXDEV. Linux 5.6.
 */
int rj_beneath_openat(int dir, const char *path, int flags);

/* Count the bytes of the LEN bytes at PATH without the slashes at their end; 0 for "/". */
size_t rj_path_length(const char *path, size_t len);

/*
 * Find the nearest directory of DIRS (absolute paths, with blanks between them) that PATH is, or
 * is below by its text. ROOT, of SIZE bytes, gets it without a slash at its end ("" is the
 * directory /), *REST what of PATH is below it; "": nothing. false: there is none.
 */
bool rj_beneath_which(
	const char *path, const char *dirs, char *root, size_t size, const char **rest);

#endif
