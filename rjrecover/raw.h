/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rjrecover --raw: the image of a device out of its log. */
#ifndef RJ_RJRECOVER_RAW_H
#define RJ_RJRECOVER_RAW_H

#include "options.h"
#include "util/error.h"

/*
 * Fence the writer of the log at o->device (a URL), read all of it, and write
 * the device's image to o->output, a file that is not there yet or a block
 * device of that size. With o->dry_run nothing is fenced nor written. What
 * rj_log_read() and rj_log_claim() report; RJ_E_EXISTS, RJ_E_IO.
 */
int raw_recover(const struct options *o, struct rj_error *err);

#endif
