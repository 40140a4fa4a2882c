/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recorder: stands in for the C library's writing calls, passes each on to
 * the kernel, and notes those that hit a watched file. Linked into a program
 * it sees all its libraries too (librj, libext2fs); as an LD_PRELOAD library
 * it sees another program, tune2fs for one:
 *   RJ_RECORD_FILES=a:b   files or block devices, targets 0, 1, ...
 *   RJ_RECORD_TO=FILE     where the trace is saved when the program exits
 */
#ifndef RJ_TEST_MOVE_RECORD_H
#define RJ_TEST_MOVE_RECORD_H

#include <stdbool.h>

#include "trace.h"

/* Watch PATH (a file or block device that is there) as target N. 0 or -1. */
int record_watch(unsigned n, const char *path);
/* Watch the file:// stores below the directory ROOT; NULL: none. A put is one
 * step, which happened or did not: how the store itself survives a power cut is
 * the matter of its own tests. */
void record_store(const char *root);
void record_forget(void);
/* Append to T from now on; NULL stops. */
void record_into(struct trace *t);
/* Something happened that a trace cannot hold (out of memory, ftruncate). */
int record_lost(void);

/* For the recorder's own files. */
void record_note(const struct trace_event *e, const void *data);

#endif
