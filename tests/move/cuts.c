// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cuts --dir DIR [--tool rjtune|tune2fs] [--features a,b] [--from SPOT]
 *      [--to SPOT] [--places-only] [--states N] [--again N] [--mount N]
 *      [--aged KIND] [--seed N] [--verbose]
 * Every state that a power cut can leave of a move, and what becomes of it.
 * DIR is an empty directory, on a tmpfs for speed. Exit status 0: none is bad;
 * 1: some are; 2: something else went wrong.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "campaign.h"

/* libext2fs and all else in this process: always the same time, so that worlds
 * that are otherwise equal are equal. */
time_t time(time_t *out)
{
	if (out)
		*out = 1700000000;
	return 1700000000;
}

static const struct tool *const tools[] = {&tool_ours, &tool_tune2fs};

static const struct tool *tool_named(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
		if (!strcmp(tools[i]->name, name))
			return tools[i];
	}
	return NULL;
}

static bool wanted(const struct options *o, const struct move *m)
{
	if (o->from && strcmp(o->from, spot_names[m->from]))
		return false;
	return !o->to || !strcmp(o->to, spot_names[m->to]);
}

static void print_row(const char *name, const struct tally *t)
{
	printf("| %s | %lu | %lu | %lu | %lu | %lu | %lu | %lu | %lu | %lu | %lu | "
	       "%lu | %lu |\n",
		name, t->moves, t->writes, t->puts, t->states, t->whole,
		t->torn, t->missing, t->twice, t->as_is, t->to_old, t->to_new,
		t->bad);
	fflush(stdout);
}

static int one_move(struct world *w, const struct tool *tool,
	const struct options *o, const struct move *m, struct tally *sum)
{
	struct tally t;
	char why[600] = "";
	char name[64];

	if (!tool->has(m) || !wanted(o, m))
		return 0;
	setup_seed(o->seed);
	if (campaign_move(w, tool, m, o, &t, why, sizeof(why))) {
		printf("# failed: %s %s %s->%s, change %d: %s\n", tool->name,
			m->f->name, spot_names[m->from], spot_names[m->to],
			m->change, why);
		return -1;
	}
	if (o->verbose) {
		snprintf(name, sizeof(name), "%s %s->%s%s", m->f->name,
			spot_names[m->from], spot_names[m->to],
			m->change == CHANGE_SIZE   ? " size"
			: m->change == CHANGE_UUID ? " uuid"
						   : "");
		print_row(name, &t);
	}
	tally_add(sum, &t);
	return 0;
}

static int all_moves(struct world *w, const struct tool *tool,
	const struct options *o, const struct features *f, struct tally *sum)
{
	struct move m = {.f = f, .aged = o->aged};
	int rc = 0;

	for (m.from = 0; m.from < SPOTS; m.from++) {
		for (m.to = 0; m.to < SPOTS; m.to++) {
			m.change = CHANGE_PLACE;
			rc |= one_move(w, tool, o, &m, sum);
			if (m.from != m.to || !o->uuid_and_size)
				continue;
			m.change = CHANGE_SIZE;
			rc |= one_move(w, tool, o, &m, sum);
			m.change = CHANGE_UUID;
			rc |= one_move(w, tool, o, &m, sum);
		}
	}
	return rc;
}

int main(int argc, char **argv)
{
	struct tally sum = {0};
	const struct tool *tool = NULL;
	struct options o;
	struct world w;
	unsigned i;
	int rc = 0;

	if (options_parse(argc, argv, &o))
		tool = tool_named(o.tool);
	if (!tool) {
		fprintf(stderr, "usage: cuts --dir DIR ...; see cuts.c\n");
		return 2;
	}
	setenv("PATH", "/usr/sbin:/sbin:/usr/bin:/bin", 1);
	if (world_init(&w, o.dir)) {
		perror(o.dir);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("# moves by %s, seed %lu\n", tool->name, o.seed);
	printf("| volume | moves | writes | puts | states | whole writes | torn | "
	       "one missing | cut twice | as they are | resumed to old | "
	       "resumed to new | bad |\n|---|---|---|---|---|---|---|---|---|---|"
	       "---|---|---|\n");
	for (i = 0; i < features_count; i++) {
		struct tally t = {0};

		if (!options_has_feature(&o, features[i].name))
			continue;
		rc |= all_moves(&w, tool, &o, &features[i], &t);
		print_row(features[i].name, &t);
		tally_add(&sum, &t);
	}
	print_row("all", &sum);
	printf("%lu states of %lu moves, %lu bad; %lu different worlds seen by "
	       "e2fsck, %lu by the kernel, %lu moved again\n",
		sum.states, sum.moves, sum.bad, sum.distinct, sum.mounts,
		sum.moved_again);
	world_free(&w);
	return rc || !sum.moves ? 2 : sum.bad ? 1 : 0;
}
