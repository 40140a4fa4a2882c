// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the pipeline's segments go: to the fallback sink, where there is a fallback file,
 * else straight to the log. */
#include "daemon-priv.h"

static int log_append(
	void *arg, const struct rj_log_append *a, struct rj_error *err)
{
	const struct rj_loaded *l = arg;

	return l->fallback_sink
		       ? rj_fallback_sink_append(l->fallback_sink, a, err)
		       : rj_log_append(l->writer, a, err);
}

static int log_retry(void *arg, struct rj_error *err)
{
	const struct rj_loaded *l = arg;

	return l->fallback_sink ? rj_fallback_sink_retry(l->fallback_sink, err)
			  : rj_log_retry(l->writer, err);
}

struct rj_sink rj_daemon_sink(struct rj_loaded *l)
{
	return (struct rj_sink){log_append, log_retry, l};
}
