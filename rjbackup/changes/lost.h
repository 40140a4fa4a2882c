/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What paths led to, and when that was last so. */
#ifndef RJBACKUP_CHANGES_LOST_H
#define RJBACKUP_CHANGES_LOST_H

#include "ext4/files/files.h"
#include "history/compare/compare.h"
#include "rjbackup/options.h"

struct lost {
	char *path;
	struct rj_file_facts facts;   /* as it was last */
	struct rj_history_place last; /* the last moment in which it was there */
	int64_t gone_ns; /* of the commit in which it went, since 1970 */
	bool there, seen; /* in the last moment that was looked at */
};

struct lost_list {
	struct lost *all;
	size_t count;
};

/*
 * Fill OUT with each path that PATTERN led to, in the history up to O->until; with AT at that
 * moment alone. Of a directory that went: the moment before its removal began, by commits that only
 * removed from it, each within a minute after the one before. lost_free() in any case. As of
 * rj_history_compare() and rj_files_match().
 */
int lost_find(const struct options *o, const char *pattern, const struct rj_moment *at,
	struct lost_list *out, struct rj_error *err);
void lost_free(struct lost_list *l);

#endif
