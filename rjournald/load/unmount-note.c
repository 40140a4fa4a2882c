// SPDX-License-Identifier: GPL-2.0-or-later
/* Append the note of the unmount: for a few seconds at most. */
#include "load-fallback.h"
#include "os/thread.h"
#include "util/log.h"

#define LIMIT_NS 3000000000LL

static void give_up(void *arg)
{
	struct rj_loaded *l = arg;

	l->stop_waiting = l->link_down = true;
}

static int append(struct rj_loaded *l, uint64_t marked, struct rj_error *err)
{
	struct rj_seg_run run = {.block = 0, .count = 1};
	const struct rj_log_append a = {
		.body = {.block_size = l->ring->block_size,
			.journal_blocks = l->ring->blocks},
		.runs = &run,
		.run_count = 1,
		.ring = l->ring->data,
		.marked = marked,
	};
	struct rj_ticker limit;
	int e = rj_ticker_start(&limit, LIMIT_NS, give_up, l), rc;

	if (e)
		return rj_fail_errno(err, e, "cannot start a thread");
	rc = rj_log_append(l->writer, &a, err);
	rj_ticker_stop(&limit);
	return rc;
}

void rj_unmount_note_put(struct rj_loaded *l, uint64_t marked)
{
	struct rj_error err;

	/* what only the fallback file has comes first */
	if (l->live.state != RJ_STATE_ONLINE || !rj_load_fallback_idle(l) ||
		!rj_mount_notes_unmounted(l->notes, l->ring->data))
		return;
	if (append(l, marked, &err))
		rj_log(RJ_LOG_NOTICE,
			"%s: the unmount is not noted in the log, so a history of the volume ends there: %s",
			l->device, err.msg);
}
