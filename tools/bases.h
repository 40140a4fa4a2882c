/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bases that a store keeps beside a log. */
#ifndef TOOLS_BASES_H
#define TOOLS_BASES_H

#include <json-c/json.h>
#include <stdbool.h>

#include "log/log.h"
#include "tools/keep-rules.h"

/*
 * Print a line on stdout for each base of the log ID at STORE, two spaces before it; or add
 * them to LOG as "bases", unless that is NULL. Encrypted ones are read with the keyfile that
 * rj.conf names, if any. The store's errors.
 */
int bases_show(struct rj_store *store, const struct rj_log_id *id, struct json_object *log,
	struct rj_error *err);
/* The number of the base of the log ID that has the hold NUMBER; 0: none that can be read has. */
uint64_t bases_with_hold(struct rj_store *store, const struct rj_log_id *id, uint64_t number);

struct base_removed {
	bool found;
	uint64_t hold;	/* that it names; 0: none, or it cannot be read */
	bool with_hold; /* which was at its store, and is removed, too */
};

/*
 * Remove base NUMBER of the log ID with its hold, if that is there, or, if DRY_RUN, only look. One
 * that cannot be read names none: its hold stays until it expires. RJ_E_REFUSED: the store keeps
 * it yet; else the store's errors.
 */
int bases_remove(struct rj_store *store, const struct rj_log_id *id, uint64_t number,
	bool dry_run, struct base_removed *out, struct rj_error *err);
/*
 * Remove the bases of the log ID that RULES do not keep, with their holds, and print all of them,
 * or add them to ARRAY, unless that is NULL; with DRY_RUN only that. One that is not finished,
 * or cannot be read, or that the store keeps yet, stays. The store's errors.
 */
int bases_keep(struct rj_store *store, const struct rj_log_id *id, const struct keep_rules *rules,
	bool dry_run, struct json_object *array, struct rj_error *err);

#endif
