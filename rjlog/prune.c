// SPDX-License-Identifier: GPL-2.0-or-later
/* rjlog prune: delete what no replay needs, as rjournald does by itself. */
#include "log/trim.h"

#include <inttypes.h>
#include <stdio.h>

#include "print.h"
#include "store/conf.h"

static int prune(const struct options *o, struct target *t, uint64_t *limit,
	struct rj_log_trim_report *report, struct rj_error *err)
{
	struct rj_log_trim_opts opts = {.dry_run = o->dry_run};
	struct rj_conf *conf = NULL;
	int rc;

	rc = rj_log_trim_limit(t->store, &t->id, limit, &opts.until_ns, err);
	if (!rc)
		rc = rj_conf_load(t->store->url, &conf, err);
	if (rc)
		return rc;
	opts.below = *limit;
	opts.retain_s = conf->retain_s;
	rj_conf_release(conf);
	return rj_log_trim(t->store, &t->id, &opts, report, err);
}

static void print_text(const struct options *o, const struct target *t,
	uint64_t limit, const struct rj_log_trim_report *r)
{
	if (!limit) {
		printf("%s: nothing deleted: since the last recovery the "
		       "volume has not been used\n",
			t->text);
		return;
	}
	printf("%s: %" PRIu64 " segment%s below %" PRIu64 " %s", t->text,
		r->segments, plural(r->segments), r->limit,
		o->dry_run ? "would be deleted" : "deleted");
	if (r->hold.number)
		printf("; hold %" PRIu64 " keeps what is from segment %" PRIu64 " on",
			r->hold.number, r->hold.first);
	printf("\n");
}

enum status run_prune(const struct options *o, struct target *t)
{
	struct rj_log_trim_report r = {0};
	struct json_object *top;
	struct rj_error err;
	uint64_t limit = 0;
	int rc;

	rc = prune(o, t, &limit, &r, &err);
	if (rc)
		complain(err.msg);
	if (o->json) {
		top = json_object_new_object();
		add_text(top, "url", t->text);
		add_u64(top, "segments", r.segments);
		add_u64(top, "below", r.limit);
		if (r.hold.number)
			add_u64(top, "hold", r.hold.number);
		add_bool(top, "dry_run", o->dry_run);
		if (rc)
			add_text(top, "error", err.msg);
		json_show(top, JSON_C_TO_STRING_PRETTY);
	} else if (!rc && !o->quiet) {
		print_text(o, t, limit, &r);
	}
	return status_of(rc);
}
