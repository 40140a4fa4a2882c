/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The logs at a store, with their holds, marks and bases: ls URL; and expire URL, by time, by
 * --hold, --base or --keep. For bases in files: expire.h. */
#ifndef RJBACKUP_AT_STORE_H
#define RJBACKUP_AT_STORE_H

#include <json-c/json.h>

#include "options.h"

/* Print each log of O->url with its holds and marks; into TOP with --json. What the store
 * reports. */
int holds_ls(const struct options *o, struct json_object *top,
	struct rj_error *err);
/*
 * Remove the holds of O->url that have expired, or the one that O->hold numbers,
 * whatever its time; without that number also the marks whose segment is gone. With
 * O->dry_run only say so. RJ_E_NOTFOUND: there is none of
 * that number.
 */
int holds_expire(const struct options *o, struct json_object *top,
	struct rj_error *err);

#endif
