/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOOLS_START_DEVICE_H
#define TOOLS_START_DEVICE_H

#include "util/error.h"

/*
 * Find the block device that WORD means: UUID=, LABEL=, PARTUUID= or PARTLABEL= and a value, as in
 * fstab(5). Any other word is the device itself. *OUT is valid until the program ends.
 * RJ_E_NOTFOUND; RJ_E_INVAL: several devices have it, the message names two.
 */
int tool_device(const char *word, const char **out, struct rj_error *err);

#endif
