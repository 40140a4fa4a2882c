// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the extension says while a move is under way, and when it is over. */
#include <string.h>

#include "journal/move-priv.h"
#include "util/environ.h"

static void clear(struct rj_sbx *s)
{
	s->intent_op = s->intent_state = s->intent_placement = 0;
	s->intent_blocks = 0;
	s->redo_block = 0;
	memset(s->intent_uuid, 0, sizeof(s->intent_uuid));
}

void rj_move_forget_log(struct rj_sbx *s)
{
	memset(s->url, 0, sizeof(s->url));
	memset(s->fallback, 0, sizeof(s->fallback));
	s->fallback_empty = false;
	memset(s->journal_uuid, 0, sizeof(s->journal_uuid));
	memset(s->key_fingerprint, 0, sizeof(s->key_fingerprint));
	s->epoch = s->floor = 0;
	s->journal_blocks = 0;
	s->probed = 0;
	s->probed_day = 0;
	s->on_loss = RJ_LOSS_BLOCK;
	s->ack_received = false;
}

void rj_move_settle(struct rj_sbx *s, enum rj_placement to, bool stays)
{
	enum rj_placement from = s->placement;

	clear(s);
	s->placement = to;
	if (to != RJ_PLACE_REMOTE)
		rj_move_forget_log(s);
	if (stays)
		return;
	s->incompat = 0;
	memset(s->key_fingerprint, 0, sizeof(s->key_fingerprint));
	memset(s->fallback, 0, sizeof(s->fallback));
	if (to == RJ_PLACE_REMOTE)
		memset(s->url, 0, sizeof(s->url));
	s->moved_from = from;
	s->moved_to = to;
	s->moved_at = (uint64_t)(rj_realtime_ns() / 1000000000);
}

void rj_move_set_release(struct rj_sbx *s, enum rj_move_op op,
	const uint8_t uuid[RJ_UUID_BYTES])
{
	s->intent_op = (uint8_t)op;
	s->intent_state = RJ_MOVE_RELEASE;
	s->intent_placement = RJ_PLACE_DEVICE;
	memcpy(s->intent_uuid, uuid, RJ_UUID_BYTES);
}

void rj_move_lock_uuid(const struct rj_sbx *s, uint8_t out[RJ_UUID_BYTES])
{
	int i;

	for (i = 0; i < RJ_UUID_BYTES; i++)
		out[i] = (uint8_t)~s->intent_uuid[i];
}

bool rj_move_locked(const struct rj_volume_facts *f)
{
	uint8_t uuid[RJ_UUID_BYTES];

	rj_move_lock_uuid(&f->sbx, uuid);
	return f->sbx.intent_state == RJ_MOVE_APPLY && f->has_journal &&
	       f->journal_device == RJ_JOURNAL_DEVICE_REMOTE &&
	       rj_uuid_equal(f->journal_uuid, uuid);
}

bool rj_move_switched(const struct rj_volume_facts *f)
{
	const struct rj_sbx *s = &f->sbx;

	if (s->intent_op == RJ_MOVE_UUID &&
		s->intent_placement != RJ_PLACE_REMOTE)
		return rj_uuid_equal(f->uuid, s->intent_uuid);
	switch (s->intent_placement) {
	case RJ_PLACE_NONE:
		return !f->has_journal;
	case RJ_PLACE_INTERNAL:
		return f->has_journal && f->journal_inode;
	default:
		return f->has_journal && !f->journal_inode &&
		       rj_uuid_equal(f->journal_uuid, s->intent_uuid);
	}
}
