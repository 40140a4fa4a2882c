// SPDX-License-Identifier: LGPL-2.1-or-later
/* Can the base that was begun last still become one? */
#include <string.h>

#include "history/hold.h"
#include "log/hold.h"

/* Its hold, if it has one, as it is now, into F. */
static int look_at_hold(const struct rj_base_log *log, uint64_t number, struct rj_base_facts *f,
	struct rj_error *err)
{
	struct rj_hold_seen seen = {.hold.number = number, .bad = true};
	int rc = number ? rj_hold_look(log->store, &log->id, 0, &seen, err) : 0;

	if (!rc && number && seen.bad)
		rc = rj_fail(err, RJ_E_REFUSED, "hold %llu cannot be read",
			(unsigned long long)number);
	if (!rc && number)
		f->hold = seen.hold;
	return rc ? rc : rj_base_hold_check(log, f, err);
}

/* Is the log from there on complete, and without a break? */
static int look_at_log(const struct rj_base_log *log, const struct rj_base_facts *f,
	struct rj_error *err)
{
	const struct rj_history_opts walk = {
		.fs_blocks = f->blocks,
		.base = {.from = f->record.from,
			.whole = f->record.from,
			.chain = f->record.chain},
		.at.kind = RJ_AT_LATEST,
	};
	struct rj_history_report report;

	return rj_history_walk(log->store, &log->id, &walk, &report, err);
}

int rj_base_resume(struct rj_upload *u, const struct rj_base_log *log, bool with_hold,
	struct rj_base_facts *f, struct rj_error *err)
{
	bool other_size;
	const struct rj_base_manifest *m = rj_upload_unfinished(u, &other_size);
	int rc = -RJ_E_REFUSED;

	if (!m)
		return 0;
	f->record.from = m->record.from;
	f->record.chain = m->record.chain;
	if (!other_size && (m->hold || !with_hold))
		rc = look_at_hold(log, m->hold, f, err);
	if (!rc)
		rc = look_at_log(log, f, err);
	switch (-rc) {
	case 0:
		rj_upload_resume(u);
		return 0;
	case RJ_E_NOTFOUND:
	case RJ_E_GAP:
	case RJ_E_REFUSED:
	case RJ_E_CORRUPT:
		break;
	default:
		return rc;
	}
	f->hold.number = m->hold;
	f->record.from = 0;
	rc = rj_upload_drop(u, err);
	if (rc != -RJ_E_EXISTS)
		rj_base_hold_drop(log, f, NULL);
	memset(&f->hold, 0, sizeof(f->hold));
	return rc == -RJ_E_EXISTS ? 0 : rc;
}
