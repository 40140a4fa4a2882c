// SPDX-License-Identifier: GPL-2.0-or-later
#include "inhand.h"

#include <string.h>

/*
 * The outbox is written only while what counts says that nothing is pending, or
 * with what is pending already; and what counts is turned over in one store,
 * after all that it speaks of. So whoever looks, after our death between any two
 * instructions, sees what was true before or what is true now.
 */
void rj_inhand_note(struct rj_kept_map *k, const struct rj_log_writer *w)
{
	struct rj_log_sealed seg;
	struct rj_kept_log *l;
	unsigned slot;

	if (!k)
		return;
	l = &k->kept->log;
	slot = l->turn == 1; /* the one that does not count */
	l->bytes[slot] = 0;
	rj_log_stand(w, &l->at[slot]);
	if (rj_log_sealed(w, &seg)) {
		memcpy(k->outbox, seg.bytes, seg.len);
		l->bytes[slot] = (uint32_t)seg.len;
	}
	l->turn = slot + 1;
}

void rj_inhand_over(struct rj_kept_map *k, const struct rj_error *why)
{
	if (!k || k->kept->failed)
		return;
	k->kept->failure = *why;
	k->kept->failed = why->code;
}

void rj_inhand_in_file(struct rj_kept_map *k, uint64_t sequence)
{
	if (k)
		k->kept->log.in_file = sequence;
}

void rj_inhand_shipped(struct rj_kept_map *k, uint64_t sequence)
{
	if (k)
		k->kept->log.shipped = sequence;
}

bool rj_inhand_look(const struct rj_kept_map *k, struct rj_log_standing *at,
	const uint8_t **pending, size_t *len)
{
	const struct rj_kept_log *l = &k->kept->log;
	uint32_t turn = l->turn;

	if (turn != 1 && turn != 2)
		return false;
	*at = l->at[turn - 1];
	*pending = at->pending ? k->outbox : NULL;
	*len = l->bytes[turn - 1];
	return true;
}
