// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Over an unmount, or a crash and rjrecover: the notes in block 0 of the journal
 * (format/mount-note.h) say how a mount ended, what the next one found, and that this was with
 * data=journal. Why they are enough is in doc/remount.md.
 */
#include <stdio.h>
#include <string.h>

#include "history/history-priv.h"

/* The note of a mount that has orphans to release: how far it may be, in segments. */
#define AHEAD 1000

int rj_hist_broken(struct rj_hist *h, uint64_t segment, struct rj_error *err,
	const char *why)
{
	struct rj_history_report *r = h->report;

	if (!r->break_why[0]) {
		r->break_segment = segment;
		snprintf(r->break_why, sizeof(r->break_why), "%s", why);
	}
	h->stop = true;
	return rj_fail(err, RJ_E_REFUSED,
		"%s: the history of this base ends at segment %llu: %s",
		h->store->url, (unsigned long long)segment, r->break_why);
}

bool rj_hist_unmounted(const struct rj_hist *h, uint32_t *tid)
{
	size_t at = (size_t)h->sb_block * h->ring->block_size;
	struct rj_jbd2_sb sb;

	if (h->held || !h->note_segment || h->note_segment != h->segment ||
		h->note.kind != RJ_NOTE_UNMOUNTED || h->note.epoch != h->since)
		return false;
	if (rj_jbd2_sb_decode(h->ring->data + at, &sb, NULL) || sb.start ||
		h->block)
		return false;
	*tid = sb.sequence;
	/* an unmount that had nothing to empty skips no number */
	return sb.sequence == (h->ended ? h->tid + 1 : h->tid);
}

/* The journal is empty, and the next transaction TID, or one more: a mount skips a number. */
static void emptied(struct rj_hist *h, uint32_t tid)
{
	h->block = 0;
	h->tid = tid;
	h->fresh = true;
	h->ended = false;
	h->end = h->report->blocks; /* a resize that had not come to its end will not go on */
}

/* Nothing that may follow here came. */
static int ends(struct rj_hist *h, struct rj_error *err)
{
	const char *why =
		"the volume was unmounted or crashed, and nothing in the log says that it was not changed then: make a new base (mounted as type rj, a history goes on over an unmount, and over a crash and rjrecover)";

	if (h->held == RJ_HELD_EMPTIED)
		why = "rjrecover recovered the volume, and did not note how it left it: make a new base";
	if (h->held == RJ_HELD_RECOVERED)
		why = "the volume was recovered twice: make a new base";
	return rj_hist_broken(h, h->held_segment, err, why);
}

int rj_hist_go_over(struct rj_hist *h, uint64_t since, struct rj_error *err)
{
	uint32_t tid;

	if (h->held == RJ_HELD_MOUNTED)
		return ends(h, err);
	/* another rjrecover, after one that was cut off */
	if (h->held && h->held != RJ_HELD_RECOVERED)
		return 0;
	if (h->held) {
		h->since = since;
		h->held = RJ_HELD_MOUNTED;
		return 0;
	}
	/* also before the base is whole: follow may have been stopped after it went over here */
	h->held_segment = h->segment;
	h->held_note = h->note;
	if (rj_hist_unmounted(h, &tid)) {
		emptied(h, tid);
		h->since = since;
		h->held = RJ_HELD_MOUNTED;
	} else {
		h->held = RJ_HELD_CRASHED;
	}
	return 0;
}

/* The note of rjrecover in S, about the mount that the walk is in. */
static bool note_of(const struct rj_hist *h, const struct rj_segment *s,
	enum rj_mount_note_kind kind)
{
	return h->note_segment == s->header.sequence && h->note.kind == kind &&
	       h->note.epoch == h->since;
}

int rj_hist_look_at_recovery(
	struct rj_hist *h, const struct rj_segment *s, struct rj_error *err)
{
	bool recovers = (s->header.flags & RJ_SEG_F_RECOVERED) != 0;

