/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measure a disk and a store, on request: both are written to. */
#ifndef RJADVISE_PROBE_H
#define RJADVISE_PROBE_H

#include "rjadvise/model/model.h"
#include "util/error.h"

#define PROBE_DISK_BYTES (8u << 20)

/*
 * Measure the disk under the directory DIR with a file without a name: 64 writes of 4 KiB
 * around the page cache, the same each with fdatasync(2), and PROBE_DISK_BYTES in sequence.
 * OUT gets medians; fua stays. RJ_E_NOSPACE; RJ_E_UNSUPPORTED: the file system has no such
 * files.
 */
int probe_disk(const char *dir, struct device_cost *out, struct rj_error *err);

/*
 * Measure the store at URL by puts of 4 KiB and of 256 KiB into a log of its own, which is
 * removed; *LEFT says that it could not be, and FOLDER its name then. Errors as of the store's.
 */
int probe_store(const char *url, struct device_cost *out, bool *left, char folder[40],
	struct rj_error *err);

#endif
