// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the pipeline's segments go: to the shipper, where there is a fallback file,
 * else straight to the log. */
#include "daemon-inside.h"

static int log_append(
	void *arg, const struct rj_log_append *a, struct rj_error *err)
{
	const struct rj_loaded *l = arg;

	return l->shipper ? rj_shipper_append(l->shipper, a, err)
			  : rj_log_append(l->writer, a, err);
}

static int log_retry(void *arg, struct rj_error *err)
{
	const struct rj_loaded *l = arg;

	return l->shipper ? rj_shipper_retry(l->shipper, err)
			  : rj_log_retry(l->writer, err);
}

static void log_begin(void *arg, const struct rj_log_append *a)
{
	const struct rj_loaded *l = arg;

	if (l->shipper)
		rj_shipper_begin(l->shipper, a);
	else
		rj_log_seal_begin(l->writer, a);
}

static bool log_seal_next(void *arg, const struct rj_log_append *a)
{
	const struct rj_loaded *l = arg;

	return rj_log_seal_next(l->writer, a);
}

uint64_t rj_daemon_last(void *arg)
{
	const struct rj_loaded *l = arg;

	return rj_log_writer_tail(l->writer)->sequence;
}

static int log_rejoin(void *arg, const struct rj_segbody *geometry,
	struct rj_error *err)
{
	const struct rj_loaded *l = arg;

	return l->shipper ? 0 : rj_log_rejoin(l->writer, geometry, err);
}

static bool log_alone(void *arg)
{
	const struct rj_loaded *l = arg;
	struct rj_twin twin;

	return l->store && rj_store_twin(l->store, &twin) && twin.alone >= 0;
}

struct rj_sink rj_daemon_sink(struct rj_loaded *l)
{
	return (struct rj_sink){log_append, log_retry, log_begin, l,
		log_seal_next, log_rejoin, log_alone};
}
