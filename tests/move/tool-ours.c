// SPDX-License-Identifier: GPL-2.0-or-later
/* Moves by the library, in this process. */
#include <stdio.h>
#include <string.h>

#include "journal/move.h"
#include "setup.h"
#include "move/recorder/record.h"

static bool has(const struct move *m)
{
	/* without a journal there is no orphan file: a volume as csum-1k */
	if (!strcmp(m->f->name, "orphan_file") && m->from == SPOT_NONE)
		return false;
	/* no remote journal for those */
	if (!strcmp(m->f->name, "fast_commit") &&
		(m->from >= SPOT_A || m->to >= SPOT_A))
		return false;
	if (m->change == CHANGE_UUID)
		return true;
	/* a device is as large as it is */
	return m->change == CHANGE_SIZE
		       ? m->from == SPOT_INTERNAL || m->from == SPOT_A
		       : m->from != m->to;
}

static uint64_t least_bytes(const struct move *m)
{
	return 1024ull * m->f->block_size;
}

/* The -J words that lead to SPOT, of the usual or the larger size. */
static int words_for(const struct world *w, const struct move *m,
	enum spot spot, bool larger, struct rj_journal_opts *out,
	struct rj_error *err)
{
	unsigned mb = (unsigned)(least_bytes(m) >> 20) + larger;
	char words[4200];

	switch (spot) {
	case SPOT_NONE:
		snprintf(words, sizeof(words), "none");
		break;
	case SPOT_INTERNAL:
		snprintf(words, sizeof(words), "size=%u", mb);
		break;
	case SPOT_DEVICE:
		snprintf(words, sizeof(words), "device=%.4000s",
			w->disks[DEVICE].path);
		break;
	default:
		snprintf(words, sizeof(words),
			"remote=file://%.4000s/%c,size=%u", w->store,
			spot == SPOT_A ? 'a' : 'b', mb + (spot == SPOT_B));
	}
	return rj_journal_opts_parse(words, out, err);
}

static int move_to(struct world *w, const struct move *m, enum spot spot,
	enum change change, char *why, size_t size)
{
	static const uint8_t other_uuid[RJ_UUID_BYTES] = "fifteen letters";
	const char *devices[] = {w->disks[DEVICE].path, NULL};
	struct rj_move_opts o = {.devices = devices, .allow_files = true,
		.retry_ms = 1};
	struct rj_move_report r = {0};
	struct rj_error err = {0};
	int rc = 0;

	if (change == CHANGE_UUID) {
		o.journal_stays = true;
		o.new_uuid = other_uuid;
	} else {
		rc = words_for(w, m, spot, change == CHANGE_SIZE, &o.to, &err);
	}
	if (!rc)
		rc = rj_move(w->disks[VOLUME].path, &o, &r, &err);
	if (!rc && r.outcome == RJ_MOVED_DONE)
		return 0;
	snprintf(why, size, "rj_move: %s%s", rj_move_outcome_name(r.outcome),
		rc ? err.msg : "");
	return -1;
}

static int setup(
	struct world *w, const struct move *m, char *why, size_t size)
{
	char words[64] = "-O ^has_journal";

	if (world_disk(w, VOLUME, m->f->blocks * m->f->block_size) ||
		world_disk(w, DEVICE, least_bytes(m) + 65536)) {
		snprintf(why, size, "cannot make the disks");
		return -1;
	}
	if (m->from == SPOT_INTERNAL || !strcmp(m->f->name, "orphan_file"))
		snprintf(words, sizeof(words), "-J size=%u",
			(unsigned)(least_bytes(m) >> 20));
	if (setup_volume(w, m, words, why, size))
		return -1;
	if (m->from == SPOT_NONE || m->from == SPOT_INTERNAL)
		return 0;
	return move_to(w, m, m->from, CHANGE_PLACE, why, size);
}

static void watch(struct world *w, struct trace *t)
{
	record_watch(VOLUME, w->disks[VOLUME].path);
	record_watch(DEVICE, w->disks[DEVICE].path);
	record_store(w->store);
	record_into(t);
}

static int unwatch(char *why, size_t size)
{
	record_into(NULL);
	record_forget();
	if (record_lost()) {
		snprintf(why, size, "the recorder lost something");
		return -1;
	}
	return 0;
}

static int run(struct world *w, const struct move *m, struct trace *t,
	char *why, size_t size)
{
	int rc;

	watch(w, t);
	rc = move_to(w, m, m->to, m->change, why, size);
	return unwatch(why, size) || rc ? -1 : 0;
}

static int resume(struct world *w, struct trace *t, char *why, size_t size)
{
	const char *devices[] = {w->disks[DEVICE].path, NULL};
	struct rj_move_opts o = {.devices = devices, .allow_files = true,
		.retry_ms = 1};
	struct rj_move_report r = {0};
	struct rj_error err = {0};
	int rc;

	watch(w, t);
	rc = rj_move_resume(w->disks[VOLUME].path, &o, &r, &err);
	if (rc)
		snprintf(why, size, "rj_move_resume: %s", err.msg);
	return unwatch(why, size) || rc ? -1 : 0;
}

const struct tool tool_ours = {
	.name = "rjtune",
	.has = has,
	.setup = setup,
	.run = run,
	.resume = resume,
};
