/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a volume's journal is, and whether it can be reached. Reads only. */
#ifndef RJ_JOURNAL_INFO_H
#define RJ_JOURNAL_INFO_H

#include "ext4/volume.h"
#include "jbd2/jbd2.h"
#include "journal/move.h"

struct rj_journal_info {
	struct rj_volume_facts volume;
	struct rj_move_end journal;
	bool reachable; /* also true where there is none to reach */
	struct rj_error why_not; /* if not */
	bool have_super; /* the journal superblock: not of a remote log */
	struct rj_jbd2_sb super;
	uint64_t epochs; /* remote and reachable: the highest epoch claimed */
	bool pending;	 /* a move was cut off */
	bool torn;	 /* and its last write was torn */
	bool served;	 /* an rjournald serves it */
};

/*
 * Look at the volume at DEVICE, which may be mounted. DEVICES as in struct
 * rj_move_opts. A journal that cannot be reached is no failure.
 */
int rj_journal_info(const char *device, const char *const *devices,
	struct rj_journal_info *out, struct rj_error *err);

#endif
