// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Over an unmount: the notes that rjournald puts into block 0 of the journal say what the
 * unmount left, what the next mount found, and that this was with data=journal
 * (format/mount-note.h). Why they are enough is in doc/history.md.
 */
#include <string.h>

#include "history/history-priv.h"

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

bool rj_hist_go_over(struct rj_hist *h, uint64_t since)
{
	uint32_t tid;

	/* also before the base is whole: follow may have been stopped after it went over here */
	if (!rj_hist_unmounted(h, &tid))
		return false;
	h->tid = tid;
	h->fresh = true; /* the mount skips a number */
	h->ended = false;
	h->since = since;
	h->held = true;
	h->held_segment = h->segment;
	h->held_note = h->note;
	return true;
}

int rj_hist_look_at_note(struct rj_hist *h, const struct rj_segment *s,
	struct rj_error *err)
{
	struct rj_mount_note n;

	/* block 0 is shipped with each superblock, with the note of another epoch, too */
	if (!s->body.run_count || s->runs[0].block ||
		!rj_mount_note_decode(s->blocks, &n))
		return 0;
	h->note = n;
	h->note_segment = s->header.sequence;
	if (!h->held || n.kind != RJ_NOTE_MOUNTED || n.epoch != h->since)
		return 0;
	if (memcmp(n.super, h->held_note.super, sizeof(n.super)) != 0 ||
		n.mounts != (uint16_t)(h->held_note.mounts + 1) ||
		n.checked != h->held_note.checked)
		return rj_hist_broken(h, h->held_segment, err,
			"something else wrote to the volume while it was not mounted (e2fsck, tune2fs, resize2fs, debugfs): make a new base");
	h->held = false;
	return 0;
}
