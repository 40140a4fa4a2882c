// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the log must reach, by the notes that are kept apart from it. */
#include <stdio.h>
#include <string.h>

#include "recover/session.h"

/* No volume is taken over by more workers than that in one mount. */
#define MOST_TAKEOVERS (1u << 20)

void rj_recovery_floors(struct rj_recovery *r)
{
	struct rj_recover_report *to = r->report;
	struct rj_floor_answer a;

	rj_floors_ask(&r->floors, r->device,
		r->facts.needs_recovery || r->facts.super != RJ_SUPER_GOOD,
		r->facts.sbx.url, &r->id, r->facts.sbx.epoch, r->opts->retry_ms,
		&a);
	memcpy(to->floor_url, a.url, sizeof(to->floor_url));
	memcpy(to->floor_why, a.why, sizeof(to->floor_why));
	to->floor_epoch = a.saw.epoch;
	to->floor_sequence = a.saw.sequence;
}

void rj_recovery_floor_of_fallback(struct rj_recovery *r)
{
	char by[sizeof(r->floors.by)];
	struct rj_log_tail saw;

	rj_fallback_noted_tail(r->fallback.log, &saw);
	snprintf(by, sizeof(by), "the fallback file %s", r->fallback.path);
	rj_floors_take(&r->floors, &saw, r->facts.sbx.epoch, by);
}

uint64_t rj_recovery_min_epoch(const struct rj_recovery *r)
{
	uint64_t epoch = r->facts.sbx.epoch, seen = r->floors.seen.epoch;

	if (!r->opts->accept_loss || seen <= epoch)
		return epoch;
	/* a note that was forged must not use up the epochs */
	return seen - epoch <= MOST_TAKEOVERS ? seen : epoch + MOST_TAKEOVERS;
}

const char *rj_recovery_known_end(const struct rj_recovery *r, char out[RJ_KNOWN_END_BYTES])
{
	uint64_t segment = r->floors.seen.sequence, epoch = r->floors.seen.epoch;

	if (segment < r->facts.sbx.floor) {
		segment = r->facts.sbx.floor;
		epoch = r->facts.sbx.epoch;
	}
	out[0] = 0;
	if (segment)
		snprintf(out, RJ_KNOWN_END_BYTES, " (it reached segment %llu of epoch %llu at least)",
			(unsigned long long)segment, (unsigned long long)epoch);
	return out;
}
