/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The journal that a log's segments make up. */
#ifndef RJLOG_JOURNAL_H
#define RJLOG_JOURNAL_H

#include "jbd2/jbd2.h"
#include "log/ring.h"
#include "target.h"

struct journal {
	struct rj_ring *ring;
	struct rj_bio *bio;
	struct rj_jbd2_plan *plan;
};

/* An rj_log_sink: ARG is a struct journal. */
int journal_take(void *arg, const struct rj_segment *seg, struct rj_error *err);
/* Is the log of a raw device or an XFS volume? Its blocks are no journal that is read here. */
bool journal_is_raw(const struct target *t);
/*
 * Scan what was taken: every checksum of the live log. RJ_E_CORRUPT: no
 * journal, or not one that can be read; RJ_E_FOREIGN: of another volume;
 * RJ_E_UNSUPPORTED: journal_is_raw(). The
 * plan's own damage is not an error here.
 */
int journal_scan(
	struct journal *j, const struct target *t, struct rj_error *err);
void journal_free(struct journal *j);

#endif
