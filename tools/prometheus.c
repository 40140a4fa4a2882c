// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/prometheus.h"

int prometheus_head(struct rj_buf *out, const char *metric, const char *type, const char *help)
{
	return rj_buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", metric, help, metric, type);
}

int prometheus_label(struct rj_buf *out, const char *name, const char *text)
{
	int rc = rj_buf_printf(out, "%s=\"", name);

	for (; !rc && *text; text++)
		rc = *text == '\n' ? rj_buf_append(out, "\\n", 2)
		     : *text == '"' || *text == '\\'
			     ? rj_buf_printf(out, "\\%c", *text)
			     : rj_buf_append(out, text, 1);
	return rc ? rc : rj_buf_printf(out, "\"");
}