	if (!recovers && (!h->held || h->held == RJ_HELD_MOUNTED))
		return 0;
	if (!recovers || h->held == RJ_HELD_RECOVERED || h->held == RJ_HELD_MOUNTED)
		return ends(h, err);
	if (h->held && note_of(h, s, RJ_NOTE_CRASHED))
		return 0;
	if (h->held == RJ_HELD_EMPTIED && note_of(h, s, RJ_NOTE_RECOVERED))
		return 0;
	return rj_hist_broken(h, h->held ? h->held_segment : s->header.sequence - 1, err,
		"rjrecover recovered the volume, and could not say that nothing else had changed it since the crash, nor itself: make a new base");
}

void rj_hist_recovered(struct rj_hist *h, const struct rj_segment *s)
{
	struct rj_jbd2_sb sb;

	if (!h->held || !(s->header.flags & RJ_SEG_F_RECOVERED) ||
		rj_jbd2_sb_decode(h->ring->data + (size_t)h->sb_block * h->ring->block_size,
			&sb, NULL))
		return;
	emptied(h, sb.sequence);
	h->held = RJ_HELD_EMPTIED;
	if (h->note.kind == RJ_NOTE_RECOVERED) {
		h->held = RJ_HELD_RECOVERED;
		h->held_note = h->note;
	}
}

/* The note N of a mount: of the one that is to be proven? Then it is, or not. */
static int judge(struct rj_hist *h, const struct rj_mount_note *n, struct rj_error *err)
{
	if (h->held != RJ_HELD_MOUNTED || n->kind != RJ_NOTE_MOUNTED ||
		n->epoch != h->since)
		return 0;
	if (memcmp(n->super, h->held_note.super, sizeof(n->super)) != 0 ||
		n->mounts != (uint16_t)(h->held_note.mounts + 1) ||
		n->checked != h->held_note.checked)
		return rj_hist_broken(h, h->held_segment, err,
			"something else wrote to the volume while it was not mounted (e2fsck, tune2fs, resize2fs, debugfs): make a new base");
	h->held = RJ_HELD_NOT;
	return 0;
}

/* Block 0 is shipped with each superblock, with the note of another epoch, too. */
static bool note_in(const struct rj_segment *s, struct rj_mount_note *out)
{
	return s->body.run_count && !s->runs[0].block &&
	       rj_mount_note_decode(s->blocks, out);
}

int rj_hist_look_at_note(struct rj_hist *h, const struct rj_segment *s,
	struct rj_error *err)
{
	if (!note_in(s, &h->note))
		return 0;
	h->note_segment = s->header.sequence;
	return judge(h, &h->note, err);
}

static int ahead(void *arg, const struct rj_segment *s, struct rj_error *err)
{
	struct rj_hist *h = arg;
	struct rj_mount_note n;
	int rc = 0;

	if (note_in(s, &n))
		rc = judge(h, &n, err);
	if (!rc && (!h->held || s->header.kind == RJ_SEG_FENCE ||
			   s->header.sequence >= h->at.sequence + AHEAD))
		return -RJ_E_CANCELLED; /* found, or not there */
	return rc;
}

int rj_hist_look_ahead(struct rj_hist *h, struct rj_error *err)
{
	const struct rj_log_read_opts o = {
		.resume = &h->at, .retry_ms = h->opts->retry_ms};
	struct rj_log_summary sum;
	int rc = 0;

	if (h->held == RJ_HELD_MOUNTED)
		rc = rj_log_read(h->store, h->id, &o, ahead, h, &sum, err);
	if (!h->held)
		return 0;
	if (h->stop || rc == -RJ_E_UNREACHABLE)
		return rc;
	if (!rc && h->opts->goes_on && h->held == RJ_HELD_MOUNTED)
		return rj_fail(err, RJ_E_BUSY,
			"%s: after segment %llu the volume was mounted again, and the log does not say yet that this was by mount.rj, with data=journal: it does when the mount is there and something is written: try again then",
			h->store->url, (unsigned long long)h->held_segment);
	return rj_hist_broken(h, h->held_segment, err,
		"the volume was mounted again, and the log does not say that this was by mount.rj, with data=journal: make a new base");
}
