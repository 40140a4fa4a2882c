// SPDX-License-Identifier: GPL-2.0-or-later
/* What every user of the volume's log and store sets up first. */
#include <string.h>

#include "load.h"

void rj_load_log_id(const struct rj_loaded *l, struct rj_log_id *id)
{
	memcpy(id->volume_uuid, l->facts.uuid, RJ_UUID_BYTES);
	memcpy(id->journal_uuid, l->facts.sbx.journal_uuid, RJ_UUID_BYTES);
	rj_log_sealing_use(&l->sealing, id);
}

void rj_load_watch(struct rj_loaded *l, struct rj_store *s)
{
	s->latency = &l->latency;
	s->throttle = &l->throttle;
}
