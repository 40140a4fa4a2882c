// SPDX-License-Identifier: LGPL-2.1-or-later
/* Classify errors: transient, log lost, our own. */
#include "util/error-class.h"

#include <stddef.h>

#include "util/error.h"

#define TRANSIENT 1
#define AWAY      2
#define DAMAGE    4
#define LOST      8
#define OURS      16

static const unsigned char classes[] = {
	[RJ_E_NOMEM] = OURS,
	[RJ_E_NOTFOUND] = LOST,
	[RJ_E_UNREACHABLE] = TRANSIENT | AWAY | LOST,
	[RJ_E_DENIED] = AWAY | LOST,
	[RJ_E_CORRUPT] = DAMAGE | LOST,
	[RJ_E_GAP] = DAMAGE | LOST,
	[RJ_E_FOREIGN] = DAMAGE | LOST,
	[RJ_E_BUSY] = OURS,
	[RJ_E_UNSUPPORTED] = LOST,
	[RJ_E_PROTOCOL] = LOST,
	[RJ_E_REFUSED] = OURS,
	[RJ_E_KEY] = OURS,
};

static bool in_class(int rc, int which)
{
	size_t code = (size_t)-(long)rc;

	return code < sizeof(classes) && (classes[code] & which) != 0;
}

bool rj_code_transient(int rc)
{
	return in_class(rc, TRANSIENT);
}

bool rj_code_away(int rc)
{
	return in_class(rc, AWAY);
}

bool rj_code_damage(int rc)
{
	return in_class(rc, DAMAGE);
}

bool rj_error_log_lost(const struct rj_error *err)
{
	return in_class(-(int)err->code, LOST) && !rj_error_ours(err);
}

bool rj_error_ours(const struct rj_error *err)
{
	return in_class(-(int)err->code, OURS) || err->cause == RJ_CAUSE_SETTINGS;
}
