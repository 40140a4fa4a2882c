/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Attach a loop device to a file, which makes a block device of it. */
#ifndef RJ_OS_LOOPDEV_H
#define RJ_OS_LOOPDEV_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

struct rj_loop {
	int fd; /* -1: closed */
	char path[32];
};

/*
 * Attach the file open as FD (PATH is for people who look at the device) to a
 * free loop device: direct I/O, and auto-clear, so that the device goes away
 * with its last opener: ours, or the kernel's mount. Needs the FUSE session
 * running. RJ_E_IO, RJ_E_BUSY (no free device in many tries).
 */
int rj_loop_attach(
	int fd, const char *path, struct rj_loop *out, struct rj_error *err);
/* Is it the journal of a mounted filesystem right now? */
bool rj_loop_mounted(const struct rj_loop *loop);
/* Has another opener (a mount, mke2fs, ...) opened it exclusively? */
bool rj_loop_exclusive(const struct rj_loop *loop);
/* Close the device: it disappears with its last other opener. */
void rj_loop_let_go(struct rj_loop *loop);

/* Get the file that the loop device with the folder SYS in sysfs shows. False: SYS is not of a
 * loop device that shows one. */
bool rj_loop_file(const char *sys, char file[PATH_MAX]);
/* Does it show the file IMAGE? */
bool rj_loop_shows(const char *sys, const char *image);
/* Count the loop devices that show the file IMAGE, an absolute path without symbolic links; PATH,
 * SIZE bytes with the NUL, gets the last one's. */
unsigned rj_loop_of(const char *image, char *path, size_t size);

#endif
