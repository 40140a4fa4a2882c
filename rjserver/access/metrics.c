// SPDX-License-Identifier: GPL-2.0-or-later
#include "metrics.h"

static const int statuses[METRICS_STATUSES - 1] = {200, 201, 202, 204, 400, 401,
	403, 404, 405, 409, 411, 412, 413, 416, 500, 503, 507};

static const char *const methods[METRICS_METHODS] = {
	[HTTP_METHOD_GET] = "GET",
	[HTTP_METHOD_HEAD] = "HEAD",
	[HTTP_METHOD_PUT] = "PUT",
	[HTTP_METHOD_DELETE] = "DELETE",
	[HTTP_METHOD_OTHER] = "other",
};

static const char *const refusals[REFUSALS] = {
	[REFUSED_NOBODY] = "no_credentials",
	[REFUSED_UNKNOWN] = "unknown_credentials",
	[REFUSED_RIGHT] = "right",
	[REFUSED_VOLUME] = "volume",
	[REFUSED_LIMIT] = "limit",
	[REFUSED_SPACE] = "space",
	[REFUSED_KEPT] = "kept",
	[REFUSED_TLS] = "tls",
};

/* Upper ends in microseconds. */
static const uint32_t ends_us[METRICS_BUCKETS - 1] = {200, 500, 1000, 2000,
	5000, 10000, 20000, 50000, 100000, 200000, 500000, 1000000, 5000000};

void metrics_request(struct metrics *m, enum http_method method, int status)
{
	unsigned i = 0;

	while (i < METRICS_STATUSES - 1 && statuses[i] != status)
		i++;
	m->requests[method][i]++;
}

void metrics_commit(struct metrics *m, uint64_t ns)
{
	unsigned i = 0;

	while (i < METRICS_BUCKETS - 1 && ns > ends_us[i] * 1000ull)
		i++;
	m->bucket[i]++;
	m->commits++;
	m->commit_ns += ns;
}

uint64_t metrics_quantile(const struct metrics *m, double share)
{
	uint64_t seen = 0, above = (uint64_t)((1 - share) * (double)m->commits);
	unsigned i;

	for (i = 0; i < METRICS_BUCKETS - 1; i++) {
		seen += m->bucket[i];
		if (m->commits && seen >= m->commits - above)
			return ends_us[i] * 1000ull;
	}
	return m->commits ? 10000000000ull : 0;
}

uint64_t metrics_refused(const struct metrics *m)
{
	uint64_t n = 0;
	unsigned i;

	for (i = 0; i < REFUSALS; i++)
		n += m->refused[i];
	return n;
}

int metrics_head(struct rj_buf *out, const char *name, const char *type,
	const char *help)
{
	return rj_buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help,
		name, type);
}

int metrics_value(struct rj_buf *out, const char *name, const char *type,
	const char *help, uint64_t value)
{
	int rc = metrics_head(out, name, type, help);

	return rc ?: rj_buf_printf(out, "%s %llu\n", name,
			     (unsigned long long)value);
}

static int print_requests(const struct metrics *m, struct rj_buf *out)
{
	int rc = metrics_head(out, "rjserver_requests_total", "counter",
		"Requests answered, by method and status.");
	unsigned i, j;

	for (i = 0; i < METRICS_METHODS; i++)
		for (j = 0; j < METRICS_STATUSES && !rc; j++) {
			if (!m->requests[i][j])
				continue;
			rc = rj_buf_printf(out,
				"rjserver_requests_total{method=\"%s\","
				"status=\"%d\"} %llu\n",
				methods[i],
				j < METRICS_STATUSES - 1 ? statuses[j] : 0,
				(unsigned long long)m->requests[i][j]);
		}
	return rc;
}

static int print_refused(const struct metrics *m, struct rj_buf *out)
{
	int rc = metrics_head(out, "rjserver_refused_total", "counter",
		"Requests and connections refused, by reason.");
	unsigned i;

	for (i = 0; i < REFUSALS && !rc; i++)
		rc = rj_buf_printf(out,
			"rjserver_refused_total{reason=\"%s\"} %llu\n",
			refusals[i], (unsigned long long)m->refused[i]);
	return rc;
}

static int print_commits(const struct metrics *m, struct rj_buf *out)
{
	int rc = metrics_head(out, "rjserver_commit_seconds", "histogram",
		"From the arrival of a segment to its acknowledgement.");
	uint64_t seen = 0;
	unsigned i;

	for (i = 0; i < METRICS_BUCKETS - 1 && !rc; i++) {
		seen += m->bucket[i];
		rc = rj_buf_printf(out,
			"rjserver_commit_seconds_bucket{le=\"%g\"} %llu\n",
			ends_us[i] / 1e6, (unsigned long long)seen);
	}
	return rc ?: rj_buf_printf(out,
			     "rjserver_commit_seconds_bucket{le=\"+Inf\"} %llu\n"
			     "rjserver_commit_seconds_sum %.6f\n"
			     "rjserver_commit_seconds_count %llu\n",
			     (unsigned long long)m->commits,
			     (double)m->commit_ns / 1e9,
			     (unsigned long long)m->commits);
}

int metrics_print(const struct metrics *m, struct rj_buf *out)
{
	int rc = print_requests(m, out);

	rc = rc ?: print_refused(m, out);
	rc = rc ?: print_commits(m, out);
	rc = rc ?: metrics_value(out, "rjserver_received_bytes_total", "counter",
			"Bytes of request bodies.", m->in_bytes);
	return rc ?: metrics_value(out, "rjserver_sent_bytes_total", "counter",
			     "Bytes of answer bodies.", m->out_bytes);
}
