/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJRECOVER_REPORT_H
#define RJRECOVER_REPORT_H

#include "options.h"
#include "recover/recover.h"
#include "tools/plan.h"

/* Print the result on stdout, as text or JSON. LIST: the plan's transactions,
 * told with -n and -v. MESSAGE is the error's line,
 * NULL when there was none. Returns 0, or -1 when stdout fails. */
int report_print(const struct options *o, const struct rj_recover_report *r,
	const struct plan_list *list, const char *message);

#endif
