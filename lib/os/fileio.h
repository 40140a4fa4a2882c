/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * File reads and writes that are whole or an error: interrupted and short
 * transfers are continued, a short end of file is an error.
 */
#ifndef RJ_OS_FILEIO_H
#define RJ_OS_FILEIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/buf.h"
#include "util/error.h"

_Static_assert(sizeof(off_t) == 8, "build with -D_FILE_OFFSET_BITS=64, as configure does");

/* Each names WHAT (a path) in its message and returns 0 or -rj_code. */
int rj_pread_all(int fd, void *out, size_t len, uint64_t off, const char *what,
	struct rj_error *err);
int rj_pwrite_all(int fd, const void *data, size_t len, uint64_t off,
	const char *what, struct rj_error *err);
int rj_write_all(int fd, const void *data, size_t len, const char *what,
	struct rj_error *err);
/* LEN zero bytes at OFF: by fallocate(2) where that works, else written. */
int rj_fd_zero(int fd, uint64_t len, uint64_t off, const char *what,
	struct rj_error *err);
int rj_fsync(int fd, const char *what, struct rj_error *err);
/*
 * Take the error of a write by an earlier user of the block device FD, which has just been opened
 * to write to WHAT: Linux reports that error at the first fsync of the program that opens the
 * device next. It is logged, and is no failure of what is written from now on. Other files are left
 * alone.
 */
void rj_take_old_error(int fd, const char *what);
/* fsync the directory at PATH, so that names made in it survive. */
int rj_fsync_dir(const char *path, struct rj_error *err);
/* The same of the directory that PATH is in. */
int rj_fsync_parent(const char *path, struct rj_error *err);
/*
 * Let PATH hold LEN bytes of DATA, or what it held before if this is cut off: by way of
 * PATH.tmp, which is not another process's at the same time. MODE: of the file. A link at
 * PATH is replaced, not followed.
 */
int rj_replace_file(const char *path, mode_t mode, const void *data, size_t len,
	struct rj_error *err);
/* Make the directory PATH (absolute) for its owner alone, and its parent, if they are not there. */
int rj_make_dir(const char *path, struct rj_error *err);
/* Close *FD (if not -1), set it to -1, and report what close() reports. */
int rj_close(int *fd, const char *what, struct rj_error *err);
/* Give *FD, which is closed on exec, a number above OTHER. */
int rj_fd_above(int *fd, int other, struct rj_error *err);
/* Whole file into OUT (appended); more than MAX bytes is an error. */
int rj_read_file(const char *path, size_t max, struct rj_buf *out,
	struct rj_error *err);
/* Size in bytes of a regular file or block device. */
int rj_fd_size(int fd, const char *what, uint64_t *bytes, struct rj_error *err);

/* Keep 0 to 2 from files that are opened later: each that is closed reads as
 * empty, and takes no writes. First in main(). */
void rj_fill_standard_fds(void);
/* Does the kernel take no writes for the block device that open() for writing gave
 * FD for, or failed with -1 and SYS_ERRNO? */
bool rj_device_read_only(int fd, int sys_errno);

#endif
