/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Remove the files of bases that no rule keeps: expire --keep FILE... */
#ifndef RJBACKUP_EXPIRE_H
#define RJBACKUP_EXPIRE_H

#include <json-c/json.h>

#include "options.h"

/*
 * Of the bases O->files remove those that no rule of O->keep keeps, and print all of them; with
 * O->dry_run only that. JSON gets them as "bases", NULL: text. The newest of each volume stays.
 * RJ_E_INVAL: a file is no base, or given twice; nothing was removed then. RJ_E_BUSY: a base is in
 * use; and errors of the file system; then those printed as removed are.
 */
int expire_bases(const struct options *o, struct json_object *json, struct rj_error *err);

#endif
