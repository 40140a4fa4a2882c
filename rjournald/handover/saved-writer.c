// SPDX-License-Identifier: GPL-2.0-or-later
/* Save and read the writer's state in the worker's memory. */
#include "saved-writer.h"

#include <string.h>

/*
 * The outbox is written only while what counts says that nothing is pending, or
 * with what is pending already; and what counts is turned over in one store,
 * after all that it speaks of. So the next worker, after our death between any two
 * instructions, sees what was true before or what is true now.
 */
void rj_saved_writer_note(
	struct rj_worker_map *k, const struct rj_log_writer *w)
{
	struct rj_log_sealed seg;
	struct rj_worker_shm_log *l;
	struct rj_log_writer_state at;
	unsigned slot;

	if (!k)
		return;
	l = &k->shm->log;
	slot = l->turn == 1; /* the slot that does not count */
	l->bytes[slot] = 0;
	rj_log_writer_save(w, &at);
	rj_shm_save_writer(&l->at[slot], &at);
	if (rj_log_sealed(w, &seg)) {
		memcpy(k->outbox, seg.bytes, seg.len);
		l->bytes[slot] = (uint32_t)seg.len;
	}
	l->turn = slot + 1;
}

void rj_saved_writer_over(struct rj_worker_map *k, const struct rj_error *why)
{
	if (!k || k->shm->failed)
		return;
	rj_shm_save_error(&k->shm->failure, why);
	k->shm->failed = why->code;
}

void rj_saved_writer_in_file(struct rj_worker_map *k, uint64_t sequence)
{
	if (k)
		k->shm->log.in_file = sequence;
}

void rj_saved_writer_shipped(struct rj_worker_map *k, uint64_t sequence)
{
	if (k)
		k->shm->log.shipped = sequence;
}

bool rj_saved_writer_read(const struct rj_worker_map *k,
	struct rj_log_writer_state *at, const uint8_t **pending, size_t *len)
{
	const struct rj_worker_shm_log *l = &k->shm->log;
	uint32_t turn = l->turn;

	if (turn != 1 && turn != 2)
		return false;
	rj_shm_load_writer(at, &l->at[turn - 1]);
	*pending = at->pending ? k->outbox : NULL;
	*len = l->bytes[turn - 1];
	return true;
}
