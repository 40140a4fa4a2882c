/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJBACKUP_COMPARE_H
#define RJBACKUP_COMPARE_H

#include <stdint.h>

struct comparison {
	uint64_t same, different;
	uint64_t newer; /* changed after the moment: not compared */
};

/*
 * Compare what is in LIVE, where the volume is mounted, and did not change after CUT_NS
 * (by its ctime), with RESTORED: kind, owner, mode, links, size, mtime, content, extended
 * attributes. A line on stderr for each difference. Returns 0, or -1: LIVE cannot be read,
 * with a line on stderr.
 */
int compare(const char *live, const char *restored, int64_t cut_ns,
	struct comparison *out);

#endif
