/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Read the files of a volume: of an ext3 or ext4 image, by libext2fs, nothing is mounted;
 * or of a directory of what is mounted. Names are relative to the volume's root, or to that
 * directory. */
#ifndef RJ_TEST_CRASH_VIEW_H
#define RJ_TEST_CRASH_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct view;

/* PATH: an image or a directory. 0, or -1 with errno or libext2fs's code in *CODE. */
int view_open(const char *path, struct view **out, long *code);
void view_close(struct view *v);
/* Is there something of that name? */
bool view_has(struct view *v, const char *name);
/* Call FN with each name in the directory but . and ..; it ends with the first that is
 * not 0. 0, or -1 with *CODE. */
int view_list(struct view *v, const char *dir, int (*fn)(void *arg, const char *name),
	void *arg, long *code);
/* Read the file into DATA, of MAX bytes; *GOT of its *SIZE bytes could be. */
int view_read(struct view *v, const char *name, void *data, size_t max, uint32_t *got,
	uint64_t *size, long *code);
/* Read its attribute KEY into VALUE, of *LEN bytes; *LEN 0: it has none. -1: cannot be read,
 * or is longer (*LEN tells). */
int view_xattr(struct view *v, const char *name, const char *key, void *value, size_t *len,
	long *code);

#endif
