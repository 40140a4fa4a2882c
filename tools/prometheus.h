/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of the text format of Prometheus. */
#ifndef TOOLS_PROMETHEUS_H
#define TOOLS_PROMETHEUS_H

#include "util/buf.h"

/* The two lines that say what METRIC is. Returns 0 or -RJ_E_NOMEM, as does the next. */
int prometheus_head(struct rj_buf *out, const char *metric, const char *type, const char *help);
/* NAME="TEXT"; what would end the value is escaped. */
int prometheus_label(struct rj_buf *out, const char *name, const char *text);

#endif
