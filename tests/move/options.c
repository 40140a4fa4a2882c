// SPDX-License-Identifier: GPL-2.0-or-later
#include "options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

bool options_parse(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{"dir", required_argument, NULL, 'd'},
		{"tool", required_argument, NULL, 't'},
		{"features", required_argument, NULL, 'f'},
		{"from", required_argument, NULL, 'F'},
		{"to", required_argument, NULL, 'T'},
		{"seed", required_argument, NULL, 's'},
		{"states", required_argument, NULL, 'n'},
		{"again", required_argument, NULL, 'a'},
		{"mount", required_argument, NULL, 'm'},
		{"aged", required_argument, NULL, 'g'},
		{"places-only", no_argument, NULL, 'p'},
		{"verbose", no_argument, NULL, 'v'},
		{0},
	};
	const char *seed = getenv("RJ_SEED");
	int c;

	*o = (struct options){
		.tool = "rjtune", .uuid_and_size = true, .again_states = 10};
	o->seed = seed ? strtoul(seed, NULL, 0) : (unsigned long)time(NULL);
	while ((c = getopt_long(argc, argv, "", longs, NULL)) >= 0) {
		switch (c) {
		case 'd':
			o->dir = optarg;
			break;
		case 't':
			o->tool = optarg;
			break;
		case 'f':
			o->features = optarg;
			break;
		case 'F':
			o->from = optarg;
			break;
		case 'T':
			o->to = optarg;
			break;
		case 's':
			o->seed = strtoul(optarg, NULL, 0);
			break;
		case 'n':
			o->states = strtoul(optarg, NULL, 0);
			break;
		case 'a':
			o->again = strtoul(optarg, NULL, 0);
			break;
		case 'm':
			o->mount = strtoul(optarg, NULL, 0);
			break;
		case 'g':
			o->aged = optarg;
			break;
		case 'p':
			o->uuid_and_size = false;
			break;
		case 'v':
			o->verbose = true;
			break;
		default:
			return false;
		}
	}
	return o->dir && optind == argc;
}

bool options_has_feature(const struct options *o, const char *name)
{
	size_t len = strlen(name);
	const char *at = o->features;

	if (!at)
		return true;
	while ((at = strstr(at, name))) {
		if ((at == o->features || at[-1] == ',') &&
			(!at[len] || at[len] == ','))
			return true;
		at += len;
	}
	return false;
}
