// SPDX-License-Identifier: GPL-2.0-or-later
/* Append the last notes of a mount: for a few seconds at most. */
#include "load-fallback.h"
#include "os/thread.h"
#include "util/log.h"

#define LIMIT_NS 3000000000LL

static void give_up(void *arg)
{
	struct rj_loaded *l = arg;

	l->stop_waiting = l->link_down = true;
}

/* Block 0 alone. */
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

	return rj_log_append(l->writer, &a, err);
}

static int append_notes(
	struct rj_loaded *l, uint64_t marked, struct rj_error *err)
{
	uint8_t *raw = l->ring->data;
	struct rj_ticker limit;
	int e = rj_ticker_start(&limit, LIMIT_NS, give_up, l), rc = 0;

	if (e)
		return rj_fail_errno(err, e, "cannot start a thread");
	if (rj_mount_notes_idle(l->notes, raw))
		rc = append(l, marked, err);
	if (!rc && rj_mount_notes_unmounted(l->notes, raw))
		rc = append(l, marked, err);
	rj_ticker_stop(&limit);
	return rc;
}

void rj_unmount_note_put(struct rj_loaded *l, uint64_t marked)
{
	struct rj_error err;

	/* what only the fallback file has comes first */
	if (l->live.state != RJ_STATE_ONLINE || !rj_load_fallback_idle(l))
		return;
	if (append_notes(l, marked, &err))
		rj_log(RJ_LOG_NOTICE,
			"%s: the unmount is not noted in the log, so a history of the volume ends there: %s",
			l->device, err.msg);
}
