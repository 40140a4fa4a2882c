// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/status.h"

#include "util/error-class.h"
#include "util/error.h"

enum status status_of(int rc)
{
	if (rj_code_damage(rc))
		return STATUS_DAMAGED;
	switch (-rc) {
	case 0:
		return STATUS_GOOD;
	case RJ_E_INVAL:
		return STATUS_USAGE;
	case RJ_E_KEY:
		return STATUS_KEY;
	default:
		return STATUS_FAILED;
	}
}
