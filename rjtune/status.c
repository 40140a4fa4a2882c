// SPDX-License-Identifier: GPL-2.0-or-later
/* The exit status of a change, and its name in the report. */
#include "rjtune.h"

const char *status_name(enum status s)
{
	switch (s) {
	case STATUS_OK:
		return "ok";
	case STATUS_FAILED:
		return "failed";
	case STATUS_REFUSED:
		return "refused";
	case STATUS_BUSY:
		return "busy";
	case STATUS_RECOVER:
		return "needs-recovery";
	case STATUS_LOST:
		return "journal-lost";
	case STATUS_PENDING:
		return "half-done";
	case STATUS_UNREACHABLE:
		return "unreachable";
	case STATUS_DENIED:
		return "denied";
	case STATUS_NOTFOUND:
		return "not-found";
	case STATUS_USAGE:
		break;
	}
	return "usage";
}

enum status move_status(const struct rj_move_report *r, int rc)
{
	if (!rc)
		return STATUS_OK;
	if (r && (r->outcome == RJ_MOVED_UNFINISHED || r->pending))
		return STATUS_PENDING;
	if (-rc == RJ_E_BUSY)
		return STATUS_BUSY;
	if (r && r->needs_recovery)
		return STATUS_RECOVER;
	if (r && r->journal_lost)
		return STATUS_LOST;
	switch (-rc) {
	case RJ_E_UNREACHABLE:
		return STATUS_UNREACHABLE;
	case RJ_E_DENIED:
		return STATUS_DENIED;
	case RJ_E_NOTFOUND:
		return STATUS_NOTFOUND;
	case RJ_E_IO:
	case RJ_E_NOMEM:
	case RJ_E_NOSPACE:
	case RJ_E_CANCELLED:
		return STATUS_FAILED;
	default:
		return STATUS_REFUSED;
	}
}
