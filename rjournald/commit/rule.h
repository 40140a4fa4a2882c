/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decide whether a write or flush may be answered although the pending writes have not
 * been shipped: the commit rule. Pure, and the one place where being wrong loses data.
 *
 * JBD2 flushes twice around a commit block (jbd2_journal_commit_transaction()
 * in fs/jbd2/commit.c): all blocks before it must be ordered before it. The
 * remote log is an ordered prefix, so order costs nothing; and as long as the
 * commit block itself has not been written, no reader can rely on any block of
 * its transaction. So a flush over nothing but an unfinished transaction needs
 * no round trip. Any doubt: ship.
 */
#ifndef RJ_JOURNALD_RULE_H
#define RJ_JOURNALD_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "log/ring.h"
#include "rjournald/handover/journal-track.h"
#include "segment/segment.h"

struct rj_rule_in {
	const struct rj_ring *ring;
	const struct rj_track *track;
	bool partial; /* a pending write did not cover whole blocks */
	const struct rj_seg_run *runs; /* the pending blocks */
	uint32_t run_count;
};

/* True: provably an unfinished transaction; the flush needs no shipping. */
typedef bool (*rj_rule_fn)(const struct rj_rule_in *in);

/*
 * The rule. True only if all of these hold:
 *  - the running transaction is known: its tid (every commit block before it
 *    was seen) and where it begins;
 *  - the block there is a descriptor or revoke block of it;
 *  - every pending write covered whole blocks;
 *  - every pending block lies in the log proper, in the space after the last
 *    commit: not in the superblock area, not among the fast commits, not in
 *    the live log;
 *  - every pending block with the JBD2 magic is a descriptor or a revoke block
 *    of the running tid. Blocks without it are data: a logged data block that
 *    begins with the magic is escaped.
 */
bool rj_rule_unfinished(const struct rj_rule_in *in);

#endif
