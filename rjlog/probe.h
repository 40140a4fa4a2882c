/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RJLOG_PROBE_H
#define RJLOG_PROBE_H

#include "options.h"

/* Race, measure and report. STATUS_DAMAGED: no journal can be kept there. */
enum status run_probe(const struct options *o);

#endif
