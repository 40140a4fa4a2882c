/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Other programs, and files, for the cut harness. */
#ifndef RJ_TEST_MOVE_PROGRAM_H
#define RJ_TEST_MOVE_PROGRAM_H

#include <stddef.h>

/* Run ARGV (NULL-terminated, looked up in PATH and the sbins) to its end. Its
 * output goes to DIR/output; the last of it into TAIL (may be NULL) if it
 * fails. Returns its exit status, or 128. */
int program_run(const char *const *argv, const char *dir, char *tail,
	size_t size);
/* The same for a line for the shell. */
int program_shell(const char *dir, char *tail, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* A file of these bytes. 0 or -1. */
int program_write(const char *path, const void *data, size_t len);

#endif
