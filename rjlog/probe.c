// SPDX-License-Identifier: GPL-2.0-or-later
/* rjlog probe: what a store was seen to do. */
#include <json-c/json.h>
#include <stdio.h>
#include <unistd.h>

#include "print.h"
#include "rjlog/probe.h"
#include "store/probe.h"
#include "target.h"

static const char *mode_text(enum rj_probe_mode mode)
{
	static const char *const words[] = {
		[RJ_PROBE_NONE] = "none",
		[RJ_PROBE_A] = "A",
		[RJ_PROBE_B] = "B",
	};

	return words[mode];
}

static const char *durability(const struct rj_probe *p)
{
	return p->says.durability == RJ_DURABLE ? "durable" : "received";
}

static void print_text(const char *url, const struct rj_probe *p)
{
	printf("%s\n", url);
	if (p->mode == RJ_PROBE_A)
		printf("  fencing:     mode A, an object is created once\n");
	else if (p->mode == RJ_PROBE_B)
		printf("  fencing:     mode B, a folder is made once\n");
	else
		printf("  fencing:     none: %s\n", p->why);
	printf("  race:        %u racers, %u rounds: one winner in %u, several "
	       "in %u, undecided %u\n",
		p->racers, p->rounds, p->one_winner, p->several, p->undecided);
	if (p->looks)
		printf("  visibility:  %s (%u looks, %u at a part)\n"
		       "  lists:       %s (%u lists, %u without an acknowledged "
		       "object)\n"
		       "  put:         %.2f ms median, %.2f ms p99, %.2f ms at "
		       "most (%u of %u bytes)\n"
		       "  get:         %.2f ms median\n",
			p->partial ? "NOT whole" : "all or nothing", p->looks,
			p->partial, p->stale ? "NOT consistent" : "consistent",
			p->lists, p->stale, (double)p->put_p50_us / 1e3,
			(double)p->put_p99_us / 1e3,
			(double)p->put_max_us / 1e3, p->puts, p->put_bytes,
			(double)p->get_p50_us / 1e3);
	printf("  durability:  %s (as this kind of store is known, or rj.conf "
	       "says)\n",
		durability(p));
	if (p->left_behind) {
		char uuid[RJ_UUID_TEXT];

		printf("  left behind: %s/%s (this kind of store cannot remove "
		       "it)\n",
			url, rj_uuid_text(p->journal_uuid, uuid));
	}
}

static void print_as_json(const char *url, const struct rj_probe *p)
{
	struct json_object *o = json_object_new_object();

	add_text(o, "url", url);
	add_text(o, "mode", mode_text(p->mode));
	if (p->why[0])
		add_text(o, "why", p->why);
	add_text(o, "durability", durability(p));
	add_u64(o, "racers", p->racers);
	add_u64(o, "rounds", p->rounds);
	add_u64(o, "one_winner", p->one_winner);
	add_u64(o, "several_winners", p->several);
	add_u64(o, "undecided", p->undecided);
	add_u64(o, "looks", p->looks);
	add_u64(o, "partial", p->partial);
	add_u64(o, "lists", p->lists);
	add_u64(o, "stale", p->stale);
	add_u64(o, "puts", p->puts);
	add_u64(o, "put_bytes", p->put_bytes);
	add_u64(o, "put_p50_us", p->put_p50_us);
	add_u64(o, "put_p99_us", p->put_p99_us);
	add_u64(o, "put_max_us", p->put_max_us);
	add_u64(o, "get_p50_us", p->get_p50_us);
	add_bool(o, "left_behind", p->left_behind);
	json_show(o, JSON_C_TO_STRING_PRETTY);
}

static void on_progress(void *arg, const char *step)
{
	fprintf(stderr, "rjlog: %s ...\n", step);
}

enum status run_probe(const struct options *o)
{
	struct rj_probe_opts opts = {0};
	struct rj_error err = {0};
	struct rj_probe p;
	int rc;

	if (!o->quiet && isatty(2))
		opts.progress = on_progress;
	rc = rj_store_probe(o->url, &opts, &p, &err);
	if (rc) {
		complain(err.msg);
		if (o->json)
			json_show_error("url", o->url, err.msg);
		return status_of(rc);
	}
	if (o->json)
		print_as_json(o->url, &p);
	else if (!o->quiet)
		print_text(o->url, &p);
	rc = rj_probe_verdict(o->url, &p, &err);
	if (rc)
		complain(err.msg);
	return rc ? STATUS_DAMAGED : STATUS_GOOD;
}
