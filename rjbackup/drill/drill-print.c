// SPDX-License-Identifier: GPL-2.0-or-later
/* Print what came of a drill, as text or JSON; and for Prometheus. */
#include <inttypes.h>
#include <stdio.h>

#include "rjbackup/drill/drill.h"
#include "os/fileio.h"
#include "rjbackup/print.h"
#include "tools/json.h"
#include "tools/prometheus.h"

#define NS_PER_S 1e9

static void print_text(const struct drill *d)
{
	const struct looked *l = d->looked;
	char text[RJ_WHEN_TEXT];

	printf("%s: %s: restored as of %s, segment %" PRIu64 ", %" PRIu64 " bytes\n",
		d->o->base, d->rc ? "FAILED" : "ok", rj_place_text(&d->report.reached, text),
		d->report.reached.segment, d->bytes);
	if (d->rpo_ns >= 0)
		printf("  RPO: %.2f s, %s\n", (double)d->rpo_ns / NS_PER_S,
			d->report.later ? "the age of that commit"
					: "as the log has nothing that is later");
	printf("  RTO: %.2f s, until it was checked and mounted\n",
		(double)d->rto_ns / NS_PER_S);
	if (d->o->compare)
		printf("  compared: %" PRIu64 " the same, %" PRIu64 " differ, %" PRIu64
		       " changed since\n",
			l->files.same, l->files.different, l->files.newer);
	if (d->o->exec)
		printf("  command: status %d\n", l->exec_status);
}

static void add_seconds(struct json_object *o, const char *key, int64_t ns)
{
	json_object_object_add(o, key, json_object_new_double((double)ns / NS_PER_S));
}

static void print_json(const struct drill *d)
{
	struct json_object *o = json_object_new_object();
	const struct looked *l = d->looked;

	add_bool(o, "ok", !d->rc);
	if (d->rc)
		add_text(o, "error", d->err.msg);
	if (d->rto_ns) {
		add_u64(o, "segment", d->report.reached.segment);
		add_u64(o, "commit_ns", (uint64_t)d->report.reached.time_ns);
		if (d->rpo_ns >= 0)
			add_seconds(o, "rpo_seconds", d->rpo_ns);
		add_seconds(o, "rto_seconds", d->rto_ns);
		add_u64(o, "bytes", d->bytes);
		add_u64(o, "same", l->files.same);
		add_u64(o, "different", l->files.different);
		add_u64(o, "changed_since", l->files.newer);
		if (d->o->exec)
			json_object_object_add(o, "exec_status",
				json_object_new_int(l->exec_status));
	}
	json_show(o, JSON_C_TO_STRING_PRETTY);
}

void drill_print(const struct drill *d)
{
	if (d->rc)
		complain(d->err.msg);
	if (d->o->json)
		print_json(d);
	else if (d->rto_ns)
		print_text(d);
}

static int metric(struct rj_buf *out, const char *name, const char *help, const char *labels,
	double value)
{
	char full[64];

	snprintf(full, sizeof(full), "rjbackup_drill_%s", name);
	return prometheus_head(out, full, "gauge", help) ||
	       rj_buf_printf(out, "%s{%s} %.15g\n", full, labels, value);
}

/* Of what was never restored there is no number: 0 would be the best of ages. */
static int metrics(const struct drill_note *n, const char *labels, struct rj_buf *out)
{
	int64_t from = n->earliest_ns;
	int rc = metric(out, "success", "Whether the last drill succeeded.", labels,
		n->error[0] == 0);

	rc = rc || metric(out, "last_attempt_timestamp_seconds",
		"When the last drill ended, since 1970.", labels, (double)n->attempt_s);
	rc = rc || metric(out, "last_success_timestamp_seconds",
		"When the last one that succeeded ended, since 1970; 0: none did.", labels,
		(double)n->success_s);
	if (rc || !n->success_s)
		return rc;
	if (n->commit_ns)
		rc = metric(out, "rpo_seconds",
			"Age of the last commit of what was restored; 0: the log had no later one.", labels,
			(double)n->rpo_ns / NS_PER_S);
	rc = rc || metric(out, "rto_seconds",
		"Time until it was restored, checked and mounted.", labels,
		(double)n->rto_ns / NS_PER_S);
	rc = rc || metric(out, "bytes", "Space that what was restored takes.", labels,
		(double)n->bytes);
	if (!rc && from && n->latest_ns >= from)
		rc = metric(out, "window_seconds",
			"From the first to the last moment that could be restored.", labels,
			(double)(n->latest_ns - from) / NS_PER_S);
	return rc;
}

int drill_metrics(const char *path, const struct drill_note *n, const char *uuid,
	struct rj_error *err)
{
	struct rj_buf labels = {0}, text = {0};
	int rc = rj_buf_printf(&labels, "volume=\"%s\",", uuid) ||
		 prometheus_label(&labels, "base", n->base) ||
		 metrics(n, (char *)labels.data, &text);

	rc = rc ? rj_fail(err, RJ_E_NOMEM, "out of memory")
		/* another user's node_exporter reads it */
		: rj_replace_file(path, 0644, text.data, text.len, err);
	rj_buf_free(&labels);
	rj_buf_free(&text);
	return rc;
}
