// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history/hold.h"

#include "log/hold.h"

int rj_base_hold_check(const struct rj_base_log *l,
	const struct rj_base_facts *f, struct rj_error *err)
{
	struct rj_hold_seen now = {
		.hold.number = f->hold.number, .bad = true};
	struct rj_seghdr from;
	int rc;

	if (!f->hold.number)
		return 0;
	rc = rj_log_fetch_header(
		l->store, &l->id, f->record.from, &from, err);
	if (!rc && from.oldest < f->hold.first)
		rc = rj_fail(err, RJ_E_CORRUPT,
			"%s: the log's last segment first needed segment %llu, and then segment %llu: try again",
			l->store->url, (unsigned long long)f->hold.first,
			(unsigned long long)from.oldest);
	if (rc)
		return rc;
	rc = rj_hold_look(l->store, &l->id, 0, &now, err);
	if (rc == -RJ_E_NOTFOUND ||
		(!rc && (now.bad || rj_hold_expired(&now.hold))))
		rc = rj_fail(err, RJ_E_REFUSED,
			"%s: hold %llu expired or was removed while the base was made: give a longer --hold",
			l->store->url, (unsigned long long)f->hold.number);
	return rc;
}

void rj_base_hold_drop(const struct rj_base_log *l, struct rj_base_facts *f,
	struct rj_error *err)
{
	if (f->hold.number && rj_hold_remove(l->store, &l->id, f->hold.number,
				      NULL))
		rj_fail_suffix(err,
			"; hold %llu may be there until it expires, or rjbackup expire --hold=%llu removes it",
			(unsigned long long)f->hold.number,
			(unsigned long long)f->hold.number);
	f->hold.number = 0;
}
